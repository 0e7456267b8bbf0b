"""The scheduler plugin against made-up model outputs: answers stay what they were."""

from __future__ import annotations

import random
import time

import pytest
from vllm.v1.core.sched.interface import PauseState
from vllm.v1.request import RequestStatus

from langchain_ssr.engine import drafting
from langchain_ssr.engine.scheduler import SSRScheduler
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run,
    run_plain,
    several,
)
from tests.integration_tests.fake_worker import END, START, TOOL_CALL, Script

pytestmark = pytest.mark.engine

ITERATIVE = {"draft_budget": 10, "speculate_reasoning": False}
ONE = ITERATIVE | {"iterative": False}
SHORT = OFTEN | {"max_draft_tokens": 12}
WORDS = [*range(40, 70)]


def until_drafting(engine, num_tokens=3):
    """Run until a draft has some tokens; return its id."""

    def drafts():
        child = engine.scheduler.requests.get(engine.child)
        return child is not None and child.num_output_tokens >= num_tokens

    engine.run(drafts)
    return engine.child


def start(cls=SSRScheduler, model=None, *, ssr=ONE, **limits_):
    engine = FakeEngine(make_scheduler(cls, **limits_), model)
    engine.add("a", ssr=ssr)
    return engine


def end(engine):
    """Run to the end; what is said of the drafts."""
    engine.run()
    engine.assert_idle()
    plain = run_plain(lambda e: e.add("a"), engine.worker.model)
    assert engine.tokens["a"] == plain.tokens["a"]
    return [draft["finish_reason"] for draft in engine.reports["a"]["drafts"]]


