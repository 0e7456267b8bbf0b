"""Speculation never changes an answer: float32, greedy, under the tie rule.

Every case is answered by a stock vLLM engine, once, and then by SSR, alone and eight at
a time. What must be 0 is `different`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from langchain_ssr import ChatSSR
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.equality import (
    Answer,
    Case,
    Tally,
    ask_all,
    check_invariants,
)
from tests.integration_tests.test_life import assert_idle

pytestmark = pytest.mark.engine

PROMPTS = (
    "hello there",
    "Tell me more about it, and then some.",
    "What is 2+2? Count to ten: 1 2 3 4",
)
TASK = "Write a Python class for a stack with push, pop and peek."
K = 128
DRAFTS: tuple[dict[str, Any], ...] = (
    {"draft_budget": 16, "iterative": False},
    {"draft_budget": 12},
    {"draft_budget": [5, 20, 35], "speculation_stats": "detailed"},
    {"draft_budget": 10, "num_speculative_tokens": 1},
    {"draft_budget": 10, "num_speculative_tokens": 8, "draft_temperature": 1.0},
    {"draft_budget": 16, "num_speculative_tokens": 32, "max_draft_tokens": 9},
    {"draft_budget": 16, "speculate_reasoning": False},
    {"max_drafts": 0},
    {"prediction": "aaaa bbbb 1 2 3 4 5 6 7 8 hello there hello there"},
    {"speculation": False},
)
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "point",
        "schema": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "ok": {"type": "boolean"}},
            "required": ["x", "ok"],
            "additionalProperties": False,
        },
    },
}
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
        },
    },
}


def few_tokens(first: int, *special: int) -> dict[str, Any]:
    """Leave the model so few tokens that it ends reasoning and answer by itself."""
    return {"allowed_token_ids": [*special, *range(first, first + 9)]}


# Token ids of the tiny models' tokenizers, see tiny_models.py.
IM_END, THINK_END, TOOL_CALL, TEXT = 1, 3, 4, 70
GEMMA_END, CHANNEL_END, GEMMA_TEXT = 4, 6, 75


def settings_for(shape: str) -> list[dict[str, Any]]:
    """Sampling settings that reach every kind of end."""
    if shape == "smollm2":
        return [
            {"max_tokens": 80, "thinking_budget": 40},
            {"max_tokens": 30, "thinking_budget": 60},
            {"max_tokens": 80, "thinking_budget": 40, "response_format": SCHEMA},
        ]
    eos, end, text = IM_END, THINK_END, TEXT
    if shape == "gemma4":
        eos, end, text = GEMMA_END, CHANNEL_END, GEMMA_TEXT
    thinking = {"max_tokens": 120, "thinking_budget": 40}
    own = {"max_tokens": 160, "extra_body": few_tokens(text, end)}
    both = {"max_tokens": 200, "extra_body": few_tokens(text, end, eos)}
    every = [
        thinking,
        {"max_tokens": 30, "thinking_budget": 60},  # ends while thinking
        {"max_tokens": 45, "thinking_budget": 40},  # ends in the draft's first part
        own,  # reasoning ends by itself
        both,  # and so does the answer
        {**thinking, "frequency_penalty": 0.7, "repetition_penalty": 1.1},
        {**thinking, "enable_thinking": False},
    ]
    if shape == "qwen3":
        tool = few_tokens(TEXT, TOOL_CALL)
        every += [
            {"max_tokens": 90, "extra_body": tool, "tools": [TOOL]},
            {**thinking, "stop": ["\x00never"]},
            {**own, "stop": ["A", "F"]},
            {**thinking, "response_format": SCHEMA},
            {**thinking, "tools": [TOOL], "tool_choice": "required"},
            {**thinking, "extra_body": {"min_tokens": 60, "ignore_eos": True}},
            {**thinking, "temperature": 1.0, "top_k": 1},
            {**thinking, "temperature": 1.0, "top_k": 1, "n": 2},  # greedy takes n=1
        ]
    return every


def cases_for(shape: str, prompts: int) -> list[Case]:
    """Every sampling setting with every draft setting, prompts in turn."""
    turn = itertools.cycle([TASK] if shape == "smollm2" else PROMPTS[:prompts])
    drafts = DRAFTS if shape == "qwen3" else DRAFTS[::2]
    return [
        Case(next(turn), settings, ssr)
        for settings in settings_for(shape)
        for ssr in drafts
    ]


class Plain:
    """Answers of the stock engine, each asked for once."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], Answer] = {}

    def get(self, shape: str, case: Case) -> Answer:
        return self._answers[shape, case.plain_key]

    def ask(self, llm: ChatSSR, shape: str, cases: list[Case]) -> None:
        new = {
            case.plain_key: case
            for case in cases
            if (shape, case.plain_key) not in self._answers
        }
        answers = asyncio.run(
            ask_all(llm, list(new.values()), speculate=False, at_once=1)
        )
        for key, answer in zip(new, answers, strict=True):
            assert answer.speculation["mode"] == "off"
            self._answers[shape, key] = answer


