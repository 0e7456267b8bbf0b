"""Confidence intervals of what was measured."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

Unit = TypeVar("Unit")
RESAMPLES = 2000


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return a 95 % confidence interval of the median, from order statistics.

    With fewer than six values there is none: the least and greatest are returned.
    """
    ordered, size = sorted(values), len(values)
    tail, rank = 0.0, 0
    while rank < size // 2:
        tail += math.comb(size, rank) / 2**size
        if tail > 0.025:  # noqa: PLR2004 - a half of 5 %
            break
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[size - rank]


def bootstrap(
    units: Sequence[Unit], statistic: Callable[[Sequence[Unit]], float]
) -> tuple[float, float] | None:
    """Return a 95 % confidence interval of a statistic, by the percentile bootstrap.

    Whole units are drawn, with replacement, and always the same ones for as many units:
    equal data give an equal interval. (Efron and Tibshirani, "An Introduction to the
    Bootstrap", chapter 13.)

    Args:
        units: What was sampled independently: requests, not their repetitions.
        statistic: Its value for a sample.

    Returns:
        Its ends; None for fewer than two units.
    """
    size = len(units)
    if size < 2:  # noqa: PLR2004 - one unit says nothing of others
        return None
    rng = random.Random(size)
    values = sorted(statistic(rng.choices(units, k=size)) for _ in range(RESAMPLES))
    tail = round(0.025 * RESAMPLES)
    return values[tail], values[-1 - tail]
