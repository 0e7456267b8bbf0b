"""The equality matrix itself: its requests, its engines, its kinds of end."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

from langchain_ssr import ChatSSR
from tests.exactness.asking import Case, Choice, build_request
from tests.exactness.cases import SPECULATION, cases_for
from tests.exactness.ends import how_it_ended
from tests.exactness.engines import ENGINES, GRID
from tests.exactness.grid import choose
from tests.exactness.material import MAX_MODEL_LEN
from tests.integration_tests import tiny_models as tiny

CHATML = tiny.THINK_END, tiny.TOOL_CALL
TEXT = tiny.TEXT


@pytest.mark.parametrize("shape", ["qwen3", "gemma4", "demo"])
def test_vllm_takes_every_request(shape: str) -> None:
    llm = ChatSSR(model="m/m", temperature=0, max_tokens=None, enable_thinking=True)
    for case in cases_for(shape):
        request = build_request(llm, case, speculate=True)
        ChatCompletionRequest(**request).to_sampling_params(MAX_MODEL_LEN, {})


def test_settings_reach_the_request() -> None:
    case = Case(
        "hello",
        {"max_tokens": 5, "extra_body": {"min_tokens": 3}, "tool_choice": "required"},
        {"draft_budget": 7, "extra_body": {"logprobs": False}},
        adapter="adapter",
    )
    llm = ChatSSR(model="m/m")
    plain = build_request(llm, case, speculate=False)
    assert (plain["logprobs"], plain["top_logprobs"]) == (True, 5)
    assert "draft_budget" not in json.loads(plain["vllm_xargs"]["ssr"])
    request = build_request(llm, case, speculate=True)
    assert (request["logprobs"], "top_logprobs" in request) == (False, False)
    assert (request["min_tokens"], request["model"]) == (3, "adapter")
    assert json.loads(request["vllm_xargs"]["ssr"])["draft_budget"] == 7


@pytest.mark.parametrize("shape", ["qwen3", "gemma4"])
def test_any_two_settings_meet_in_every_other_case(shape: str) -> None:
    cases = cases_for(shape)
    pairs = {
        pair
        for case in cases[::2]
        for pair in itertools.combinations(case.label.split(", "), 2)
    }
    for axis, values in SPECULATION.items():
        for value in values:
            for end in ("budget", "itself", "call", "context", "zero"):
                assert (f"end {end}", f"{axis} {value}") in pairs
    for one, other in zip(cases[::2], cases[1::2], strict=True):
        assert one.plain_key == other.plain_key


def test_the_grid_is_big_enough() -> None:
    numbers = {
        (shape, name): len(choose(shape, ENGINES[name]))
        for shape, names in GRID.items()
        for name in names
        if shape != "demo"
    }
    assert sum(numbers.values()) >= 2000
    assert min(numbers.values()) >= 20
    assert set(itertools.chain(*GRID.values())) == set(ENGINES)


def test_a_limit_spreads_over_all_cases() -> None:
    every = cases_for("qwen3")
    half = choose("qwen3", ENGINES["roomy"], len(every) // 2)
    assert half == list(every[::2])
    assert len(choose("qwen3", ENGINES["roomy"], 7)) == 7


def test_every_other_request_uses_the_adapter() -> None:
    adapters = [case.adapter for case in choose("qwen3", ENGINES["LoRA"])]
    assert adapters[::2] == ["adapter"] * len(adapters[::2])
    assert set(adapters[1::2]) == {None}


@pytest.mark.parametrize(
    ("settings", "token_ids", "finish", "stop", "end"),
    [
        ({"thinking_budget": 9}, [TEXT] * 9, "length", None, "thinking, length"),
        (
            {"thinking_budget": 4},
            [TEXT] * 3 + [tiny.THINK_END, TEXT],
            "length",
            None,
            "budget, length",
        ),
        (
            {"thinking_budget": 9},
            [TEXT] * 3 + [tiny.THINK_END, TEXT],
            "stop",
            None,
            "itself, end",
        ),
        ({}, [tiny.THINK_END, TEXT], "stop", "a", "itself, stop string"),
        ({}, [TEXT, TEXT], "stop", TEXT, "thinking, stop token"),
        ({}, [tiny.TOOL_CALL, tiny.THINK_END], "length", None, "call, length"),
        ({"enable_thinking": False}, [TEXT], "stop", None, "none, end"),
        ({"max_tokens": None}, [TEXT], "length", None, "thinking, context"),
        ({}, [tiny.THINK_END], "tool_calls", None, "itself, tool_calls"),
    ],
)
def test_how_an_answer_ended(
    settings: dict[str, Any], token_ids: list[int], finish: str, stop: Any, end: str
) -> None:
    case = Case("hello", {"max_tokens": 9, **settings})
    choice = Choice(token_ids, finish, stop, None, None, [], [])
    assert how_it_ended(CHATML, case, choice) == end


def test_each_short_or_crowded_engine_has_a_twin_with_room_for_drafts() -> None:
    crowded = {n: e for n, e in ENGINES.items() if not e.has_seats}
    assert set(crowded) == {
        "no prefix cache, K=1",
        "few blocks",
        "few blocks, no prefix cache",
        "tiny chunks",
        "few blocks, tiny chunks",
    }
    for name, engine in crowded.items():
        [twin] = [n for n in ENGINES if n in (f"{name}, alone", f"{name}, three")]
        assert ENGINES[twin].has_seats
        assert ENGINES[twin].engine_kwargs == engine.engine_kwargs
        # One after the other, so that one engine serves both.
        for names in GRID.values():
            if name in names:
                assert names[names.index(name) + 1] == twin


@pytest.mark.parametrize("shape", ["qwen3", "gemma4"])
def test_most_requests_can_be_speculated_and_are_greedy(shape: str) -> None:
    cases = cases_for(shape)
    speculated = [
        case
        for case in cases
        if case.ssr.get("speculation", True) and case.settings.get("n", 1) == 1
    ]
    greedy = [case for case in speculated if "temperature" not in case.settings]
    assert len(speculated) > 0.65 * len(cases)
    assert len(greedy) > 0.55 * len(speculated)
