"""What a draft costs, in the scheduler's steps and in the statistics."""

from __future__ import annotations

import pytest

from langchain_ssr.engine import admission
from langchain_ssr.engine.scheduler import SSRScheduler
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run_plain,
)
from tests.integration_tests.fake_worker import START, Script
from tests.integration_tests.test_scheduler import ONE, WORDS, end, start

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_the_cost_of_a_token_sets_how_many_are_verified(cls):
    """Dear ones are few, and none where a hit saves no more than a miss costs."""
    verified, of = [], []
    for cost in (0.0, 0.6, 1.0):
        engine = start(cls, Script(drift=10**6), ssr=OFTEN)
        engine.scheduler._policies.cost.verification = lambda num, cost=cost: (
            of.append(num) or cost
        )
        end(engine)
        counts = engine.reports["a"]["sources"].values()
        verified.append(sum(count["num_draft_tokens"] for count in counts))
    assert verified[0] > 2 * verified[1] > 0
    assert verified[2] == 0
    assert set(of) == {0, 1}  # its draft is no request


def num_scheduled(engine):
    return sum(out.total_num_scheduled_tokens for out in engine.schedules)


@pytest.mark.parametrize("model", [Script(drift=3), Script(drift=10**6)])
def test_the_overhead_is_all_that_a_plain_engine_would_not_have_computed(model):
    """Tokens that a draft is proposed in vain, from earlier ones, are a part of it."""
    engine = start(model=model, ssr=OFTEN)
    end(engine)
    plain = run_plain(lambda e: e.add("a"), model)
    told = engine.reports["a"]["overhead"]
    # The first token of a draft comes with its prompt, and its last is not computed.
    drafts = [d for d in engine.reports["a"]["drafts"] if d["num_steps"]]
    extra = sum(told.values()) - len(drafts)
    assert num_scheduled(engine) - num_scheduled(plain) == extra
    by_draft = told["num_rejected_tokens"] - sum(
        count["num_draft_tokens"] - count["num_accepted_draft_tokens"]
        for count in engine.reports["a"]["sources"].values()
    )
    assert by_draft >= 0


def test_a_draft_computes_a_long_prompt_in_parts():
    """Without a prefix cache it needs more than a step has left."""
    engine = FakeEngine(
        make_scheduler(
            SSRScheduler, max_num_batched_tokens=64, enable_prefix_caching=False
        )
    )
    engine.scheduler.max_num_scheduled_tokens = 64
    engine.add("a", [10, *(5 * WORDS), START], ssr=ONE)
    [reason] = end_of(engine, "a")
    assert reason in ("stop", "cut")
    [draft] = engine.reports["a"]["drafts"]
    assert draft["num_tokens"] > 5


def end_of(engine, name):
    engine.run()
    engine.assert_idle()
    return [draft["finish_reason"] for draft in engine.reports[name]["drafts"]]


def test_a_draft_goes_on_where_there_is_no_room_for_its_successor(monkeypatch):
    real = admission.has_room

    def first_only(*args, replaces):
        return not replaces and real(*args, replaces=replaces)

    monkeypatch.setattr(admission, "has_room", first_only)
    model = Script(reasoning=120, answer=30)
    engine = start(model=model, ssr={"draft_budget": [5, 12, 19]})
    assert end(engine) == ["stop"]
    assert engine.reports["a"]["drafts"][0]["budget"] == 5
