"""The code of README.md and docs/ on answers from memory: names and calls are right.

`make snippets` runs the same code on a real engine.
"""

from __future__ import annotations

import ast
import builtins
import json
import re

import pytest

from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import ROOT, load_script
from tests.unit_tests.ssr_backend import answer

pytest.importorskip("langchain.agents")
DOCS = ROOT / "docs"
snippets = load_script("snippets")
PAGES = [page for page in snippets.pages() if snippets.blocks_of(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, monkeypatch, capsys):
    person = answer(json.dumps({"name": "Ann", "age": 34}))
    ssr_backend.without_engine(monkeypatch, person)
    monkeypatch.setattr(snippets, "run_shell", lambda _: None)
    counts = snippets.Runner(page).run()
    assert counts.failed == 0, capsys.readouterr().err
    shown = [block for block in snippets.blocks_of(page) if not block.hidden]
    assert counts.run + counts.skipped == len(shown)


def test_most_pages_have_code_that_runs():
    blocks = [block for page in PAGES for block in snippets.blocks_of(page)]
    python = [b for b in blocks if b.language == "python" and not b.hidden]
    assert sum(block.reason is None for block in python) > len(python) / 2 > 5


class TestNames:
    """What is copied from a page runs, or the page says what else it takes."""

    PAGES = sorted(DOCS.rglob("*.md*"))

    @staticmethod
    def visible(file) -> list[str]:
        blocks = snippets.blocks_of(file)
        return [b.code for b in blocks if b.language == "python" and not b.hidden]

    @pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
    def test_names_are_defined_or_told_before(self, file):
        text = re.sub(r"<!--.*?-->", "", file.read_text(), flags=re.DOTALL)
        before, *_ = re.split(r"^ *```python", text, maxsplit=1, flags=re.MULTILINE)
        for name in unknown_names(self.visible(file)):
            told = f"`{name}`" in before and "(quickstart.md#" in before
            told |= name == "agent" and "the agent is yours" in file.read_text()
            assert told, name

    def test_unknown_names_are_found(self):
        code = ["import a.b\nfor c in a: print(c, d)\n", "def e(f): return f + g"]
        assert unknown_names([*code, "with h as i: [j for j in i]"]) == {"d", "g", "h"}

    def test_hidden_tasks_are_those_of_the_quick_start(self):
        (task,) = assigned(self.visible(DOCS / "quickstart.md"), "task")
        found = 0
        for file in self.PAGES:
            blocks = snippets.blocks_of(file)
            for hidden in assigned([b.code for b in blocks if b.hidden], "task"):
                found += 1
                assert hidden == task, file.name
        assert found == 2


def unknown_names(code: list[str]) -> set[str]:
    """Names that code uses, and neither it nor Python defines."""
    known = set(dir(builtins))
    used = set()
    for node in (each for block in code for each in ast.walk(ast.parse(block))):
        match node:
            case ast.Name(id, ast.Load()):
                used.add(id)
            case ast.Name(id):
                known.add(id)
            case ast.FunctionDef(name) | ast.ClassDef(name):
                known.add(name)
            case ast.alias(name, asname):
                known.add(asname or name.split(".")[0])
            case ast.arg(name):
                known.add(name)
    return used - known


def assigned(code: list[str], name: str) -> list[str]:
    """The constants that code assigns to a name."""
    return [
        node.value.value
        for block in code
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Assign)
        and [target.id for target in node.targets if isinstance(target, ast.Name)]
        == [name]
    ]
