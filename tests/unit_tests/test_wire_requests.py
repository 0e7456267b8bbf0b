"""LangChain messages and settings -> a chat-completions request."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call

from langchain_ssr.errors import SettingsError
from langchain_ssr.wire.requests import messages_to_wire

THINKING = {"reasoning_content": "hm"}


def one(message: BaseMessage) -> dict:
    [wire] = messages_to_wire([message])
    return wire


# --- kinds of messages ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "wire"),
    [
        (SystemMessage("be kind"), {"role": "system", "content": "be kind"}),
        (
            SystemMessage("x", additional_kwargs={"__openai_role__": "developer"}),
            {"role": "developer", "content": "x"},
        ),
        (HumanMessage("hi"), {"role": "user", "content": "hi"}),
        (HumanMessage(""), {"role": "user", "content": ""}),
        (
            HumanMessage("hi", name="ann"),
            {"role": "user", "content": "hi", "name": "ann"},
        ),
        (AIMessage("yes"), {"role": "assistant", "content": "yes"}),
        (AIMessage(""), {"role": "assistant", "content": ""}),
        (AIMessageChunk("yes"), {"role": "assistant", "content": "yes"}),
        (
            ToolMessage("42", tool_call_id="c1"),
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ),
        (
            FunctionMessage("42", name="f"),
            {"role": "tool", "tool_call_id": "f", "content": "42"},
        ),
        (ChatMessage("x", role="critic"), {"role": "critic", "content": "x"}),
    ],
)
def test_message(message, wire):
    assert one(message) == wire


def test_conversation_keeps_its_order():
    wire = messages_to_wire([SystemMessage("s"), HumanMessage("h"), AIMessage("a")])
    assert [message["role"] for message in wire] == ["system", "user", "assistant"]


def test_message_of_another_kind_is_refused_by_name():
    with pytest.raises(SettingsError, match="RemoveMessage"):
        messages_to_wire([RemoveMessage(id="1")])


def test_no_message_is_refused():
    with pytest.raises(SettingsError, match="at least one message"):
        messages_to_wire([])


@pytest.mark.parametrize("text", ["</think>", "<|im_end|>", "a\n<|im_start|>system"])
@pytest.mark.kind(7)
def test_control_text_of_a_user_is_passed_on_as_it_is(text):
    assert one(HumanMessage(text))["content"] == text


@pytest.mark.parametrize("later", [1, 2, 3])
@pytest.mark.kind(13)
def test_system_messages_become_one_at_the_beginning(later):
    others = [HumanMessage("h"), AIMessage("a"), HumanMessage("i")]
    messages = [SystemMessage("s"), *others]
    messages.insert(later, SystemMessage("t"))
    wire = messages_to_wire(messages)
    assert wire[0] == {"role": "system", "content": "s\n\nt"}
    assert [message["content"] for message in wire[1:]] == ["h", "a", "i"]


@pytest.mark.kind(13)
def test_system_message_moves_to_the_beginning():
    wire = messages_to_wire([HumanMessage("h"), SystemMessage("s")])
    assert [message["role"] for message in wire] == ["system", "user"]


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.kind(13)
def test_developer_message_keeps_its_role_and_its_place(place):
    """Only the server knows whether the template has the role: vLLM asks it."""
    messages = [HumanMessage("h"), AIMessage("a"), HumanMessage("i")]
    developer = {"__openai_role__": "developer"}
    messages.insert(place, SystemMessage("d", additional_kwargs=developer))
    wire = messages_to_wire(messages)
    assert [message["content"] for message in wire] == [m.content for m in messages]
    assert wire[place] == {"role": "developer", "content": "d"}
    first, *others = messages_to_wire([*messages, SystemMessage("s")])
    assert first == {"role": "system", "content": "s"}
    assert others == wire


def test_message_is_left_as_it_is():
    message = HumanMessage(["a", {"type": "text", "text": "b"}])
    before = message.model_copy(deep=True)
    assert one(message) == {"role": "user", "content": "ab"}
    assert message == before


# --- reasoning -----------------------------------------------------------------------


@pytest.mark.kind(12)
def test_reasoning_goes_back_only_after_the_last_human_message():
    call = tool_call(name="f", args={}, id="c")
    wire = messages_to_wire(
        [
            HumanMessage("1"),
            AIMessage("old", additional_kwargs=THINKING),
            HumanMessage("2"),
            AIMessage("", tool_calls=[call], additional_kwargs=THINKING),
            ToolMessage("42", tool_call_id="c"),
            AIMessage("new", additional_kwargs=THINKING),
        ]
    )
    assert [message.get("reasoning") for message in wire] == [
        *(None, None, None),
        *("hm", None, "hm"),
    ]
    assert all("reasoning_content" not in message for message in wire)


def test_reasoning_goes_back_where_there_is_no_human_message():
    assert one(AIMessage("a", additional_kwargs=THINKING))["reasoning"] == "hm"


def test_chat_message_of_a_user_ends_the_tool_loop_too():
    wire = messages_to_wire(
        [AIMessage("a", additional_kwargs=THINKING), ChatMessage("b", role="user")]
    )
    assert "reasoning" not in wire[0]


# --- tool calls ----------------------------------------------------------------------


@pytest.mark.kind(11)
def test_tool_call_has_its_arguments_as_json():
    args = {"city": "Zürich", "days": [1, 2]}
    wire = one(AIMessage("", tool_calls=[tool_call(name="f", args=args, id="c1")]))
    assert wire["content"] is None
    [call] = wire["tool_calls"]
    arguments = call["function"].pop("arguments")
    assert call == {"id": "c1", "type": "function", "function": {"name": "f"}}
    assert json.loads(arguments) == args
    assert "Zürich" in arguments


def test_tool_call_without_arguments_sends_an_empty_object():
    wire = one(AIMessage("", tool_calls=[tool_call(name="f", args={}, id="c1")]))
    assert wire["tool_calls"][0]["function"]["arguments"] == "{}"


def test_invalid_call_passes_through_after_the_valid_ones():
    bad = invalid_tool_call(name="g", args='{"x": ', id="c2", error="cut")
    good = tool_call(name="f", args={}, id="c1")
    message = AIMessage("t", tool_calls=[good], invalid_tool_calls=[bad])
    wire = one(message)
    assert wire["content"] == "t"
    assert [call["id"] for call in wire["tool_calls"]] == ["c1", "c2"]
    assert wire["tool_calls"][1]["function"] == {"name": "g", "arguments": '{"x": '}


def test_invalid_call_without_anything_is_sent_all_the_same():
    bad = invalid_tool_call(name=None, args=None, id=None, error="cut")
    [call] = one(AIMessage("", invalid_tool_calls=[bad]))["tool_calls"]
    assert call["id"] == "call_0"
    assert call["function"] == {"name": "", "arguments": "{}"}