CASES = {
    "one": (several(1), None, {}),
    "four": (several(), None, {}),
    "more_than_fit": (several(9), None, {"max_num_seqs": 4}),
    "often": (several(ssr=OFTEN), None, {}),
    "drafts_right": (several(2, ssr=OFTEN), Script(drift=10**6), {}),
    "drafts_wrong": (several(2, ssr=OFTEN), Script(drift=1), {}),
    "short_cache": (several(7, ssr=SHORT), None, {"num_blocks": 48}),
    "priority": (
        several(7, ssr=SHORT, priority=1),
        None,
        {"num_blocks": 48, "policy": "priority"},
    ),
    "small_steps": (several(6, ssr=OFTEN), None, {"max_num_batched_tokens": 24}),
    "no_caching": (several(ssr=OFTEN), None, {"enable_prefix_caching": False}),
    "length": (several(max_tokens=57, ssr=OFTEN), None, {}),
    "length_in_reasoning": (several(max_tokens=31, ssr=OFTEN), None, {}),
    "context": (several(max_tokens=450), Script(200, 400), {}),
    "tool_call": (several(ssr=OFTEN), Script(end=TOOL_CALL), {}),
    "opens_itself": (several(prompt=[10, *WORDS]), None, {}),
    "no_thinking": (several(prompt=[10, *WORDS, START, END]), None, {}),
    "prediction": (several(ssr=OFTEN | {"prediction_token_ids": WORDS}), None, {}),
    "grammar": (several(ssr=OFTEN, regex="[a-d]{40}"), None, {}),
    "grammar_short_cache": (
        several(7, ssr=SHORT, regex="(yes|no|maybe ){20}"),
        Script(reasoning=70),
        {"num_blocks": 48},
    ),
    "thinking_budget": (
        several(prompt=[11, *WORDS, START], thinking_token_budget=21, ssr=OFTEN),
        Script(budgets={11: 21}),
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cls", SCHEDULERS)
def test_tokens_are_the_plain_schedulers(cls, case):
    add, model, limits_ = CASES[case]
    engine = run(cls, add, model, **limits_)
    assert engine.forked or case in ("more_than_fit", "opens_itself", "no_thinking")
    reasons = {report["reason"] for report in engine.reports.values()}
    assert reasons <= {None, "busy", "no_reasoning"}
    assert any(map(engine.proposed, engine.tokens)) or case.startswith("length")


def test_a_draft_has_its_grammar_when_it_begins(monkeypatch):
    """vLLM compiles it in another thread, and the draft would start at any time."""
    engine = FakeEngine(make_scheduler(SSRScheduler))
    engine.add("a", ssr=ONE, regex="[a-d]{40}")
    grammars = engine.scheduler.structured_output_manager
    create = grammars._create_grammar

    def create_slowly(request):
        time.sleep(0.02)
        return create(request)

    monkeypatch.setattr(drafting, "GRAMMAR_SECONDS", 30)
    monkeypatch.setattr(grammars, "_use_async_grammar_compilation", True)
    monkeypatch.setattr(grammars, "_create_grammar", create_slowly)
    engine.run(lambda: engine.child)
    engine.step()
    child = engine.scheduler.requests[engine.child]
    assert child.status is RequestStatus.RUNNING
    engine.run()
    engine.assert_idle()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cls", SCHEDULERS)
def test_nothing_that_happens_changes_tokens(cls, seed):
    """Requests come and go, the cache is short and is reset, the engine pauses."""
    rng = random.Random(seed)
    engine = FakeEngine(
        make_scheduler(
            cls,
            num_blocks=rng.choice([24, 48, 72, 400]),
            max_num_seqs=rng.choice([4, 16]),
            max_num_batched_tokens=rng.choice([20, 64, 256]),
            policy=rng.choice(["fcfs", "priority"]),
        )
    )
    scheduler, aborted = engine.scheduler, set()
    plain = run_plain(lambda e: [e.add(f"r{i}") for i in range(12)])
    for i in range(12):
        interval = {"draft_budget": rng.randint(1, 20), "draft_interval": 5}
        interval["max_draft_tokens"] = rng.choice([8, 300])
        engine.add(f"r{i}", ssr=interval, priority=rng.randint(0, 2))
        for _ in range(rng.choice([0, 0, 2, 9, 40])):
            engine.step()
        if rng.random() < 0.2 and f"r{i}" not in engine.finished:
            aborted.add(f"r{i}")
            scheduler.finish_requests(f"r{i}", RequestStatus.FINISHED_ABORTED)
        if rng.random() < 0.2:
            scheduler.reset_prefix_cache(reset_running_requests=True)
        if rng.random() < 0.2:
            scheduler.set_pause_state(PauseState.PAUSED_ALL)
            engine.step()
            scheduler.set_pause_state(PauseState.UNPAUSED)
    engine.run()
    engine.assert_idle()
    for request_id, tokens in engine.tokens.items():
        expected = plain.tokens[request_id]
        assert tokens == expected[: len(tokens) if request_id in aborted else None]


class TestFork:
    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_a_draft_starts_at_the_budget(self, cls):
        engine = start(cls)
        engine.run(lambda: engine.child)
        assert len(engine.tokens["a"]) == 10
        child = engine.scheduler.requests[engine.child]
        prompt = engine.scheduler.requests["a"].prompt_token_ids
        assert child.prompt_token_ids == [*prompt, *engine.tokens["a"], END]
        until_drafting(engine)
        assert engine.scheduler.running[-1] is child
        assert set(engine.tokens) == {"a"}

    def test_children_run_last(self):
        engine = start()
        until_drafting(engine)
        engine.add("b")
        engine.run(lambda: len(engine.scheduler.running) == 3)
        engine.step()
        ids = [r.request_id for r in engine.scheduler.running]
        assert ids == ["a", "b", "a-draft-0"]

    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_each_interval_starts_another(self, cls):
        engine = start(cls, ssr=ITERATIVE | {"draft_interval": 8})
        assert end(engine) == ["cut"] * 4
        drafts = engine.reports["a"]["drafts"]
        assert [d["budget"] for d in drafts] == [10, 18, 26, 34]
        assert [d["num_reasoning_tokens"] for d in drafts] == [10, 18, 26, 34]
        assert engine.forked == {f"a-draft-{i}" for i in range(4)}
        # The later ones follow the earlier ones.
        assert max(len(p) for p in engine.proposed("a-draft-1")) > 1

    def test_nothing_is_forked_while_a_request_waits(self):
        engine = start(max_num_seqs=1)
        engine.add("b", ssr={"speculation": False})
        assert end(engine) == []
        assert not engine.forked
        assert engine.reports["a"]["reason"] == "busy"

    @pytest.mark.parametrize(
        "limits_", [{"max_num_seqs": 1}, {"num_blocks": 12}, {"max_num_active_seqs": 1}]
    )
    def test_nothing_is_forked_without_room(self, limits_):
        engine = start(**limits_)
        assert end(engine) == []
        assert not engine.forked
        assert engine.reports["a"]["reason"] == "busy"

    @pytest.mark.parametrize("state", [PauseState.PAUSED_NEW, PauseState.PAUSED_ALL])
    def test_nothing_is_forked_in_a_pause(self, state):
        engine = start()
        engine.run(lambda: len(engine.tokens["a"]) == 9)
        out = engine.scheduler.schedule()
        engine.out.append((out, engine.worker.execute(out)))
        engine.scheduler.set_pause_state(state)
        engine.take()
        engine.scheduler.set_pause_state(PauseState.UNPAUSED)
        assert end(engine) == []


class TestEndOfADraft:
    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_when_the_answer_begins(self, cls):
        engine = start(cls)
        until_drafting(engine)
        engine.run(lambda: END in engine.tokens["a"])
        assert engine.child is None
        assert len(engine.scheduler.requests) == 1
        assert end(engine) == ["cut"]

    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_by_itself(self, cls):
        assert end(start(cls, Script(reasoning=90, answer=20))) == ["stop"]
        ssr = ONE | {"max_draft_tokens": 7}
        assert end(start(cls, ssr=ssr)) == ["length"]

    @pytest.mark.parametrize("cls", SCHEDULERS)
    @pytest.mark.parametrize("ids", ["a", None])
    def test_with_an_abort(self, cls, ids):
        engine = start(cls)
        until_drafting(engine)
        status = RequestStatus.FINISHED_ABORTED
        ended = engine.scheduler.finish_requests(ids, status)
        assert [request.request_id for request in ended] == ["a"]
        assert engine.child is None
        engine.run()
        engine.assert_idle()

    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_with_the_length_of_the_request(self, cls):
        engine = FakeEngine(make_scheduler(cls), Script(reasoning=90))
        engine.add("a", max_tokens=80, ssr={"draft_budget": [40]})
        until_drafting(engine)
        engine.run(lambda: engine.finished)
        assert engine.finished == {"a": "length"}
        assert engine.child is None
        ends = [d["finish_reason"] for d in engine.reports["a"]["drafts"]]
        assert ends == ["cut"]
        engine.run()
        engine.assert_idle()

    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_with_a_preemption(self, cls):
        engine = start(cls)
        until_drafting(engine)
        engine.scheduler.reset_prefix_cache(reset_running_requests=True)
        assert end(engine) == ["preempted"]

    @pytest.mark.parametrize("policy", ["fcfs", "priority"])
    def test_when_the_cache_is_full(self, policy):
        engine = start(model=Script(200, 60), policy=policy, num_blocks=60)
        child = until_drafting(engine)
        pool = engine.scheduler.kv_cache_manager.block_pool
        taken = pool.get_new_blocks(pool.get_num_free_blocks())
        engine.run(lambda: child not in engine.scheduler.requests)
        assert engine.scheduler.requests["a"].num_preemptions == 0
        pool.free_blocks(taken)
        assert end(engine) == ["preempted"]

    @pytest.mark.parametrize("cls", SCHEDULERS)
    def test_when_others_wait(self, cls):
        engine = start(cls, max_num_seqs=2)
        until_drafting(engine)
        engine.add("b")
        engine.step()
        assert engine.child is None
        assert "b" in {r.request_id for r in engine.scheduler.running}
        assert end(engine) == ["dropped"]
