"""Kinds of input from public bug reports: tools and structured output, on an engine."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from langchain_ssr import ChatSSR
from tests.integration_tests.asking import (
    BRIEF,
    OPENED,
    PROMPT,
    QUESTION,
    Answer,
    Ask,
    either_way,
    reasoning_of,
    speculating,
    stats_of,
    streamed,
    whole,
)
from tests.integration_tests.tiny_models import TEXT, TOOL_CALL

pytestmark = pytest.mark.engine


def only(llm: ChatSSR, text: str, *special: int) -> dict[str, Any]:
    """Allow the tokens of a text; reasoning ends by its budget."""
    return {"allowed_token_ids": sorted({*special, *llm.get_token_ids(text)})}


# --- tools ----------------------------------------------------------------------------


@pytest.mark.kind(8)
def test_a_call_in_the_reasoning_is_no_content_in_whatever_way(tiny: ChatSSR) -> None:
    settings = {
        "enable_thinking": True,
        "max_tokens": 120,
        "frequency_penalty": 2,  # so that each of two tokens has its turn
        "extra_body": {"allowed_token_ids": [TOOL_CALL, TEXT]},
    }
    llm = tiny.bind_tools([Answer])
    messages = [ask(llm, PROMPT, **settings) for ask in (whole, streamed)]
    for message in messages:
        assert message.content == ""
        assert message.tool_calls == []
        (invalid,) = message.invalid_tool_calls  # no JSON, and cut by max_tokens
        assert invalid["args"].startswith("<tool_call>")
        assert message.response_metadata["finish_reason"] == "length"
    one, other = messages
    assert one.invalid_tool_calls[0]["args"] == other.invalid_tool_calls[0]["args"]
    assert reasoning_of(one) == reasoning_of(other) != ""


@pytest.mark.kind(9)
@either_way
@speculating
@pytest.mark.parametrize("choice", ["any", "Answer"])
def test_a_forced_call_keeps_the_reasoning(
    smollm2: ChatSSR, ask: Ask, choice: str, speculation: bool
) -> None:
    llm = smollm2.bind_tools([Answer], tool_choice=choice, parallel_tool_calls=False)
    message = ask(llm, QUESTION, **BRIEF, speculation=speculation)
    usage = message.usage_metadata
    assert usage["output_token_details"]["reasoning"] == 12 - OPENED
    assert reasoning_of(message).strip()
    (call,) = message.tool_calls
    assert call["name"] == "Answer"
    assert Answer.model_validate(call["args"])
    assert message.content == ""
    assert message.invalid_tool_calls == []


RAW = {
    "title": "Pick",
    "description": "Pick a number.",
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}
"""A JSON schema, which `bind_tools` takes for a tool."""


@either_way
@speculating
def test_a_raw_schema_is_a_tool_and_keeps_the_reasoning(
    smollm2: ChatSSR, ask: Ask, speculation: bool
) -> None:
    llm = smollm2.bind_tools([Answer, RAW], tool_choice="Pick")
    message = ask(llm, QUESTION, **BRIEF, speculation=speculation)
    assert reasoning_of(message).strip()
    call = message.tool_calls[0]
    assert call["name"] == "Pick"
    assert isinstance(call["args"]["number"], int)


@either_way
@speculating
def test_no_tool_is_called_where_none_may_be(
    smollm2: ChatSSR, ask: Ask, speculation: bool
) -> None:
    llm = smollm2.bind_tools([Answer], tool_choice="none")
    message = ask(llm, QUESTION, **BRIEF, speculation=speculation)
    assert reasoning_of(message).strip()
    assert message.text
    assert message.tool_calls == message.invalid_tool_calls == []


@either_way
def test_a_call_that_was_cut_is_invalid(smollm2: ChatSSR, ask: Ask) -> None:
    llm = smollm2.bind_tools([Answer], tool_choice="any", parallel_tool_calls=False)
    message = ask(llm, QUESTION, **{**BRIEF, "max_tokens": 40})
    assert message.response_metadata["finish_reason"] == "length"
    assert message.content == ""
    assert message.tool_calls == []
    (invalid,) = message.invalid_tool_calls
    assert invalid["name"] == "Answer"
    assert invalid["args"].startswith('{"kind"')


@pytest.mark.kind(12)
def test_the_prefix_of_a_tool_loop_stays_cached(smollm2: ChatSSR) -> None:
    llm = smollm2.bind_tools([Answer], tool_choice="any", parallel_tool_calls=False)
    messages: list[BaseMessage] = [HumanMessage(QUESTION)]
    before = 0
    for _ in range(3):
        answer = llm.invoke(messages, **BRIEF)
        usage = answer.usage_metadata
        assert usage["input_token_details"]["cache_read"] >= before // 32 * 32
        assert usage["input_tokens"] > before
        before = usage["input_tokens"]
        (call,) = answer.tool_calls
        messages += [answer, ToolMessage("yes", tool_call_id=call["id"])]


# --- structured output ----------------------------------------------------------------

METHODS = ["json_schema", "function_calling", "json_mode"]


def structured(llm: ChatSSR, method: str, *, stream: bool, **settings: Any) -> Any:
    """Ask for an answer with its raw message."""
    schema = None if method == "json_mode" else Answer
    runnable = llm.with_structured_output(schema, method=method, include_raw=True)
    settings = {**BRIEF, **settings}
    if not stream:
        return runnable.invoke(QUESTION, **settings)
    parts = list(runnable.stream(QUESTION, **settings))
    return reduce(lambda one, other: {**one, **other}, parts)


streaming = pytest.mark.parametrize("stream", [False, True])


@pytest.mark.kind(14)
@speculating
@streaming
@pytest.mark.parametrize("method", METHODS)
def test_structured_output_with_thinking(
    smollm2: ChatSSR, method: str, speculation: bool, stream: bool
) -> None:
    settings: dict[str, Any] = {"speculation": speculation}
    if method == "json_mode":  # any object is right: allow an end
        settings["extra_body"] = only(
            smollm2, "{}", smollm2.get_token_ids("<|im_end|>")[0]
        )
    result = structured(smollm2, method, stream=stream, **settings)
    assert result["parsing_error"] is None
    if method == "json_mode":
        assert result["parsed"] == {}
    else:
        assert isinstance(result["parsed"], Answer)
    raw = result["raw"]
    assert raw.usage_metadata["output_token_details"]["reasoning"] == 12 - OPENED
    assert "think>" not in raw.content
    assert stats_of(raw)["mode"] == ("ssr" if speculation else "off")
    assert bool(stats_of(raw)["drafts"]) == speculation


@pytest.mark.kind(15)
@streaming
@pytest.mark.parametrize("method", METHODS[:2])
def test_structured_output_cut_by_max_tokens(
    smollm2: ChatSSR, method: str, stream: bool
) -> None:
    result = structured(smollm2, method, stream=stream, max_tokens=40)
    assert result["parsed"] is None
    assert isinstance(result["parsing_error"], OutputParserException)
    assert "cut by max_tokens" in str(result["parsing_error"])
    raw = result["raw"]
    assert raw.response_metadata["finish_reason"] == "length"
    assert raw.usage_metadata["output_tokens"] == 40
    assert reasoning_of(raw).strip()
