"""Chi-square tests of drawn tokens against known probabilities.

Pearson's test, for draws that need not have the same distribution: what a model says
next depends on all the text before it, and hardly two samples share that. A *row* adds
up the draws of many contexts over the same tokens. Its counts have a known mean and a
known covariance, the sums of those of its draws, and the statistic is the squared
distance of the counts from their mean in that covariance. If all draws of a row have
the same distribution, this is Pearson's statistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEAST = 5.0
"""Least variance of a cell's count. The variance is never above the expectation, so
that no cell expects fewer draws than this either."""
_LEAST_DIRECTION = 1.0
"""Least variance of a combination of cells that counts as a degree of freedom."""
_IMPOSSIBLE = 1e-9
_ITERATIONS, _PRECISION = 10_000, 1e-15


@dataclass(frozen=True)
class Row:
    """Counts of draws over the same cells.

    Attributes:
        observed: Draws by cell; shape `[num_cells]`.
        expected: Their mean; same shape.
        covariance: Their covariance; shape `[num_cells, num_cells]`.
        impossible: Draws of tokens that had no probability.
    """

    observed: Array
    expected: Array
    covariance: Array
    impossible: int = 0

    @classmethod
    def of(cls, drawn: Sequence[int], probabilities: Array) -> Row:
        """Add up draws.

        Args:
            drawn: Which cell each draw hit.
            probabilities: The distribution of each draw; shape `[draws, num_cells]`.
        """
        expected = probabilities.sum(axis=0)
        hit = probabilities[np.arange(len(drawn)), list(drawn)]
        return cls(
            np.bincount(drawn, minlength=len(expected)).astype(np.float64),
            expected,
            np.diag(expected) - probabilities.T @ probabilities,
            int((hit < _IMPOSSIBLE).sum()),
        )

    @property
    def draws(self) -> int:
        """The number of draws."""
        return int(self.observed.sum())


def pool(row: Row, least: float = LEAST) -> Row:
    """Merge cells, the rarest first, until none varies too little for the test.

    Args:
        row: Counts.
        least: Least variance of a cell's count.

    Returns:
        A row with fewer cells; with a single one where nothing can be tested.
    """
    while len(row.observed) > 1:
        order = np.argsort(np.diag(row.covariance), kind="stable")
        if row.covariance[order[0], order[0]] >= least:
            break
        merge = np.delete(np.eye(len(order)), order[0], axis=0)
        merge[order[1] - (order[1] > order[0]), order[0]] = 1.0
        row = Row(
            merge @ row.observed,
            merge @ row.expected,
            merge @ row.covariance @ merge.T,
            row.impossible,
        )
    return row


@dataclass(frozen=True)
class Fit:
    """The outcome of a test.

    Attributes:
        statistic: Chi-square statistic.
        df: Degrees of freedom; 0 where nothing could be tested.
        draws: Draws in rows that were tested.
        impossible: Draws of tokens that had no probability, in any row.
    """

    statistic: float
    df: int
    draws: int
    impossible: int

    @property
    def p_value(self) -> float:
        """Chance of such a distance or a greater one if the distributions are right."""
        return 0.0 if self.impossible else chi2_sf(self.statistic, self.df)

    def to_dict(self) -> dict[str, Any]:
        """Return what a report says of it."""
        return {**vars(self), "p_value": self.p_value}


def fit(rows: Iterable[Row]) -> Fit:
    """Test rows that are independent of each other, as one."""
    statistic, df, draws, impossible = 0.0, 0, 0, 0
    for row in map(pool, rows):
        impossible += row.impossible
        if len(row.observed) == 1:
            continue
        variances, directions = np.linalg.eigh(row.covariance)
        kept = variances >= _LEAST_DIRECTION
        distances = (row.observed - row.expected) @ directions[:, kept]
        statistic += float((distances**2 / variances[kept]).sum())
        df += int(kept.sum())
        draws += row.draws
    return Fit(statistic, df, draws, impossible)


def chi2_sf(statistic: float, df: int) -> float:
    """Return the chance that a chi-square variable exceeds `statistic`.

    The regularized upper incomplete gamma function: a series below its mean, above it
    a continued fraction (Abramowitz and Stegun, 6.5.29 and 6.5.31).

    Args:
        statistic: Not negative.
        df: Degrees of freedom; with none, the chance is 1.
    """
    shape, x = df / 2, statistic / 2
    if df == 0 or x <= 0:
        return 1.0
    scale = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for n in range(1, _ITERATIONS):
            term *= x / (shape + n)
            total += term
            if term < total * _PRECISION:
                break
        return max(0.0, 1 - scale * total)
    # Lentz's method, as modified by Thompson and Barnett.
    b = x + 1 - shape
    c, d = math.inf, 1 / b
    fraction = d
    for n in range(1, _ITERATIONS):
        a = n * (shape - n)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return min(1.0, scale * fraction)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, by Holm's method; in the order given."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected
