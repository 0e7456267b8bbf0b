"""The quick start counts as right only if its blocks run and steps were saved."""

from __future__ import annotations

import json
import sys

import pytest

from langchain_ssr import ChatSSR
from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import ROOT, load_script


@pytest.fixture
def quickstart(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.delitem(sys.modules, "snippets", raising=False)
    return load_script("quickstart")


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("class stats: num_saved_steps = 3", (0, 3)),
        ("class stats: num_saved_steps = 0", (1, 0)),
        ("pass", (1, 0)),
        ("class stats: num_saved_steps = 3\n1 / 0", (1, 3)),
    ],
)
def test_saved_steps_decide(quickstart, tmp_path, capsys, code, result):
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{code}\n```\n")
    exit_code = quickstart.inside(page)
    saved = json.loads(capsys.readouterr().out)["num_saved_steps"]
    assert (exit_code, saved) == result


def test_a_page_without_code_does_not_pass(quickstart, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("Nothing to run.\n")
    assert quickstart.inside(page) == 1
    assert json.loads(capsys.readouterr().out)["run"] == 0


def test_the_real_page_has_what_is_looked_for(quickstart, monkeypatch, capsys):
    ssr_backend.use(monkeypatch)
    monkeypatch.setattr(ChatSSR, "close", lambda _: None)
    import snippets

    monkeypatch.setattr(snippets, "run_shell", lambda _: None)
    assert quickstart.inside() == 0
    told = json.loads(capsys.readouterr().out)
    counts = {"run": 5, "setup": 0, "skipped": 6, "failed": 0}
    assert told == {**counts, "num_saved_steps": 10}
