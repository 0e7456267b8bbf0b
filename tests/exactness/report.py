"""The grid as text, its sums, and what it failed to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.exactness.cell import Cell
from tests.exactness.ends import missing
from tests.exactness.engines import ENGINES
from tests.exactness.material import TRAINED

_ROW = "{:9}{:40}{:>8}{:>7}{:>6}{:>11}{:>9}{:>13}{:>9}"
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
LONG = 32
"""Most tokens that a step proposes by default; the grid must go beyond."""
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


def coverage(cells: Sequence[Cell]) -> dict[str, int]:
    """Sum up what the requests had in them, beside how they compare."""
    names = "speculated", "greedy", "drafted", "resets"
    counts = {name: sum(getattr(cell, name) for cell in cells) for name in names}
    preemptions = sum(cell.preemptions or 0 for cell in cells)
    longest = max((cell.longest for cell in cells), default=0)
    return {**counts, "preemptions": preemptions, "longest": longest}


def ends(cells: Iterable[Cell]) -> dict[str, int]:
    """Sum up how requests ended, the most frequent first."""
    return dict(sum((Counter(cell.ends) for cell in cells), Counter()).most_common())


def gaps(cell: Cell, *, whole: bool) -> list[str]:
    """Return what a cell should have shown and did not, and wrong statistics.

    Args:
        cell: What came of it.
        whole: Whether all of its requests were sent, or every pair of settings. Every
            kind of end belongs to those of a roomy engine.
    """
    found = [f"wrong statistics: {case}" for case in cell.wrong_statistics]
    if cell.leaked:
        found.append("requests or cache blocks were left behind")
    if not cell.saved_steps:
        found.append("no step was saved")
    if whole:
        found += _not_shown(cell)
    return [f"{cell.name}: {gap}" for gap in found]


def _not_shown(cell: Cell) -> list[str]:
    """Return what all requests of a cell together should have shown."""
    engine = ENGINES[cell.engine]
    found = []
    if engine.has_seats and not cell.drafted:
        found.append("nothing was drafted")
    if engine.resets and not cell.resets:
        found.append("the prefix cache was never emptied")
    if engine.preempts and cell.preemptions == 0:
        found.append("no request was preempted")
    if engine.lora and not cell.adapted:
        found.append("the adapter changed no answer")
    if cell.engine == "roomy":
        found += [f"no request ended so: {e}" for e in missing(cell.shape, cell.ends)]
        if cell.shape not in TRAINED and cell.longest <= LONG:
            found.append(f"no more than {cell.longest} tokens were accepted in a step")
    return found
