"""An answer and its statistics do not depend on the way of asking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call
from pydantic import BaseModel

from langchain_ssr.engine.report_history import NUM_KEPT
from langchain_ssr.structured_output import response_format
from langchain_ssr.tools import convert_choice, convert_tools
from langchain_ssr.wire.requests import REASONING_KEY
from tests.integration_tests.conftest import REASONING_MODEL, EnginePool
from tests.integration_tests.parity import (
    EACH,
    FURTHER,
    Way,
    differences,
    essence,
    invoke,
)

pytestmark = pytest.mark.engine


class Place(BaseModel):
    """A place on a shelf."""

    row: int
    free: bool


def count_items(shelf: int, *, broken: bool) -> int:
    """Count the items on a shelf."""
    raise NotImplementedError


def move_item(row: int, *, quickly: bool) -> None:
    """Move an item to another row."""
    raise NotImplementedError


ASK = "Count the items on shelf 3, without broken."
LISTED = "Does the list Oslo, Lima, Porto contain Lima? Answer in one short sentence."
THINK: dict[str, Any] = {
    "enable_thinking": True,
    "thinking_budget": 40,
    "draft_budget": 12,
    "max_tokens": 90,
}
TOOLS = convert_tools([count_items, move_item])
V1 = {"output_version": "v1"}
LOOP = [
    SystemMessage("You are a helpful assistant."),
    HumanMessage(ASK),
    AIMessage(
        "",
        tool_calls=[
            tool_call(name="count_items", args={"shelf": 3, "broken": False}, id="c")
        ],
        additional_kwargs={REASONING_KEY: "The user asks for a count."},
    ),
    ToolMessage("8", tool_call_id="c"),
]


class Case(NamedTuple):
    """A call, and what its answer must show so that the comparison means something."""

    arguments: dict[str, Any]
    shows: Callable[[dict[str, Any]], object]
    messages: Sequence[BaseMessage] = (HumanMessage(ASK),)
    settings: dict[str, Any] = {}  # noqa: RUF012 - a tuple's default


def forced(choice: str, **arguments: Any) -> dict[str, Any]:
    """Arguments of a call that must end in a tool call."""
    return {
        **THINK,
        "tools": TOOLS,
        "tool_choice": convert_choice(choice, TOOLS),
        "parallel_tool_calls": False,
        **arguments,
    }


def stats(told: dict[str, Any]) -> dict[str, Any]:
    return told["response_metadata"]["speculation"]


def kinds(told: dict[str, Any]) -> list[str]:
    return [block["type"] for block in told["content_blocks"]]


def names(told: dict[str, Any]) -> list[str]:
    return [call["name"] for call in told["tool_calls"]]


def is_cut(told: dict[str, Any]) -> bool:
    return told["response_metadata"]["finish_reason"] == "length"


def has_logprobs(told: dict[str, Any]) -> bool:
    tokens = told["response_metadata"]["logprobs"]["content"]
    return len(tokens) == told["usage"]["output_tokens"]


CASES = {
    "plain": Case(
        {"enable_thinking": False, "max_tokens": 24}, lambda t: kinds(t) == ["text"]
    ),
    "thinking": Case(THINK, lambda t: stats(t)["drafts"] and t["content"]),
    "detailed": Case(
        {**THINK, "speculation_stats": "detailed"},
        lambda t: stats(t)["spans"] and stats(t)["timeline"],
    ),
    "not_speculated": Case(
        {**THINK, "speculation": False}, lambda t: stats(t)["reason"] == "disabled"
    ),
    "cut_in_thinking": Case(
        {"enable_thinking": True, "max_tokens": 9},
        lambda t: kinds(t) == ["reasoning"] and is_cut(t),
    ),
    "cut_in_the_answer": Case(
        {**THINK, "max_tokens": 46, "extra_body": {"min_tokens": 46}},
        lambda t: kinds(t) == ["reasoning", "text"] and is_cut(t),
    ),
    "cut_in_a_call": Case(
        forced("any", max_tokens=58),
        lambda t: t["invalid_tool_calls"] and not names(t) and is_cut(t),
    ),
    "any_tool": Case(forced("any"), lambda t: stats(t)["drafts"] and names(t)),
    "named_tool": Case(
        forced("move_item", enable_thinking=False),
        lambda t: names(t) == ["move_item"] and kinds(t) == ["tool_call"],
    ),
    "tool_loop": Case(
        {**THINK, "tools": TOOLS, "max_tokens": 60}, kinds, messages=LOOP
    ),
    "json_schema": Case(
        {**THINK, "response_format": response_format(Place)},
        lambda t: Place.model_validate_json(t["content"]) and stats(t)["drafts"],
    ),
    "json_mode": Case(
        {**THINK, "response_format": {"type": "json_object"}},
        lambda t: t["content"].startswith("{"),
    ),
    "logprobs": Case({**THINK, "top_logprobs": 2, "max_tokens": 50}, has_logprobs),
    "stop": Case(
        {**THINK, "stop": ["h", "3"]},  # "Yes, Lima is there."
        lambda t: (
            t["response_metadata"]["stop_reason"] in {"h", "3"}
            and stats(t)["speculative_decoding"]
        ),
        messages=[HumanMessage(LISTED)],
    ),
    "prediction": Case(
        {**THINK, "prediction": "The shelf 3 is counted without broken items."},
        lambda t: stats(t)["sources"]["prediction"]["num_draft_tokens"],
    ),
    "sampled": Case(
        {**THINK, "temperature": 0.8, "top_p": 0.9, "seed": 7}, lambda t: t["content"]
    ),
    "v1": Case(THINK, lambda t: t["content"] == t["content_blocks"], settings=V1),
    "v1_tool": Case(
        forced("any"), lambda t: kinds(t) == ["reasoning", "tool_call"], settings=V1
    ),
}
ALL_WAYS = ("thinking", "any_tool", "json_schema", "stop", "v1")
PAIRS = [
    (name, way)
    for name in CASES
    for way in (*EACH, *(FURTHER if name in ALL_WAYS else ()))
]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What `invoke` said, by case."""
    return {}


