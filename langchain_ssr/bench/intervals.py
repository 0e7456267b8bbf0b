"""Confidence intervals of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence


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
