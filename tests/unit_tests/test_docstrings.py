"""The public names have docstrings with examples, and these run on answers from memory.

`make snippets` runs the same code on a real engine.
"""

from __future__ import annotations

import ast
import json

import pytest

import langchain_ssr
from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import ROOT, load_script

pytest.importorskip("langchain.agents")
scripts = load_script("docstrings")
snippets = load_script("snippets")
PUBLIC = scripts.public_names((ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
DOCSTRINGS = {
    full: text
    for name, methods in PUBLIC.items()
    for full, text in scripts.docstrings(name, methods).items()
}


def python_of(text: str) -> list[str]:
    lines = text.splitlines()
    fences = load_script("fences").fences(lines)
    return [fence.code for fence in fences if fence.language == "python"]


def test_api_md_has_every_public_name():
    names = {*langchain_ssr.__all__, "SpeculationMiddleware"} - {"__version__"}
    assert set(PUBLIC) == names


def test_methods_are_those_that_api_md_shows():
    listed = set(PUBLIC["ChatSSR"])
    assert {"bind_tools", "from_chat_openai", "get_prompt_token_ids"} <= listed
    own = {"from_message", "to_dict", "to_html", "to_table"}
    assert set(PUBLIC["SpeculationStats"]) == own  # `off` is filtered
    assert set(PUBLIC["SpeculationTotals"]) == {"of", "of_messages", "plus", "to_dict"}
    assert PUBLIC["SpeculationMiddleware"] == []  # LangChain calls its methods


@pytest.mark.parametrize("name", DOCSTRINGS)
def test_a_public_name_has_an_example_that_uses_it(name):
    used = {
        getattr(node, "id", getattr(node, "attr", None))
        for code in python_of(DOCSTRINGS[name])
        for node in ast.walk(
            compile(
                code,
                name,
                "exec",
                ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
                dont_inherit=True,
            )
        )
    }
    assert name.rpartition(".")[-1] in used


@pytest.mark.parametrize("name", PUBLIC)
def test_the_code_of_a_docstring_runs(name, tmp_path, monkeypatch, capsys):
    page = tmp_path / f"{name}.md"
    page.write_text(scripts.page_of(name, PUBLIC[name]), encoding="utf-8")
    person = ssr_backend.answer(json.dumps({"name": "Ann", "age": 34}))
    ssr_backend.without_engine(monkeypatch, person)
    counts = snippets.Runner(page).run()
    assert counts.failed == 0, capsys.readouterr().err
    _setup, *run = [
        block.code for block in snippets.blocks_of(page) if block.reason is None
    ]
    parts = [name, *(f"{name}.{method}" for method in PUBLIC[name])]
    assert run == [code for part in parts for code in python_of(DOCSTRINGS[part])]


def test_all_pages_are_run_with_the_others():
    pages = list(snippets.everything())
    assert pages[: len(snippets.pages())] == snippets.pages()
    ours = pages[len(snippets.pages()) :]
    assert [page.stem for page in ours] == list(PUBLIC)
    assert not ours[0].exists()


PAGE = """
::: langchain_ssr.ChatSSR
    options:
      members:
        - close

::: langchain_ssr.stats.Timing

::: langchain_ssr.SpeculationTotals
    options:
      filters: ["!^_", "!^of"]

::: langchain_ssr.SpeculationStats
    options:
      members: false

Text.
"""


def test_directives_choose_the_methods():
    assert scripts.public_names(PAGE) == {
        "ChatSSR": ["close"],
        "SpeculationTotals": ["plus", "to_dict"],
        "SpeculationStats": [],
    }
