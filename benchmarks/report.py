"""Writes tables into Markdown files, between markers, from the figures of benchmarks.

    python -m benchmarks.report RUN.json ... docs/benchmarks.md
    python -m benchmarks.report RUN.json ... --check docs/benchmarks.md

The tables of `RUN.json`, which `langchain-ssr bench` or a benchmark of this folder has
written, stand between `<!-- figures: RUN -->` and `<!-- end of figures -->`. A place
whose file is not named stays as it is, but with `--check` it must be empty. Nothing
there is written by hand: `--check` fails where a table is not what its file makes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

EMPTY = "No figures yet.\n"
_PLACE = re.compile(
    r"(?P<start><!-- figures: (?P<name>[\w.@-]+) -->\n)(?P<body>.*?)"
    r"(?P<end><!-- end of figures -->)",
    re.DOTALL,
)


class BenchmarkError(Exception):
    """The benchmark cannot run as asked; the message says why."""


def positive(text: str) -> int:
    """Read a whole number above 0, for argparse."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def write_json(path: Path, data: Any) -> None:
    """Write a report; the file is replaced as a whole or not at all.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BenchmarkError(f"cannot write {path}: {error}") from error


def tables_of(path: Path) -> str:
    """Return the tables of a file of figures, as Markdown.

    Raises:
        BenchmarkError: The file is missing or holds no figures.
    """
    from benchmarks.agent_latency import agent_markdown
    from langchain_ssr.bench.tables import markdown

    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
        kind = agent_markdown if "agent" in figures else markdown
        return kind(figures)
    except FileNotFoundError:
        raise BenchmarkError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"cannot read {path}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(
            f"{path} holds no figures of a benchmark ({type(error).__name__}: {error})"
        ) from error


def fill(text: str, tables: Mapping[str, str], *, strict: bool = False) -> str:
    """Put tables in their places.

    Args:
        text: Markdown with places.
        tables: Markdown by the name of the place.
        strict: Empty the places that have no table here.

    Raises:
        BenchmarkError: A table has no place, or two.
    """
    names = [found["name"] for found in _PLACE.finditer(text)]
    for name in tables:
        if names.count(name) != 1:
            raise BenchmarkError(
                f"there are {names.count(name)} places `<!-- figures: {name} -->`, "
                "each with its end; one is needed"
            )

    def body(found: re.Match[str]) -> str:
        table = tables.get(found["name"])
        if table is None:
            return EMPTY if strict else found["body"]
        return f"\n{table}\n"

    return _PLACE.sub(lambda found: found["start"] + body(found) + found["end"], text)


def wrong_places(text: str, filled: str) -> list[str]:
    """Return the names of the places in which two texts differ."""
    before, after = (
        {found["name"]: found["body"] for found in _PLACE.finditer(each)}
        for each in (text, filled)
    )
    return [name for name, body in before.items() if after[name] != body]


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check; 1 when `--check` fails, 2 when it cannot run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, help="RUN.json ... FILE.md")
    parser.add_argument("--check", action="store_true", help="only compare")
    args = parser.parse_intermixed_args(argv)
    runs = [file for file in args.files if file.suffix == ".json"]
    pages = [file for file in args.files if file.suffix == ".md"]
    if len(pages) != 1 or len(runs) + 1 != len(args.files):
        parser.error("name JSON files and one Markdown file")
    [page] = pages
    try:
        text = page.read_text(encoding="utf-8")
        tables = {run.stem: tables_of(run) for run in runs}
        filled = fill(text, tables, strict=args.check)
    except (BenchmarkError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    if not args.check:
        page.write_text(filled, encoding="utf-8")
        return 0
    for name in wrong_places(text, filled):
        print(f"report: {page}, {name}: not what its figures make", file=sys.stderr)
    return int(text != filled)


if __name__ == "__main__":
    sys.exit(main())