@pytest.mark.parametrize(
    ("name", "way"), PAIRS, ids=[f"{name}-{way.__name__}" for name, way in PAIRS]
)
@pytest.mark.kind(20)
async def test_every_way_of_asking_gives_the_same(
    pool: EnginePool, expected: dict[str, Any], name: str, way: Way
) -> None:
    case = CASES[name]
    llm = await asyncio.to_thread(pool.model, REASONING_MODEL, **case.settings)
    call = (llm, case.messages, case.arguments)
    if name not in expected:
        await invoke(call)  # from now on the prompt is cached
        expected[name] = essence(await invoke(call))
        assert case.shows(expected[name]), expected[name]
    told = essence(await way(call))
    assert differences(told, expected[name]) == []
    used = told["usage"]
    assert used["output_token_details"].get("reasoning", 0) <= used["output_tokens"]


@pytest.mark.embedded
async def test_a_slow_front_end_tells_of_the_steps_up_to_a_stop(
    pool: EnginePool,
) -> None:
    case = CASES["stop"]
    llm = await asyncio.to_thread(pool.model, REASONING_MODEL)
    # No more steps of the answer than a front end may be late by.
    most = case.arguments["thinking_budget"] + NUM_KEPT
    call = (llm, case.messages, {**case.arguments, "max_tokens": most})
    await invoke(call)  # from now on the prompt is cached
    wanted = essence(await invoke(call))
    loop = llm._embedded.engine()._loop
    for seconds in (0.02, 0.05, 0.1, 0.2, 0.4):
        answer = asyncio.create_task(invoke(call))
        while not answer.done():  # outputs of several steps come at once
            loop.call_soon_threadsafe(time.sleep, seconds)
            await asyncio.sleep(seconds)
        assert differences(essence(await answer), wanted) == []


async def test_a_batch_answers_as_calls_by_themselves(pool: EnginePool) -> None:
    llm = pool.model(REASONING_MODEL).bind(**THINK)
    prompts = [ASK, "Is 7 an even number?", "Which number comes next: 2, 4, 6?"]
    together = await llm.abatch(prompts)
    for one, prompt in zip(together, prompts, strict=True):
        other = await llm.ainvoke(prompt)
        assert one.content == other.content
        assert one.additional_kwargs == other.additional_kwargs
        used, wanted = one.usage_metadata, other.usage_metadata
        assert used["output_tokens"] == wanted["output_tokens"]
        assert used["output_token_details"] == wanted["output_token_details"]
