"""Agents on a real engine: the prefix stays cached, statistics add up."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from pydantic import BaseModel

from langchain_ssr import (
    DraftText,
    SpeculationStats,
    SpeculationTotals,
    get_speculation_callback,
)
from langchain_ssr.middleware import SpeculationMiddleware
from tests.integration_tests.conftest import REASONING_MODEL, EnginePool

pytestmark = pytest.mark.engine

BLOCK = 32
"""Tokens of a cache block; only whole blocks are cached."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "agent.py"


def count_items(shelf: int, *, broken: bool) -> int:
    """Count the items on a shelf."""
    raise NotImplementedError


@pytest.mark.kind(12)
def test_cached_tokens_grow_over_the_turns_of_a_tool_loop(pool: EnginePool) -> None:
    llm = pool.model(REASONING_MODEL, thinking_budget=40, max_tokens=150).bind_tools(
        [count_items], tool_choice="count_items"
    )
    messages: list[BaseMessage] = [HumanMessage("Count the items on shelf 3.")]
    before, cached = 0, [-1]
    for _ in range(4):
        answer = llm.invoke(messages)
        assert answer.additional_kwargs["reasoning_content"]
        usage = answer.usage_metadata
        cached.append(usage["input_token_details"]["cache_read"])
        assert cached[-1] >= before // BLOCK * BLOCK  # all of the turn before
        before = usage["input_tokens"]
        (call,) = answer.tool_calls
        messages += [answer, ToolMessage("8", tool_call_id=call["id"])]
    assert cached == sorted(set(cached))
    assert cached[-1] > 0


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_sums(parts: list[dict[str, Any]], total: dict[str, Any]) -> None:
    """Every count of the total is the sum of its parts; rates are left out."""
    for name, value in total.items():
        if isinstance(value, dict):
            assert_sums([part.get(name, {}) for part in parts], value)
        elif isinstance(value, int):
            assert sum(part.get(name, 0) for part in parts) == value, name


def test_the_example_calls_both_tools_and_its_calls_sum_to_the_total(
    pool: EnginePool, example: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    pool.close()  # one engine at a time, and the example starts its own
    example.main(["--json", "--model", REASONING_MODEL])
    told = json.loads(capfd.readouterr().out)
    assert set(told["tools"]) == {"write_file", "run_tests"}
    assert "class" in told["files"]["playlist.py"]
    assert len(told["calls"]) == told["total"]["num_responses"] >= 3
    assert told["total"]["num_drafts"] > 0
    assert_sums(told["calls"], told["total"])
    assert told["cached_tokens"] == sorted(told["cached_tokens"])
    assert told["cached_tokens"][-1] > told["cached_tokens"][0]


def test_early_drafts_reach_hooks_and_the_custom_stream_of_an_agent(
    pool: EnginePool, example: ModuleType
) -> None:
    llm = pool.model(
        REASONING_MODEL,
        max_tokens=1500,
        draft_budget=64,
        stream_drafts=True,
        engine_kwargs={"max_model_len": 4096},
    )
    agent = create_agent(llm, example.make_tools({}))
    question = {"messages": [HumanMessage(example.TASK)]}
    heard: list[DraftText] = []
    with get_speculation_callback(on_draft=heard.append) as callback:
        custom = agent.stream(question, {"recursion_limit": 20}, stream_mode="custom")
        written = list(custom)
    assert "".join(draft.text for draft in heard).strip()
    assert written == [
        {"type": "ssr_draft", "index": draft.index, "text": draft.text}
        for draft in heard
    ]
    assert callback.total.num_drafts > 0


@pytest.mark.kind(19)
def test_each_call_of_an_agent_tells_its_input_once(
    pool: EnginePool, example: ModuleType
) -> None:
    settings = {"max_tokens": 1500, "engine_kwargs": {"max_model_len": 4096}}
    agent = create_agent(
        pool.model(REASONING_MODEL, **settings), example.make_tools({})
    )
    question = {"messages": [HumanMessage(example.TASK)]}
    told: dict[str, list[Any]] = {}
    for chunk, _ in agent.stream(
        question, {"recursion_limit": 20}, stream_mode="messages"
    ):
        if isinstance(chunk, AIMessageChunk) and chunk.usage_metadata:
            told.setdefault(str(chunk.id), []).append(chunk.usage_metadata)
    assert len(told) >= 3
    for usages in told.values():
        assert len([u for u in usages if u["input_tokens"]]) == 1
        (usage,) = usages
        details = usage["output_token_details"]
        assert 0 < details["reasoning"] <= usage["output_tokens"]


class Verdict(BaseModel):
    """What a review says."""

    passed: bool


def test_an_agent_answers_in_a_format_by_the_native_way(pool: EnginePool) -> None:
    """The engine's grammar holds to the schema, tools beside it, thinking on."""
    settings = {"max_tokens": 900, "draft_budget": 16}
    llm = pool.model(REASONING_MODEL, **settings, engine_kwargs={"max_model_len": 4096})
    assert llm.profile["structured_output"] is True
    agent = create_agent(llm, [count_items], response_format=Verdict)
    question = "Is 7 an even number? Answer in JSON with the key `passed`."
    state = agent.invoke({"messages": [HumanMessage(question)]}, {"recursion_limit": 9})
    assert isinstance(state["structured_response"], Verdict)
    answer = state["messages"][-1]
    assert isinstance(answer, AIMessage)
    assert answer.tool_calls == []
    assert Verdict.model_validate_json(answer.text)
    assert answer.additional_kwargs["reasoning_content"].strip()


def test_the_middleware_sets_each_step_and_adds_up_the_turn(
    pool: EnginePool, example: ModuleType
) -> None:
    settings = {"max_tokens": 1500, "engine_kwargs": {"max_model_len": 4096}}
    llm = pool.model(REASONING_MODEL, draft_budget=128, **settings)

    def of_step(step: int, state: Mapping[str, Any]) -> dict[str, Any]:
        return {"draft_budget": [64]} if step == 0 else {"speculation": False}

    speculation = SpeculationMiddleware(of_step)
    agent = create_agent(llm, example.make_tools({}), middleware=[speculation])
    question = {"messages": [HumanMessage(example.TASK)]}
    state = agent.invoke(question, {"recursion_limit": 20})
    said = [message for message in state["messages"] if message.type == "ai"]
    first, *later = [SpeculationStats.from_message(message) for message in said]
    assert [draft["budget"] for draft in first.drafts] == [64]
    assert later
    assert {stats.reason for stats in later} == {"disabled"}
    total = SpeculationTotals.of_messages(said).to_dict()
    assert state["speculation"] == total
    assert total["num_saved_steps"] == first.num_saved_steps > 0
