"""No proposal crosses a thinking budget, and forced tokens land in their own row."""

from __future__ import annotations

import pytest

from langchain_ssr.engine.lifecycle import Lifecycle
from langchain_ssr.engine.scheduler import SSRScheduler
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run,
)
from tests.integration_tests.fake_worker import END, START, Script

pytestmark = pytest.mark.engine

WORDS = [*range(40, 70)]


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_no_proposal_crosses_it(cls):
    engine = FakeEngine(make_scheduler(cls), Script(budgets={11: 21}))
    engine.add("a", [11, *WORDS, START], thinking_token_budget=21, ssr=OFTEN)
    request = engine.scheduler.requests["a"]
    while END not in engine.tokens["a"]:
        thought = request.num_output_tokens
        if spec := engine.step().scheduled_spec_decode_tokens.get("a"):
            assert thought + len(spec) <= 21 - 2 or (thought, spec) == (21, [END])
    assert engine.proposed("a") or cls is not SSRScheduler
    engine.run()
    engine.assert_idle()


@pytest.mark.parametrize("others", [{}, {"thinking_token_budget": 13}])
def test_rows_are_kept_apart(others):
    """A step that forces a token has a proposal somewhere."""
    prompt, other = [11, *WORDS, START], [12, *WORDS, START]
    model = Script(budgets={11: 13, 12: 13} if others else {11: 13})
    off = {"speculation": False}

    def add(engine):
        engine.add("a", prompt, thinking_token_budget=13, ssr=off)
        engine.add("b", other, ssr=off, **others)

    engine = run(SSRScheduler, add, model)
    forced = engine.proposed("a") + engine.proposed("b")
    assert [len(tokens) for tokens in forced] == [1]
    assert forced == [[END]] or not others


def test_rows_are_kept_apart_after_a_failure(monkeypatch):
    """A request whose speculation failed still has its thinking counted."""

    def broken(*_):
        raise RuntimeError("injected")

    monkeypatch.setattr(Lifecycle, "advance", broken)

    def add(engine):
        engine.add("a", [11, *WORDS, START], thinking_token_budget=13)
        engine.add("b", [12, *WORDS, START])

    engine = run(SSRScheduler, add, Script(budgets={11: 13}))
    proposed = engine.proposed("a") + engine.proposed("b")
    assert [len(tokens) for tokens in proposed] == [1]
