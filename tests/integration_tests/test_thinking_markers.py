"""Markers anywhere, with a thinking budget: forced where a plain engine forces.

vLLM's own count decides, once a step without proposals and once a step with them. What
is proposed here comes from a model that is known, and is wrong now and then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

pytest.importorskip("vllm")

import torch
from vllm import SamplingParams
from vllm.config.reasoning import ReasoningConfig
from vllm.v1.sample.logits_processor.interface import BatchUpdate
from vllm.v1.sample.thinking_budget_state import ThinkingBudgetStateHolder

from langchain_ssr.engine.lifecycle import Lifecycle, Markers, Phase
from langchain_ssr.engine.thinking_budgets import ThinkingBudgets
from langchain_ssr.engine.thinking_count import ThinkingCount

pytestmark = pytest.mark.engine

START, END, X = 1, 2, 3
VOCABULARY, LENGTH, MOST = 8, 80, 8
CLOSES = {"one": (END,), "after": (X, END), "before": (END, X)}
"""What vLLM forces at the end of a budget, around the marker."""

Model = Callable[[int], int]
Places = Mapping[int, int]
Propose = Callable[[list[int], ThinkingCount], list[int]]


def scripted(seed: int, places: Places) -> Model:
    """Say what is at its place, and words between."""
    words = random.Random(seed).choices(range(5, VOCABULARY), k=LENGTH + MOST + 1)
    return lambda at: places.get(at, words[at])


def forced(holder, rows, proposal, *, bonus):
    """Return the tokens that are forced, by row of the logits."""
    logits = torch.zeros(rows, VOCABULARY)
    holder.apply_to_logits(logits, bonus, [proposal])
    return {row: int(logits[row].argmax()) for row in range(rows) if logits[row].any()}


@dataclass(frozen=True)
class Request:
    markers: Markers
    prompt: list[int]
    budget: int
    model: Model


def run(holder, request: Request, propose: Propose | None = None) -> list[int]:
    """Generate; what is proposed is verified as vLLM's rejection sampler does."""
    out: list[int] = []
    prompt, markers, model = request.prompt, request.markers, request.model
    params = SamplingParams(thinking_token_budget=request.budget)
    holder.sync_batch(BatchUpdate(1, [], [(0, params, prompt, out)], []))
    count = ThinkingCount(markers, prompt, request.budget)
    lifecycle = Lifecycle(markers, prompt)
    while len(out) < LENGTH:
        may_propose = propose and lifecycle.phase is not Phase.OPENING
        proposal = propose(out, count) if may_propose else []
        holder.update_state([out], [proposal])
        bonus = forced(holder, 1, proposal, bonus=bool(proposal))
        among = forced(holder, len(proposal), proposal, bonus=False) if proposal else {}
        new = []
        for at, token in enumerate(proposal):
            new.append(among.get(at, model(len(out) + at)))
            if new[-1] != token:
                break
        else:
            new.append(bonus.get(0, model(len(out) + len(proposal))))
        out += new
        count.advance(new)
        lifecycle.advance(new)
    return out[:LENGTH]


def make(cls, markers, num_proposed):
    config = ReasoningConfig.__new__(ReasoningConfig)
    object.__setattr__(config, "_reasoning_start_token_ids", list(markers.start))
    object.__setattr__(config, "_reasoning_end_token_ids", list(markers.close))
    return cls(config, 1, num_proposed, torch.device("cpu"), False)  # noqa: FBT003


def opens_itself(draw: random.Random, budget: int) -> Places:
    return {draw.choice([0, 3]): START}


def ends_and_opens_again(draw: random.Random, budget: int) -> Places:
    end = draw.randint(1, budget + 3)
    again = end + draw.randint(1, 9)
    return {end: END, again: START, again + draw.randint(5, 20): END}


def opens_after_a_forced_end(draw: random.Random, budget: int) -> Places:
    return {budget + draw.randint(1, 12): START}


def ends_around(draw: random.Random, budget: int) -> Places:
    end = draw.randint(1, budget + 3)
    other = draw.choice([end - 1, end + 1])
    return {other: X, end: END, end + draw.randint(2, 9): START}


OPEN, CLOSED, NONE = [5, START], [5, START, END], [5, 6]
CASES = {
    "opens itself": (NONE, opens_itself),
    "opens again": (OPEN, ends_and_opens_again),
    "opens after a forced end": (OPEN, opens_after_a_forced_end),
    "ends with more": (OPEN, ends_around),
    "closed by the prompt": (CLOSED, opens_after_a_forced_end),
}


@pytest.mark.kind(4)
@pytest.mark.kind(18)
@pytest.mark.parametrize("close", CLOSES)
@pytest.mark.parametrize("case", CASES)
def test_an_end_is_forced_where_a_plain_engine_forces_it(case, close) -> None:
    prompt, places_of = CASES[case]
    markers = Markers((START,), (END,), frozenset(), CLOSES[close])
    for seed in range(100):
        draw = random.Random(seed)
        budget = draw.randint(2, 30)
        model = scripted(seed, places_of(draw, budget))

        def propose(out, count, draw=draw, model=model):
            room = MOST if count.room is None else min(MOST, count.room)
            length = draw.randint(0, max(0, min(room, LENGTH - len(out) - 1)))
            right = [model(len(out) + at) for at in range(length)]
            return count.cut([t if draw.random() < 0.9 else 6 for t in right])

        request = Request(markers, prompt, budget, model)
        expected = run(make(ThinkingBudgetStateHolder, markers, 0), request)
        ours = make(ThinkingBudgets, markers, MOST)
        assert run(ours, request, propose) == expected, seed
