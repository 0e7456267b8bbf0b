"""Every kind of input has a test, so that one that loses its last is noticed.

The tests of kinds need engines; their marks are read from the source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.kinds import KINDS

TESTS = Path(__file__).parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
UNWANTED = {"skip", "xfail"}
"""Marks of tests that prove nothing."""


def marks_of(node: ast.AST) -> list[ast.expr]:
    """The `pytest.mark`s of a test or a class, or of a module's `pytestmark`."""
    if isinstance(node, ast.Module):
        values = [
            part.value
            for part in node.body
            if isinstance(part, ast.Assign)
            and ast.unparse(part.targets[0]) == "pytestmark"
        ]
        return [
            mark
            for value in values
            for mark in (value.elts if isinstance(value, ast.List) else [value])
        ]
    return list(getattr(node, "decorator_list", []))


def name_of(mark: ast.expr) -> str:
    """`kind` for `@pytest.mark.kind(3)`; nothing for other decorators."""
    written = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
    return written.removeprefix("pytest.mark.") if "pytest.mark." in written else ""


def kinds_in(source: str) -> dict[int, set[str]]:
    """Return the tests of a file's source by the kinds that they are marked with."""
    found: dict[int, set[str]] = defaultdict(set)

    def look(node: ast.AST, outer: list[ast.expr]) -> None:
        marks = [*outer, *marks_of(node)]
        if isinstance(node, FUNCTIONS):
            if not node.name.startswith("test") or UNWANTED & set(map(name_of, marks)):
                return
            for mark in marks:
                if name_of(mark) == "kind":
                    for number in mark.args:
                        found[ast.literal_eval(number)].add(node.name)
        elif isinstance(node, (ast.Module, ast.ClassDef)):
            for part in node.body:
                look(part, marks)

    look(ast.parse(source), [])
    return dict(found)


def test_every_kind_has_a_test():
    found: dict[int, set[str]] = defaultdict(set)
    for file in TESTS.glob("**/test_*.py"):
        for number, tests in kinds_in(file.read_text(encoding="utf-8")).items():
            found[number] |= tests
    assert sorted(found) == list(range(1, len(KINDS) + 1))


KIND = "@pytest.mark.kind(3)\n"


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        (f"{KIND}def test_x(): pass", [3]),
        (f"{KIND}@pytest.mark.kind(4)\nasync def test_x(): pass", [3, 4]),
        (f"{KIND}class TestX:\n def test_x(self): pass", [3]),
        ("class TestX:\n @pytest.mark.kind(5)\n def test_x(self): pass", [5]),
        ("pytestmark = pytest.mark.kind(6)\ndef test_x(): pass", [6]),
        ("pytestmark = [pytest.mark.kind(6)]\ndef test_x(): pass", [6]),
        ("pytestmark = pytest.mark.kind(6)", []),
        (f"{KIND}class TestX: pass", []),
        (f"{KIND}def helper(): pass", []),
        (f"{KIND}@pytest.mark.skip\ndef test_x(): pass", []),
        (f"{KIND}@pytest.mark.xfail(reason='r')\ndef test_x(): pass", []),
        (f"{KIND}@pytest.mark.skipif(True, reason='r')\ndef test_x(): pass", [3]),
        ("# @pytest.mark.kind(3)\ndef test_x(): 'pytest.mark.kind(3)'", []),
    ],
)
def test_marks_are_read_from_the_source(source, kinds):
    assert sorted(kinds_in(source)) == kinds
