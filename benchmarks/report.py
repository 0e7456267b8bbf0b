"""Writes tables into a Markdown file from committed figures, and checks them.

    python -m benchmarks.report --write docs/benchmarks.md
    python -m benchmarks.report --check docs/benchmarks.md
    python -m benchmarks.report RUN.json ... --check docs/benchmarks.md

Figures that `langchain-ssr bench --json` or `benchmarks.agent_latency` has written are
committed as benchmarks/results/NAME.json. The tables of each stand in the file, between
`<!-- figures: NAME -->` and `<!-- end of figures -->`, and nothing there is written by
hand. `--write` puts them there. `--check` makes them again and fails if a place holds
anything else, if figures have no place, or a place has no figures.

A RUN.json is a fresh run, on any machine. It is compared with the committed figures of
the same settings and workloads, in what no machine changes: the requests, whether
outputs are plain's, tokens and engine steps (in float32; within 2 %, for rounding
ties), and the ratios of steps that the project aims at. Seconds are never compared.

Exit code: 0 if all is well; 1 if something differs; 2 if nothing could be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agent_figures import agent_markdown
from benchmarks.aims import aims_markdown
from benchmarks.common import BenchmarkError
from benchmarks.places import edited, fill, misplaced, place
from benchmarks.unchanged import Comparison, Essence, compare
from langchain_ssr.bench.tables import markdown

RESULTS = Path(__file__).parent / "results"
Figures = Mapping[str, Any]


def read_figures(path: Path) -> Figures:
    """Read figures that a benchmark has written.

    Raises:
        BenchmarkError: The file is missing or holds no figures.
    """
    try:
        figures: Figures = json.loads(path.read_text(encoding="utf-8"))
        Essence.of(figures)
        tables_of(figures)
    except FileNotFoundError:
        raise BenchmarkError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"cannot read {path}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(
            f"{path} holds no figures of a benchmark ({type(error).__name__}: {error})"
        ) from error
    return figures


def read_results(folder: Path) -> dict[str, Figures]:
    """Read the committed figures, by name; none if there is no such folder.

    Raises:
        BenchmarkError: A file holds no figures.
    """
    return {path.stem: read_figures(path) for path in sorted(folder.glob("*.json"))}


def tables_of(figures: Figures) -> str:
    """Return the tables of figures, and which aims they reach, as Markdown."""
    if "agent" in figures:
        return agent_markdown(figures)
    aims = aims_markdown(figures)
    return markdown(figures) + (f"\n{aims}" if aims else "")


def compare_with(results: Mapping[str, Figures], path: Path) -> tuple[str, Comparison]:
    """Compare a run with the committed figures of the same settings and workloads.

    Returns:
        The name of those figures, and what came of it.

    Raises:
        BenchmarkError: There are none, or several and not one of the same requests;
            or `path` holds no figures.
    """
    run = Essence.of(read_figures(path))
    alike = {
        name: essence
        for name, essence in ((n, Essence.of(each)) for n, each in results.items())
        if essence.is_like(run)
    }
    if len(alike) > 1:
        equal = {n: each for n, each in alike.items() if each.requests == run.requests}
        alike = equal or alike
    if len(alike) != 1:
        settings = json.dumps(run.settings)
        workloads = ", ".join(sorted(run.workloads))
        raise BenchmarkError(
            f"{path}: {len(alike)} of the committed figures "
            f"({', '.join(results) or 'none'}) have its settings {settings} and "
            f"workloads {workloads}; one is needed"
        )
    [(name, committed)] = alike.items()
    return name, compare(run, committed)


def _write(page: Path, text: str, tables: Mapping[str, str]) -> int:
    if problems := list(misplaced(text, tables)):
        _tell(page, problems)
        print(f"report: a place is two lines:\n{place('NAME')}", file=sys.stderr)
        return 1
    page.write_text(fill(text, tables), encoding="utf-8")
    print(f"{page}: tables written: {', '.join(tables) or 'none'}")
    return 0


def _check(page: Path, text: str, tables: Mapping[str, str]) -> int:
    problems = [
        *misplaced(text, tables),
        *(f"{name}: not what its figures make" for name in edited(text, tables)),
    ]
    _tell(page, problems)
    if not problems:
        print(
            f"{page}: as the committed figures make it: {', '.join(tables) or 'none'}"
        )
    return int(bool(problems))


def _compare(path: Path, results: Mapping[str, Figures]) -> int:
    name, found = compare_with(results, path)
    for note in found.notes:
        print(f"{path}, against {name}: {note}")
    _tell(path, [f"against {name}: {problem}" for problem in found.problems])
    if not found.problems:
        print(f"{path}, against {name}: the same (seconds were not compared)")
    return int(bool(found.problems))


def _tell(path: Path, problems: Sequence[str]) -> None:
    for problem in problems:
        print(f"report: {path}: {problem}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check; see the module for the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("runs", nargs="*", type=Path, metavar="RUN.json", help="to compare")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE.md", help="write the tables")
    what.add_argument("--check", type=Path, metavar="FILE.md", help="only compare")
    add("--results", type=Path, default=RESULTS, help="default benchmarks/results")
    args = parser.parse_args(argv)
    if args.write and args.runs:
        parser.error(f"--write reads {args.results} alone: copy the figures there")
    page = args.write or args.check
    try:
        text = page.read_text(encoding="utf-8")
        results = read_results(args.results)
        tables = {name: tables_of(figures) for name, figures in results.items()}
        if args.write:
            return _write(page, text, tables)
        codes = [_check(page, text, tables)]
        codes += [_compare(path, results) for path in args.runs]
        return max(codes)
    except (BenchmarkError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
