"""All-pairs test design: few rows in which any two settings meet in some row."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

Row = dict[str, str]
"""A value for each axis, by name."""
Axes = Mapping[str, Sequence[str]]
Forbidden = Sequence[Mapping[str, Collection[str]]]
"""Combinations that no row may hold: for each axis, the values that take part."""


def all_pairs(axes: Axes, forbidden: Forbidden = ()) -> list[Row]:
    """Choose rows that hold every possible pair of values of two axes.

    The greedy method of AETG (Cohen, Dalal, Fredman, Patton 1997) without its random
    candidates: a row begins with the first pair that is missing and takes, axis by
    axis, the value that adds most missing pairs. It goes back where a combination is
    forbidden.

    Args:
        axes: The values of each axis.
        forbidden: Combinations that no row may hold.

    Returns:
        The rows, always the same for the same arguments. A pair that no allowed row
        holds is left out.
    """
    missing = dict.fromkeys(
        ((one, x), (other, y))
        for one, other in itertools.combinations(axes, 2)
        for x in axes[one]
        for y in axes[other]
    )
    used: Counter[tuple[str, str]] = Counter()
    rows: list[Row] = []
    while missing:
        first = next(iter(missing))
        row = next(_completions(dict(first), axes, forbidden, missing, used), None)
        if row is None:
            del missing[first]
            continue
        rows.append({axis: row[axis] for axis in axes})
        used.update(rows[-1].items())
        for pair in itertools.combinations(rows[-1].items(), 2):
            missing.pop(pair, None)
    return rows


def is_forbidden(row: Mapping[str, str], forbidden: Forbidden) -> bool:
    """Whether a row, whole or in part, holds a forbidden combination."""
    return any(
        all(axis in row and row[axis] in values for axis, values in each.items())
        for each in forbidden
    )


def _completions(
    row: Row,
    axes: Axes,
    forbidden: Forbidden,
    missing: Collection[tuple[tuple[str, str], tuple[str, str]]],
    used: Counter[tuple[str, str]],
) -> Iterator[Row]:
    """Yield whole rows that begin with `row`, the most useful first."""
    if is_forbidden(row, forbidden):
        return
    axis = next((name for name in axes if name not in row), None)
    if axis is None:
        yield row
        return

    def worth(value: str) -> tuple[int, int]:
        own = (axis, value)
        pairs = [(own, item) for item in row.items()]
        new = sum(pair in missing or pair[::-1] in missing for pair in pairs)
        return new, -used[own]

    for value in sorted(axes[axis], key=worth, reverse=True):
        yield from _completions({**row, axis: value}, axes, forbidden, missing, used)
