"""A scheduler gives drafts up where they do not pay, and says so."""

from __future__ import annotations

import pytest
from vllm.lora.request import LoRARequest
from vllm.v1.request import RequestStatus

from langchain_ssr.engine.draft_policy import MIN_REQUESTS, TRY_AGAIN
from langchain_ssr.engine.lifecycle import Phase
from langchain_ssr.engine.scheduler import SSRScheduler
from langchain_ssr.engine.step_cost import MIN_STEPS
from tests.integration_tests.fake_engine import (
    FakeEngine,
    make_scheduler,
    run_plain,
)
from tests.integration_tests.fake_worker import START, Script

pytestmark = pytest.mark.engine

LONG = {"max_tokens": 450}
PROMPT = [10, *range(40, 70), START]
WRONG = Script(reasoning=140, answer=40, drift=1)
"""Drafts agree with the answer in no token; the first is due at 128."""
LATE = Script(reasoning=320, answer=80, drift=10**6)
"""Drafts are right, and the second has time enough: the first is of no use."""
RIGHT = Script(reasoning=160, answer=100, drift=10**6)


def start(model: Script) -> FakeEngine:
    return FakeEngine(make_scheduler(SSRScheduler), model)


def reasons(engine: FakeEngine, num: int, **settings) -> list[str | None]:
    """Ask one after the other; return what each says."""
    told = []
    for number in range(num):
        name = f"{len(engine.tokens)}-{number}"
        engine.add(name, PROMPT, ssr=settings, **LONG)
        engine.run()
        told.append(engine.reports[name]["reason"])
    return told


@pytest.fixture
def disappointed() -> FakeEngine:
    """An engine whose drafts did not pay so far."""
    engine = start(WRONG)
    assert reasons(engine, MIN_REQUESTS) == [None] * MIN_REQUESTS
    return engine


def test_drafts_that_do_not_pay_are_given_up_and_tried_again(disappointed):
    told = reasons(disappointed, 2 * TRY_AGAIN)
    assert told.count(None) == 2
    assert told.count("no_gain") == 2 * TRY_AGAIN - 2
    disappointed.assert_idle()
    last = list(disappointed.reports.values())[-2]
    assert last["mode"] == "ssr"
    assert last["drafts"] == []


@pytest.mark.parametrize(
    "settings",
    [{"draft_budget": 40}, {"draft_budget": [40]}, {"stream_drafts": True}],
)
def test_who_wants_drafts_gets_them(disappointed, settings):
    assert reasons(disappointed, 3, **settings) == [None] * 3


def test_answers_are_the_same_either_way(disappointed):
    reasons(disappointed, 3)
    plain = run_plain(lambda e: e.add("a", PROMPT, **LONG), WRONG)
    for tokens in disappointed.tokens.values():
        assert tokens == plain.tokens["a"]


def test_each_adapter_learns_for_itself(disappointed):
    adapter = LoRARequest("other", 1, "nowhere")
    for number, lora in enumerate([adapter, None]):
        name = f"of-{number}"
        disappointed.add(name, PROMPT, ssr={}, lora_request=lora, **LONG)
        disappointed.run()
        told = disappointed.reports[name]
        assert (told["reason"], len(told["drafts"])) == (
            (None, 1) if lora else ("no_gain", 0)
        )


def test_positions_that_do_not_pay_are_left_out():
    engine = start(LATE)
    told = [drafts_of(engine, number) for number in range(3 * MIN_REQUESTS)]
    assert told[:MIN_REQUESTS] == [[128, 256]] * MIN_REQUESTS
    assert told[MIN_REQUESTS : 2 * MIN_REQUESTS] == [[256]] * MIN_REQUESTS
    assert {report["reason"] for report in engine.reports.values()} == {None}


def drafts_of(engine: FakeEngine, number: int) -> list[int]:
    """Ask once; return the positions of its drafts."""
    ssr = {"speculate_reasoning": False}
    engine.add(f"late-{number}", PROMPT, ssr=ssr, **LONG)
    engine.run()
    return [draft["budget"] for draft in engine.reports[f"late-{number}"]["drafts"]]


def test_drafts_that_pay_go_on():
    engine = start(RIGHT)
    assert reasons(engine, 3 * MIN_REQUESTS) == [None] * 3 * MIN_REQUESTS
    assert engine.scheduler._policies.of(None).gain(128) > 0


def test_a_client_that_leaves_while_the_model_thinks_teaches_nothing():
    engine = start(WRONG)
    for number in range(2 * MIN_REQUESTS):
        name = f"gone-{number}"
        engine.add(name, **LONG, ssr={})
        engine.run(lambda: engine.child)
        assert engine.scheduler._states[name].phase is Phase.REASONING
        engine.scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)
    engine.run()
    engine.assert_idle()
    assert engine.scheduler._policies.of(None).gain(128) == 0


def test_steps_are_measured():
    engine = start(RIGHT)
    del engine.scheduler._policies.cost.record
    reasons(engine, 1)
    assert engine.scheduler._policies.cost._num > MIN_STEPS
