"""The code of README.md and docs/ on answers from memory: names and calls are right.

`make snippets` runs the same code on a real engine.
"""

from __future__ import annotations

import json

import pytest

from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import load_script
from tests.unit_tests.ssr_backend import answer

pytest.importorskip("langchain.agents")
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
