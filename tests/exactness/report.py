"""The grid as text, its sums, and what it failed to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.exactness.cell import Cell
from tests.exactness.ends import missing

_ROW = "{:9}{:25}{:>8}{:>7}{:>6}{:>11}{:>9}{:>13}{:>9}"
HEADER = _ROW.format(
    "shape",
    "engine",
    "requests",
    "equal",
    "ties",
    "different",
    "drafted",
    "saved steps",
    "seconds",
)
OUTCOMES = ("requests", "equal", "ties", "different")


def row(cell: Cell) -> str:
    """Return a cell's line of the grid."""
    return _ROW.format(
        cell.shape,
        cell.engine,
        *(getattr(cell, name) for name in OUTCOMES),
        cell.drafted,
        f"{cell.saved_steps}/{cell.tokens}",
        round(cell.seconds),
    )


def summary(cells: Sequence[Cell]) -> dict[str, int]:
    """Sum the outcomes up."""
    return {name: sum(getattr(cell, name) for cell in cells) for name in OUTCOMES}


def ends(cells: Iterable[Cell]) -> dict[str, int]:
    """Sum up how requests ended, the most frequent first."""
    return dict(sum((Counter(cell.ends) for cell in cells), Counter()).most_common())


def gaps(cell: Cell, *, whole: bool) -> list[str]:
    """Return what a cell should have shown and did not, and wrong statistics.

    Args:
        cell: What came of it.
        whole: Whether all of its requests were sent. Every kind of end belongs to
            those of a roomy engine.
    """
    found = [f"wrong statistics: {case}" for case in cell.wrong_statistics]
    if cell.leaked:
        found.append("requests or cache blocks were left behind")
    if not cell.saved_steps:
        found.append("no step was saved")
    if whole and cell.engine == "roomy":
        if not cell.drafted:
            found.append("nothing was drafted")
        lost = missing(cell.shape, cell.ends)
        found += [f"no request ended so: {end}" for end in lost]
    return [f"{cell.name}: {gap}" for gap in found]
