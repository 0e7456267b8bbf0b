"""Writes docs/features.md from docs/features.toml and the tests that it names.

    python scripts/features.py              write the table
    python scripts/features.py --check      fail if the table is not what it would write
    python scripts/features.py --junit F G  also: every named test passed in pytest's
                                            reports F and G (`pytest --junit-xml F`)

`make features`, `make features --check` and `make features --check JUNIT="F G"` do the
same. The reports of the unit and of the integration tests together have every test.

A row of `ChatSSR` has its mark if its tests exist. A test that does not is an error.
"""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs" / "features.toml"
TABLE = ROOT / "docs" / "features.md"
STANDARD = {"ChatModelIntegrationTests", "ChatModelUnitTests"}
"""Classes of langchain-tests whose tests ours inherit."""
HEAD = """\
<!-- Written by scripts/features.py from features.toml: change that, `make features` -->

# What ChatSSR has, and others

● yes, ○ no; an empty cell says nothing. Each ● of ChatSSR stands for tests, which are
listed below; `make features --check` fails if one of them does not exist, or if this
table is not up to date. The cells of langchain-openai are checked with the installed
package; those of the others were read in the source of the version that is named.
"""


def tests_of(file: Path) -> set[str]:
    """Find the tests of a file, `Class::test` for those of classes.

    It reads the source and imports nothing but langchain-tests.
    """
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            own = {part.name for part in node.body if isinstance(part, FUNCTIONS)}
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            for base in bases & STANDARD:
                own |= _standard_tests(base)
            found |= {f"{node.name}::{name}" for name in own}
    return {name for name in found if name.rsplit("::")[-1].startswith("test")}


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def _standard_tests(name: str) -> frozenset[str]:
    from langchain_tests import integration_tests, unit_tests

    for module in (integration_tests, unit_tests):
        if base := getattr(module, name, None):
            return frozenset(dir(base))
    raise LookupError(name)


def resolve(test: str, root: Path = ROOT) -> list[str]:
    """Return the tests that an entry means; `file::*` is all of a file.

    Raises:
        LookupError: If there is none.
    """
    path, _, name = test.partition("::")
    file = root / path
    known = tests_of(file) if file.is_file() else set()
    names = sorted(known) if name == "*" else [name] if name in known else []
    if not names:
        raise LookupError(f"there is no test {test}")
    return [f"{path}::{name}" for name in names]


def results_of(*reports: Path) -> dict[str, set[str]]:
    """Read reports of pytest: the results of each test, over its parameters."""
    results: dict[str, set[str]] = defaultdict(set)
    for case in itertools.chain.from_iterable(map(_cases, reports)):
        parts = case.get("classname", "").split(".")
        classes = [part for part in parts if part[:1].isupper()]
        path = "/".join(parts[: len(parts) - len(classes)]) + ".py"
        name = case.get("name", "").split("[")[0]
        bad = {child.tag for child in case if child.tag in _BAD}
        results["::".join([path, *classes, name])] |= bad or {"passed"}
    return results


def _cases(report: Path) -> Iterator[ET.Element]:
    return ET.parse(report).iter("testcase")  # noqa: S314 - pytest's own file


_BAD = {"failure", "error", "skipped"}


def features_of(table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the table's rows."""
    for group in table["group"]:
        yield from group["feature"]


def problems_of(
    table: Mapping[str, Any], results: Mapping[str, set[str]] | None, root: Path = ROOT
) -> list[str]:
    """Say what is wrong with a table, in lines for people.

    Args:
        table: What `features.toml` holds.
        results: The results of each test, if there is a report.
        root: The folder that the tests' paths start from.
    """
    problems = []
    for feature in features_of(table):
        name, width = feature["name"], len(feature.get("peers", table["peer"]))
        if width != len(table["peer"]):
            problems.append(f"{name}: {width} cells for {len(table['peer'])} peers")
        for entry in feature.get("tests", []):
            try:
                tests = resolve(entry, root)
            except LookupError as error:
                problems.append(f"{name}: {error}")
                continue
            for test in tests if results is not None else []:
                got = (results or {}).get(test, {"not run"})
                if got != {"passed"}:
                    problems.append(f"{name}: {test}: {', '.join(sorted(got))}")
    return problems


def render(table: Mapping[str, Any]) -> str:
    """Write the page."""
    peers = table["peer"]
    lines = [HEAD]
    titles = [f"{peer['name']} {peer['version']}" for peer in peers]
    proofs = []
    for group in table["group"]:
        lines += [f"## {group['title']}", "", _row(["", "ChatSSR", *titles])]
        lines.append(_row(["-"] * (len(titles) + 2)))
        for feature in group["feature"]:
            tests = feature.get("tests", [])
            mark = "●" if tests else "○"
            note = feature.get("ssr", "")
            cells = feature.get("peers", [""] * len(peers))
            lines.append(_row([feature["name"], f"{mark} {note}".strip(), *cells]))
            if tests:
                listed = "\n".join(f"  - `{test}`" for test in tests)
                proofs.append(f"- {feature['name']}\n{listed}")
        lines.append("")
    packages = ", ".join(f"{peer['package']} {peer['version']}" for peer in peers)
    lines += ["Packages: " + packages + ".", "", "## The tests", "", *proofs]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--junit", type=Path, nargs="+", help="reports of pytest")
    arguments = parser.parse_args(argv)
    table = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    results = results_of(*arguments.junit) if arguments.junit else None
    problems = problems_of(table, results)
    page = render(table)
    if not arguments.check:
        TABLE.write_text(page, encoding="utf-8")
    elif not TABLE.is_file() or TABLE.read_text(encoding="utf-8") != page:
        problems.append("docs/features.md is out of date: make features")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        rows = list(features_of(table))
        proved = sum(bool(row.get("tests")) for row in rows)
        print(f"{len(rows)} features, {proved} of ChatSSR, each with its tests")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
