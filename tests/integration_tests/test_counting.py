"""Engines without SSR count their steps, over both of vLLM's schedulers."""

from __future__ import annotations

import pytest

from langchain_ssr.engine.counting_scheduler import (
    CountingAsyncScheduler,
    CountingScheduler,
    CountingSyncScheduler,
)
from tests.integration_tests.fake_engine import make_scheduler, run, several
from tests.integration_tests.fake_worker import Script

pytestmark = pytest.mark.engine

KINDS = (CountingSyncScheduler, CountingAsyncScheduler)


@pytest.mark.parametrize("kind", KINDS)
def test_each_token_is_a_step_of_its_phase(kind):
    model = Script(reasoning=80, answer=60, drift=10**6)
    engine = run(kind, several(3, ssr={"speculation": False}), model)
    for name, tokens in engine.tokens.items():
        report = engine.reports[name]
        assert (report["mode"], report["reason"]) == ("off", "disabled")
        assert report["num_reasoning_steps"] == 81  # with the end marker
        assert report["num_answer_steps"] == len(tokens) - 81
        assert engine.num_steps[name] == len(tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scheduler_is_the_one_that_vllm_would_take(kind, monkeypatch):
    made = make_scheduler(kind)
    monkeypatch.setattr(kind, "__init__", lambda *_: None)
    assert type(CountingScheduler(made.vllm_config)) is kind
