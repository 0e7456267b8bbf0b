"""Seats, cache blocks or the tokens of a step are short: real requests go first.

vLLM's own scheduler serves the same requests, and what happens when is compared. What a
fault is says watched_engine.py.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from langchain_ssr.bench.steps import DETAILS, Steps, watch
from langchain_ssr.engine.async_scheduler import SSRAsyncScheduler
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler import SSRScheduler
from tests.exactness.asking import Case, Outcome, ask_all
from tests.exactness.equality import PLAIN, compare, describe
from tests.exactness.material import few_tokens
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.fake_engine import OFTEN
from tests.integration_tests.fake_worker import EOS, VOCAB, Script
from tests.integration_tests.test_life import assert_idle
from tests.integration_tests.tiny_models import TEXT
from tests.integration_tests.watched_engine import Plan, play, prompt

pytestmark = pytest.mark.engine

both_ways = pytest.mark.parametrize(
    ("cls", "plain_cls"),
    [(SSRScheduler, Scheduler), (SSRAsyncScheduler, AsyncScheduler)],
)
WRONG = Script(drift=1)
RIGHT = Script(drift=10**6)
SHORT = OFTEN | {"max_draft_tokens": 12}
"""Drafts that find room in a short cache, too."""
ONE = {"draft_budget": [6]}
"""One draft, as long as it can be."""
NO_HASTE = {"speculate_reasoning": False}
NEVER_SAID = 5
ROOMY = {"num_blocks": 1000, "max_num_seqs": 64}


def at_once(count: int, **of: object) -> Plan:
    return [(0, f"r{i}", {"ssr": OFTEN, **of}) for i in range(count)]


def in_turn(count: int, every: int, **of: object) -> Plan:
    return [(every * i, f"r{i}", {"ssr": OFTEN, **of}) for i in range(count)]


def long_prompts(num_words: int, *at: int) -> Plan:
    off = {"ssr": {"speculation": False}, "max_tokens": 20}
    return [(i, f"L{i}", {**off, "prompt": prompt(f"L{i}", num_words)}) for i in at]


def same_prompt(num_words: int, *at: int) -> Plan:
    """Requests with one long prompt, whose cache blocks they share."""
    of = {"ssr": SHORT, "prompt": prompt("shared", num_words)}
    return [(i, f"S{i}", dict(of)) for i in at]


def grammars(*at: int) -> Plan:
    off = {"ssr": {"speculation": False}, "max_tokens": 20, "regex": "[a-d]{40}"}
    return [(i, f"G{i}", {**off, "prompt": prompt(f"G{i}", 20)}) for i in at]


def ranked(plan: Plan) -> Plan:
    return [(at, name, {**of, "priority": -at}) for at, name, of in plan]


def later(engine, plain, of="first"):
    """Say which requests got their first or last token in a later step."""
    ours, theirs = getattr(engine, of), getattr(plain, of)
    return {k: (ours[k], theirs[k]) for k in ours if ours[k] > theirs[k]}


PRIORITY = {"policy": "priority", "num_blocks": 56, "max_num_seqs": 8}
LOADS = {
    "32_roomy": (at_once(32), ROOMY),
    "32_small_steps": (at_once(32), ROOMY | {"step_tokens": 64}),
    "32_tiny_steps": (at_once(32), ROOMY | {"step_tokens": 40}),
    "32_short_cache": (at_once(32), ROOMY | {"num_blocks": 150}),
    "64_on_16_seats": (at_once(64), {"num_blocks": 1000}),
    "64_small_steps": (at_once(64), ROOMY | {"step_tokens": 100}),
    "8_short_cache": (at_once(8, ssr=SHORT), {"num_blocks": 48}),
    "8_shorter_cache": (at_once(8, ssr=SHORT), {"num_blocks": 30}),
    "cache_filled_in_turn": (in_turn(8, 9, ssr=SHORT), {"num_blocks": 56}),
    "seats_filled_in_turn": (in_turn(9, 12), {"max_num_seqs": 4}),
    "long_prompts": (at_once(6) + long_prompts(200, 20, 30, 45), {"step_tokens": 48}),
    "long_prompts_small_steps": (
        at_once(6) + long_prompts(200, 20, 30, 45),
        {"step_tokens": 32},
    ),
    "long_prompts_short_cache": (
        at_once(4, ssr=SHORT) + long_prompts(300, 12, 40),
        {"num_blocks": 64},
    ),
    "priority": (ranked(in_turn(9, 6, ssr=SHORT)), PRIORITY),
    "grammars_small_steps": (
        at_once(6) + grammars(20, 31, 33, 47),
        {"step_tokens": 40},
    ),
    "shared_prompt": (
        same_prompt(300, 0, 9, 14, 18, 26, 33, 41, 42, 50),
        {"num_blocks": 64, "step_tokens": 40},
    ),
}

NO_DRAFTS = {"32_short_cache", "64_on_16_seats", "64_small_steps", "8_shorter_cache"}
"""Loads that leave no room for any."""


@pytest.mark.parametrize("load", LOADS)
def test_what_is_never_right_changes_nothing(load, monkeypatch):
    """All is as if there were no drafts and no proposals, step by step."""
    monkeypatch.setattr(
        RequestState, "propose", lambda _, limit, __: [NEVER_SAID] * limit
    )
    plan, limits = LOADS[load]
    engine = play(SSRScheduler, plan, **limits)
    plain = play(Scheduler, plan, **limits)
    assert not engine.faults
    assert engine.tokens == plain.tokens
    assert engine.preempted == plain.preempted
    assert engine.first == plain.first
    assert engine.last == plain.last
    assert len(engine.schedules) == len(plain.schedules)
    assert any(map(engine.proposed, engine.tokens))
    assert bool(engine.forked) is (load not in NO_DRAFTS)


def next_word(tokens: Sequence[int]) -> int:
    """A model that does not think, and never says the same word twice."""
    return tokens[-1] + 1 if tokens[-1] + 1 < VOCAB else EOS


@both_ways
@pytest.mark.parametrize("ssr", [{}, {"speculation": False}], ids=["on", "off"])
@pytest.mark.parametrize("limits", [ROOMY, {"step_tokens": 40}, {"num_blocks": 60}])
def test_with_nothing_to_draft_each_step_is_that_of_the_plain_engine(
    cls, plain_cls, ssr, limits
):
    plan = in_turn(12, 3, ssr=ssr, prompt=[50, 51, 52, 53])
    engine = play(cls, plan, next_word, **limits)
    plain = play(plain_cls, plan, next_word, **limits)
    assert engine.tokens == plain.tokens
    assert all(len(tokens) == VOCAB - 53 for tokens in engine.tokens.values())
    ours, theirs = (
        [step.num_scheduled_tokens for step in each.schedules]
        for each in (engine, plain)
    )
    assert ours == theirs


@pytest.mark.parametrize("model", [RIGHT, WRONG], ids=["right", "wrong"])
@pytest.mark.parametrize("load", LOADS)
def test_steps_are_at_most_those_of_the_plain_engine(load, model):
    plan, limits = LOADS[load]
    engine = play(SSRScheduler, plan, model, **limits)
    plain = play(Scheduler, plan, model, **limits)
    assert not engine.faults
    assert engine.tokens == plain.tokens
    assert len(engine.schedules) <= len(plain.schedules)
    assert not later(engine, plain)
    assert not later(engine, plain, "last")


@pytest.mark.parametrize("load", LOADS)
def test_no_fault_with_the_asynchronous_scheduler(load):
    plan, limits = LOADS[load]
    engine = play(SSRAsyncScheduler, plan, **limits)
    assert not engine.faults
    assert engine.tokens == play(AsyncScheduler, plan, **limits).tokens


@both_ways
def test_all_seats_are_taken(cls, plain_cls):
    """Nobody is drafted for while others wait, and all say why."""
    plan, limits = LOADS["64_on_16_seats"]
    engine = play(cls, plan, **limits)
    assert engine.tokens == play(plain_cls, plan, **limits).tokens
    assert not engine.forked
    assert {report["reason"] for report in engine.reports.values()} == {"busy"}


@both_ways
def test_who_comes_finds_a_seat_at_once(cls, plain_cls):
    """Drafts have the other seats."""
    model = Script(reasoning=90, answer=150)
    plan = in_turn(4, 15, ssr=ONE)
    engine = play(cls, plan, model, max_num_seqs=4)
    plain = play(plain_cls, plan, model, max_num_seqs=4)
    reports = [engine.reports[f"r{i}"] for i in range(3)]
    ends = [draft["finish_reason"] for r in reports for draft in r["drafts"]]
    assert ends == ["dropped"] * 3
    assert engine.first == plain.first
    assert not engine.faults


@both_ways
@pytest.mark.parametrize("policy", ["fcfs", "priority"])
def test_a_parent_outgrows_the_cache_beside_its_draft(cls, plain_cls, policy):
    """The parent alone just fits; a draft is worth less than the least request."""
    model = Script(reasoning=330, answer=300)
    settings = {"draft_budget": [80], "max_draft_tokens": 200} | NO_HASTE
    plan = at_once(1, ssr=settings, max_tokens=450, priority=10**9)
    engine = play(cls, plan, model, num_blocks=32, policy=policy)
    plain = play(plain_cls, plan, model, num_blocks=32)
    ends = [draft["finish_reason"] for draft in engine.reports["r0"]["drafts"]]
    assert ends == ["preempted"]
    assert not engine.preempted
    assert not engine.faults
    assert engine.tokens == plain.tokens


@both_ways
def test_who_comes_gets_the_blocks_of_drafts(cls, plain_cls):
    """Its prompt fits the cache without them only."""
    model = Script(reasoning=120, answer=90)
    settings = {"draft_budget": [6], "max_draft_tokens": 100} | NO_HASTE
    plan = at_once(3, ssr=settings) + long_prompts(430, 60)
    engine = play(cls, plan, model, num_blocks=58)
    plain = play(plain_cls, plan, model, num_blocks=58)
    ends = [engine.reports[f"r{i}"]["drafts"][0]["finish_reason"] for i in range(3)]
    assert ends == ["dropped"] * 3
    assert engine.first["L60"] == plain.first["L60"]
    assert not engine.preempted
    assert not engine.faults


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("cls", [SSRScheduler, SSRAsyncScheduler])
def test_no_fault_under_random_loads(cls, seed):
    rng = random.Random(seed)
    plan = [
        (
            rng.randint(0, 60),
            f"r{i}",
            {
                "ssr": rng.choice([OFTEN, SHORT, ONE]),
                "prompt": prompt(f"r{i}", rng.choice([5, 30, 90, 150])),
                "priority": rng.randint(0, 2),
            },
        )
        for i in range(12)
    ]
    engine = play(
        cls,
        plan,
        rng.choice([None, RIGHT, WRONG]),
        step_tokens=rng.choice([24, 48, 96, 256]),
        num_blocks=rng.choice([60, 80, 100, 130]),
        max_num_seqs=rng.choice([4, 8, 16]),
        policy=rng.choice(["fcfs", "priority"]),
    )
    assert not engine.faults


WATCHED = {**PLAIN, **DETAILS}
"""Settings of an engine whose logprobs say what a tie is, and that tells its steps."""


def long_cases(count: int) -> list[Case]:
    settings = {
        "max_tokens": 60,
        "thinking_budget": 30,
        "enable_thinking": True,
        **few_tokens(TEXT),
    }
    return [Case(f"hello {i}", settings, {"draft_budget": 10}) for i in range(count)]


def plainly(case: Case) -> Case:
    return replace(case, settings={**case.settings, "speculation": False})


@pytest.mark.embedded
@pytest.mark.parametrize("count", [12, 32, 64])
def test_a_real_engine_takes_fewer_steps(pool: EnginePool, count: int) -> None:
    """On 32 seats: with drafts beside, with none free, and with requests that wait.

    The steps are the engine's own, those that compute only a draft among them.
    """
    llm = pool.model("qwen3", engine_kwargs=WATCHED)
    log, cases = watch(llm), long_cases(count)

    def ask(cases: list[Case], *, speculate: bool) -> tuple[list[Outcome], Steps]:
        before = log.total
        asked = ask_all(llm, cases, speculate=speculate, at_once=count)
        answers = asyncio.run(asked)
        assert_idle(llm)
        return answers, log.total - before

    plain, plain_steps = ask([plainly(case) for case in cases], speculate=False)
    ours, steps = ask(cases, speculate=True)
    for case, one, other in zip(cases, plain, ours, strict=True):
        assert compare(one, other) != "different", describe(case, one, other)
    assert 0 < steps.num_steps <= plain_steps.num_steps
    if count == 12:
        assert any(answer.speculation["drafts"] for answer in ours)