@pytest.fixture(scope="module")
def plain() -> Plain:
    return Plain()


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    total = Tally()
    yield total
    print("\nequality:", json.dumps(dict(total.counts)))  # noqa: T201


def check(
    tally: Tally, plain: Plain, shape: str, cases: list[Case], answers: list[Answer]
) -> None:
    own = Tally()
    for case, answer in zip(cases, answers, strict=True):
        expected = plain.get(shape, case)
        own.add(case, expected, answer)
        tally.add(case, expected, answer)
        check_invariants(answer)
    assert not own.different, "\n".join(own.different[:5])


SHAPES = ("qwen3", "llama", "gemma4", "smollm2")


def reasoning_engine(shape: str) -> dict[str, Any]:
    if shape == "llama":
        return {"reasoning_parser": "qwen3", "tool_call_parser": "hermes"}
    return {}


@pytest.mark.parametrize("shape", SHAPES)
def test_equal_to_the_stock_engine(
    pool: EnginePool, plain: Plain, tally: Tally, shape: str
) -> None:
    cases = cases_for(shape, 3 if shape == "qwen3" else 1)
    settings = {"enable_thinking": True, "engine_kwargs": reasoning_engine(shape)}
    plain.ask(pool.model(shape, speculation=False, **settings), shape, cases)
    llm = pool.model(shape, num_speculative_tokens=K, **settings)
    together = asyncio.run(ask_all(llm, cases, speculate=True))
    check(tally, plain, shape, cases, together)
    alone = cases[:: 7 if shape == "qwen3" else 11]
    answers = asyncio.run(ask_all(llm, alone, speculate=True, at_once=1))
    check(tally, plain, shape, alone, answers)
    drafted = [a for a in together if a.speculation["drafts"]]
    assert len(drafted) > len(cases) / 4
    saved = sum(a.speculation["num_saved_steps"] for a in together)
    assert saved > 0
    assert_idle(llm)


@pytest.mark.parametrize(
    "engine",
    [
        {"enable_prefix_caching": False, "max_num_seqs": 3},
        {"num_gpu_blocks_override": 14, "max_num_seqs": 6},
        {"max_num_batched_tokens": 40, "max_num_seqs": 8},
    ],
    ids=["no prefix caching, few slots", "a dozen blocks", "tiny chunks"],
)
def test_equal_under_pressure(
    pool: EnginePool, plain: Plain, tally: Tally, engine: dict[str, Any]
) -> None:
    shape = "qwen3"
    cases = cases_for(shape, 3)[::3]
    if "num_gpu_blocks_override" in engine:  # prompts with tools do not fit
        cases = [case for case in cases if "tools" not in case.settings]
        engine = {**engine, "max_model_len": 384}
    llm = pool.model(shape, engine_kwargs=engine, enable_thinking=True)
    missing = [c for c in cases if (shape, c.plain_key) not in plain._answers]
    assert not missing, "runs after test_equal_to_the_stock_engine"
    answers = asyncio.run(ask_all(llm, cases, speculate=True))
    check(tally, plain, shape, cases, answers)
    assert_idle(llm)
