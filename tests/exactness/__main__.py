"""The big equality matrix: is each answer of SSR that of a stock engine?

    python -m tests.exactness [--json OUT [--resume]] [--shape NAME ...]
                              [--engine NAME ...] [--limit N]

Prints a grid and, last, one line of JSON. The exit code is 1 if any answer is
different, and 2 if the grid did not show what it is for: nothing was drafted, a kind of
end was not reached, statistics are wrong, or a shape has no model here (leave it out
with `--shape` if that is meant). It takes some fifteen minutes.

A report names the commit that it was made from, and `--resume` keeps no cells of
another one.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from langchain_core.exceptions import ModelError

from benchmarks.common import BenchmarkError, positive, write_json
from langchain_ssr.models import resolve
from tests.exactness.cell import Cell
from tests.exactness.engines import ENGINES, GRID
from tests.exactness.grid import Grid
from tests.exactness.material import TRAINED
from tests.exactness.report import HEADER, coverage, ends, gaps, row, summary
from tests.integration_tests.conftest import EnginePool

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the grid, or a part of it; return the exit code."""
    options = _parse(arguments)
    commit = commit_of(ROOT)
    cells: list[Cell] = []
    if options.resume:
        try:
            cells = read(options.json, commit)
        except BenchmarkError as error:
            say(f"exactness: {error}", sys.stderr)
            return 2
    skipped: dict[str, str] = {}
    whole = not options.limit
    known = {cell.name for cell in cells}
    say(HEADER)
    for cell in cells:
        say(row(cell))
    with tempfile.TemporaryDirectory(prefix="exactness-") as name:
        pool = EnginePool(Path(name))
        grid = Grid(pool, Path(name), _progress())
        try:
            for shape in options.shape or GRID:
                if reason := unavailable(shape):
                    skipped[shape] = reason
                    say(f"{shape}: skipped. {reason}")
                    continue
                for engine in GRID[shape]:
                    wanted = engine in (options.engine or GRID[shape])
                    if not wanted or Cell(shape, engine).name in known:
                        continue
                    cells.append(grid.run(shape, engine, options.limit))
                    say(row(cells[-1]))
                    if options.json:
                        write(options.json, cells, skipped, commit, whole=whole)
        finally:
            pool.close()
    if options.json:
        write(options.json, cells, skipped, commit, whole=whole)
    return _conclude(cells, skipped, whole=whole)


def _conclude(cells: Sequence[Cell], skipped: Iterable[str], *, whole: bool) -> int:
    """Print what came of it; return the exit code."""
    say(f"\nhow requests ended: {json.dumps(ends(cells))}")
    for cell in cells:
        for case in cell.different_cases:
            say(f"\ndifferent: {cell.name}: {case}")
    say(f"what they had in them: {json.dumps(coverage(cells))}")
    problems = _problems(cells, skipped, whole=whole)
    for problem in problems:
        say(f"gap: {problem}")
    totals = summary(cells)
    say(json.dumps(totals))
    return 1 if totals["different"] else 2 if problems else 0


def _problems(
    cells: Iterable[Cell], skipped: Iterable[str], *, whole: bool
) -> list[str]:
    gone = [f"{shape}: there is no model of this shape" for shape in skipped]
    return [*(gap for cell in cells for gap in gaps(cell, whole=whole)), *gone]


def write(
    file: Path,
    cells: Sequence[Cell],
    skipped: dict[str, str],
    commit: str | None,
    *,
    whole: bool,
) -> None:
    """Write the report so far.

    Args:
        file: Where to.
        cells: The cells that were run.
        skipped: Shapes without a model, and why.
        commit: What the cells were run on; None if it is not known.
        whole: Whether the cells got all of their requests.
    """
    report = {
        **summary(cells),
        "commit": commit,
        "coverage": coverage(cells),
        "ends": ends(cells),
        "gaps": _problems(cells, skipped, whole=whole),
        "skipped": skipped,
        "cells": [dataclasses.asdict(cell) for cell in cells],
    }
    write_json(file, report)


def read(file: Path, commit: str | None) -> list[Cell]:
    """Read the cells of an earlier report; none if there is no file.

    Args:
        file: The report.
        commit: What is run now.

    Raises:
        BenchmarkError: The report is of other code, or one of both is not known.
    """
    if not file.is_file():
        return []
    report = json.loads(file.read_text(encoding="utf-8"))
    made_of = report.get("commit")
    if commit is None or made_of != commit:
        raise BenchmarkError(
            f"{file} was made from {made_of or 'uncommitted code'}, and this is "
            f"{commit or 'uncommitted code'}: name another file, or delete it"
        )
    return [Cell(**cell) for cell in report["cells"]]


def commit_of(folder: Path) -> str | None:
    """Return the commit of a folder; None without git, or with changes beside it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.check_output(
            command, text=True, stderr=subprocess.DEVNULL
        ).strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return None if changed else git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None


def unavailable(shape: str) -> str | None:
    """Say why there is no model of this shape; None if there is one."""
    if shape not in TRAINED:
        return None
    try:
        resolve(shape)
    except ModelError as error:
        return str(error)
    return None


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line at once."""
    print(line, file=stream or sys.stdout, flush=True)


def _progress() -> Callable[[str], None]:
    start = time.monotonic()
    return lambda line: say(f"  {time.monotonic() - start:.0f} s: {line}", sys.stderr)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.exactness")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write a report")
    parser.add_argument(
        "--resume", action="store_true", help="keep the cells that OUT has"
    )
    parser.add_argument("--shape", action="append", choices=list(GRID))
    parser.add_argument("--engine", action="append", choices=list(ENGINES))
    parser.add_argument("--limit", type=positive, help="most requests of a cell")
    options = parser.parse_args(arguments)
    if options.resume and not options.json:
        parser.error("--resume needs --json")
    return options


if __name__ == "__main__":
    sys.exit(main())
