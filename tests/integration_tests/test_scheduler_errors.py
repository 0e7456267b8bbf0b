"""A bug of ours, or nonsense from a client, costs the speed-up and nothing else."""

from __future__ import annotations

import json

import pytest
from vllm.v1.core.sched.scheduler import Scheduler

from langchain_ssr.engine import admission, fork, limits, reporting
from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler import SSRScheduler
from langchain_ssr.engine.step_cost import StepCost
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run,
    run_plain,
    several,
)
from tests.integration_tests.fake_worker import EOS

pytestmark = pytest.mark.engine

HOOKS = [
    (RequestState, name)
    for name in (
        "__init__",
        "propose",
        "advance",
        "extend_draft",
        "draft_due",
        "begin_draft",
        "end_draft",
        "count_proposal",
        "earlier_drafts",
    )
] + [
    (reporting, "make_report"),
    (fork, "make_child"),
    (fork, "child_prompt"),
    (fork, "max_child_tokens"),
    (admission, "has_room"),
    (admission, "others_wait"),
    (limits, "max_proposal"),
    (limits, "cut"),
    (Matcher, "extend_reasoning"),
    (Matcher, "extend_answer"),
    (StepCost, "begin"),
    (StepCost, "end"),
    (Scheduler, "add_request"),
]


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook[1])
@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_bug_costs_only_the_speed(cls, hook, after, monkeypatch):
    owner, name = hook
    plain = run_plain(several(6))
    engine = FakeEngine(make_scheduler(cls))
    real, calls = getattr(owner, name), []

    def broken(*args, **kwargs):
        calls.append(name)
        mine = (
            name != "add_request" or args[1].request_id in engine.scheduler._parent_of
        )
        if mine and len(calls) > after:
            raise RuntimeError("injected")
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, broken)
    several(6, ssr=OFTEN)(engine)
    engine.run()
    assert engine.tokens == plain.tokens
    assert engine.finished == plain.finished
    engine.assert_idle()
    failed = {k for k, v in engine.reports.items() if v["reason"] == "error"}
    if name != "__init__":  # the state that says so is one, too
        assert failed
    assert all(engine.reports[k]["mode"] == "off" for k in failed)


@pytest.mark.parametrize(
    "ssr",
    [
        "no JSON",
        "",
        "[1]",
        "null",
        "3",
        '"text"',
        "NaN",
        *map(
            json.dumps,
            (
                {"unknown": 1},
                {"draft_budget": "10"},
                {"draft_budget": [5, 3]},
                {"speculation": 1},
                {"num_speculative_tokens": 10**9},
                {"prediction_token_ids": "text"},
                {"prediction_token_ids": 7},
                {"prediction_token_ids": [-1, 10**9, "x", None, 1.5, []]},
                {"asked": "perhaps", "reason": {"a": [1]}},
                {"reason": 3},
            ),
        ),
        7,
        ["x"],
        b"x",
    ],
    ids=repr,
)
def test_bad_settings_never_raise(ssr):
    engine = run(SSRScheduler, several(2, ssr=ssr))
    for report in engine.reports.values():
        json.dumps(report)


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_failure_in_the_last_step_is_reported(cls, monkeypatch):
    real = RequestState.advance

    def broken(state, tokens, num_accepted):
        if EOS in tokens:
            raise RuntimeError("injected")
        return real(state, tokens, num_accepted)

    monkeypatch.setattr(RequestState, "advance", broken)
    engine = run(cls, several(2))
    assert [r["reason"] for r in engine.reports.values()] == ["error", "error"]


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_failure_spares_the_other_requests(cls, monkeypatch):
    real = RequestState.advance

    def broken(state, tokens, num_accepted):
        if state is engine.scheduler._states.get("r1"):
            raise RuntimeError("injected")
        return real(state, tokens, num_accepted)

    monkeypatch.setattr(RequestState, "advance", broken)
    engine = FakeEngine(make_scheduler(cls))
    several(3, ssr={"max_drafts": 1})(engine)
    engine.run()
    engine.assert_idle()
    reasons = {k: report["reason"] for k, report in engine.reports.items()}
    assert reasons == {"r0": None, "r1": "error", "r2": None}
    assert engine.tokens == run_plain(several(3)).tokens
