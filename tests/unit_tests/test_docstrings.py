"""The public names have docstrings with examples, and these run on answers from memory.

`make snippets` runs the same code on a real engine.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import pkgutil
import textwrap
from unittest import mock

import pytest
from pydantic import BaseModel

import langchain_ssr
from langchain_ssr.backends.embedded import EmbeddedBackend
from langchain_ssr.totals import RATES
from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import ROOT, load_script

pytest.importorskip("langchain.agents")
scripts = load_script("docstrings")
snippets = load_script("snippets")
PUBLIC = scripts.public_names((ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
DOCSTRINGS = {
    full: text
    for name, members in PUBLIC.items()
    for full, text in scripts.docstrings(name, members).items()
}


def python_of(text: str) -> list[str]:
    lines = text.splitlines()
    fences = load_script("fences").fences(lines)
    return [fence.code for fence in fences if fence.language == "python"]


OF_SUBMODULES = {
    "bench.steps.watch",
    "bench.trace.TraceRecorder",
    "connection.ConnectionSettings",
    "errors",
    "settings.CallSettings",
    "settings.SpeculationSettings",
    "stats.Overhead",
    "stats.SourceStats",
    "stats.Timing",
}


def test_api_md_has_every_public_name():
    names = {*langchain_ssr.__all__, "SpeculationMiddleware"} - {"__version__"}
    assert set(PUBLIC) == names | OF_SUBMODULES
    lines = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines()
    shown = [line.split()[1] for line in lines if line.startswith(":::")]
    assert [f"langchain_ssr.{name}" for name in PUBLIC] == shown


def test_members_are_those_that_api_md_shows():
    listed = set(PUBLIC["ChatSSR"])
    assert {"bind_tools", "from_chat_openai", "get_prompt_token_ids"} <= listed
    own = {"from_message", "to_dict", "to_html", "to_table"}
    assert set(PUBLIC["SpeculationStats"]) == own  # `off` is filtered
    methods = {"of", "of_messages", "plus", "to_dict"}
    assert set(PUBLIC["SpeculationTotals"]) == methods | set(RATES)
    assert PUBLIC["SpeculationCallbackHandler"] == ["by_model", "total"]
    for called_by_langchain in ("SpeculationMiddleware", "bench.trace.TraceRecorder"):
        assert PUBLIC[called_by_langchain] == []


def test_errors_are_all_classes_of_their_module():
    source = (ROOT / "langchain_ssr" / "errors.py").read_text(encoding="utf-8")
    classes = [
        node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)
    ]
    assert PUBLIC["errors"] == classes
    assert {"SettingsError", "ServerError"} < set(classes)


def fields_without_text(of: type) -> list[str]:
    """The fields of a class whose next line is no docstring of theirs."""
    body = ast.parse(textwrap.dedent(inspect.getsource(of))).body[0].body
    return [
        node.target.id
        for node, after in itertools.zip_longest(body, body[1:])
        if isinstance(node, ast.AnnAssign)
        and not (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        )
    ]


MODELS = [
    thing
    for name in PUBLIC
    if inspect.isclass(thing := pkgutil.resolve_name(f"langchain_ssr.{name}"))
    and issubclass(thing, BaseModel)
]


@pytest.mark.parametrize("of", MODELS)
def test_every_field_says_what_it_is(of):
    assert fields_without_text(of) == []


def test_fields_without_text_are_found():
    assert fields_without_text(Undescribed) == ["second", "last"]


class Undescribed(BaseModel):
    first: int = 0
    """Described."""
    second: int = 0
    third: int = 0
    """Described."""
    last: int = 0


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
    monkeypatch.setattr(EmbeddedBackend, "engine", mock.Mock())
    counts = snippets.Runner(page).run()
    assert counts.failed == 0, capsys.readouterr().err
    _setup, *run = [
        block.code for block in snippets.blocks_of(page) if block.reason is None
    ]
    parts = [name, *(f"{name}.{member}" for member in PUBLIC[name])]
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

::: langchain_ssr.bench.steps

::: langchain_ssr.totals
    options:
      filters: ["!^_", "stats_of"]

Text.
"""


def test_directives_choose_the_members():
    assert scripts.public_names(PAGE) == {
        "ChatSSR": ["close"],
        "stats.Timing": [],
        "SpeculationTotals": ["plus", *RATES, "to_dict"],
        "SpeculationStats": [],
        "bench.steps": ["Steps", "StepLog", "watch"],
        "totals": ["SpeculationTotals"],
    }


def test_a_directive_of_no_name_is_an_error():
    with pytest.raises(AttributeError, match="Timings"):
        scripts.public_names("::: langchain_ssr.stats.Timings\n")


def test_a_misspelt_setting_is_refused_as_its_example_says(capsys):
    [code] = python_of(DOCSTRINGS["errors.SettingsError"])
    exec(code, {"llm": langchain_ssr.ChatSSR(model="demo")})  # noqa: S102
    assert "Did you mean 'draft_budget'?" in capsys.readouterr().out
