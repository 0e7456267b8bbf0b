"""What is special where a step is scheduled before the last one's tokens are known."""

from __future__ import annotations

import copy

import pytest
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import DraftTokenIds

from langchain_ssr.engine.async_scheduler import SSRAsyncScheduler
from tests.integration_tests.fake_engine import (
    OFTEN,
    FakeEngine,
    make_scheduler,
    run,
    several,
)
from tests.integration_tests.fake_worker import END, START, Script

pytestmark = pytest.mark.engine

RIGHT = Script(reasoning=80, answer=60, drift=10**6)
"""A model whose drafts are right."""


def steps(engine, request_id):
    """Say of every scheduled step what is out before it, and what is proposed."""
    while request_id not in engine.finished:
        earlier = [out for out, _ in engine.out]
        thinks = END not in engine.tokens[request_id]
        out = engine.step()
        if out is not None:
            yield earlier, thinks, out


def test_the_harness_has_two_batches_out():
    engine = run(AsyncScheduler, several(2))
    plain = run(Scheduler, several(2))
    assert engine.depth == 2
    assert len(engine.schedules) == len(plain.schedules) + 1


@pytest.mark.parametrize("count", [1, 4])
def test_answers_come_in_fewer_steps(count):
    ssr = {"draft_budget": 10, "iterative": False}
    engine = run(SSRAsyncScheduler, several(count, ssr=ssr), RIGHT, max_num_seqs=8)
    assert engine.num_steps["r0"] < 80 + 60 / 3
    report = engine.reports["r0"]
    assert report["num_reasoning_steps"] == 81  # with the end marker
    assert report["sources"]["draft_prefix"]["num_accepted_draft_tokens"] > 30
    # Held steps included, it is less than a step for each token.
    assert count > 1 or len(engine.schedules) < 80 + 50


@pytest.mark.parametrize("settings", [OFTEN, {"draft_budget": [12]}])
def test_only_requests_at_rest_are_proposed_for(settings):
    engine = FakeEngine(make_scheduler(SSRAsyncScheduler), RIGHT)
    several(3, ssr=settings)(engine)
    num_proposals = 0
    for earlier, _, out in steps(engine, "r2"):
        for request_id in out.scheduled_spec_decode_tokens:
            num_proposals += 1
            assert all(request_id not in e.num_scheduled_tokens for e in earlier)
        # And nothing follows before a proposal is back.
        for request_id in out.num_scheduled_tokens:
            spec = [e.scheduled_spec_decode_tokens.get(request_id) for e in earlier]
            assert not any(spec)
        assert not any(r.spec_token_ids for r in engine.scheduler.requests.values())
    assert num_proposals > 10
    engine.run()
    engine.assert_idle()


def test_thinking_is_never_held():
    engine = FakeEngine(make_scheduler(SSRAsyncScheduler), RIGHT)
    engine.add("a", ssr=OFTEN)
    held = 0
    for _, thinks, out in steps(engine, "a"):
        assert "a" in out.num_scheduled_tokens or not thinks
        held += "a" not in out.num_scheduled_tokens
        assert not thinks or not out.scheduled_spec_decode_tokens.get("a")
    assert held


def test_an_answer_that_nothing_is_like_is_not_held():
    engine = FakeEngine(make_scheduler(SSRAsyncScheduler), Script(drift=1))
    engine.add("a", [10, START, END], ssr={"max_drafts": 0})
    steps_of = list(steps(engine, "a"))
    held = [out for _, _, out in steps_of if "a" not in out.num_scheduled_tokens]
    assert len(held) < len(engine.tokens["a"]) / 4


def test_what_workers_propose_is_ignored():
    engine = FakeEngine(make_scheduler(SSRAsyncScheduler), RIGHT)
    engine.add("a")
    engine.run(lambda: engine.proposed("a"))
    out = engine.schedules[-1]
    before = copy.deepcopy(out.scheduled_spec_decode_tokens)
    tokens = DraftTokenIds(["a"], [[7, 7, 7]])
    engine.scheduler.update_draft_token_ids_in_output(tokens, out)
    engine.scheduler.update_draft_token_ids(tokens)
    assert out.scheduled_spec_decode_tokens == before
    assert not out.num_invalid_spec_tokens
    assert not engine.scheduler.requests["a"].spec_token_ids
