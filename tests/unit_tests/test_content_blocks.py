"""Content blocks (v1): whole, streamed, as event streams (v3), and going back."""

from __future__ import annotations

import json
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_tests.utils.stream_lifecycle import assert_valid_event_stream

from langchain_ssr import ChatSSR
from langchain_ssr.wire.responses import StreamReader
from tests.unit_tests.fake_backend import called, letters

pytestmark = pytest.mark.filterwarnings("ignore:.*is in beta")
CALLS = [called("f", '{"a": 1}', "c0"), called("g", '{"b": [2]}', "c1")]
BLOCKS = [
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "text", "text": "yes"},
    {"type": "tool_call", "id": "c0", "name": "f", "args": {"a": 1}},
    {"type": "tool_call", "id": "c1", "name": "g", "args": {"b": [2]}},
]


@pytest.fixture
def v1(backend):
    backend.answer("tool_calls", reasoning="hm", content="yes", tool_calls=CALLS)
    return ChatSSR(model="smollm2", output_version="v1")


def plain(blocks: list) -> list[dict]:
    """Leave out where a block was in its stream."""
    return [{k: v for k, v in block.items() if k != "index"} for block in blocks]


# --- whole and streamed --------------------------------------------------------------


def test_whole_message_has_every_block(v1):
    message = v1.invoke("x")
    assert message.content == message.content_blocks == BLOCKS
    assert (message.text, len(message.tool_calls)) == ("yes", 2)
    assert message.additional_kwargs["reasoning_content"] == "hm"


def test_blocks_can_be_had_of_a_message_with_plain_content(v1):
    message = ChatSSR(model="smollm2").invoke("x")
    assert message.content == "yes"
    assert message.content_blocks == BLOCKS


async def test_stream_adds_up_to_the_same_blocks(v1):
    streams = [list(v1.stream("x")), [chunk async for chunk in v1.astream("x")]]
    for chunks in streams:
        whole = reduce(add, chunks)
        assert plain(whole.content) == plain(whole.content_blocks) == BLOCKS
        assert (whole.text, whole.content_blocks) == ("yes", whole.content)
        assert plain(message_chunk_to_message(whole).content_blocks) == BLOCKS


def test_streaming_model_gives_the_same_blocks(v1):
    streaming = v1.model_copy(update={"streaming": True})
    assert plain(streaming.invoke("x").content) == BLOCKS


def test_stream_of_plain_content_adds_up_to_the_same_blocks(v1):
    whole = reduce(add, ChatSSR(model="smollm2").stream("x"))
    assert whole.content == "yes"
    assert plain(whole.content_blocks) == BLOCKS


def test_every_chunk_has_the_blocks_it_adds(v1):
    chunks = list(v1.stream("x"))
    kinds = [[block["type"] for block in chunk.content] for chunk in chunks]
    assert kinds[:2] == [["reasoning"]] * 2
    assert kinds[2:5] == [["text"]] * 3
    assert set(map(tuple, kinds[5:-1])) == {("tool_call_chunk",)}
    assert kinds[-1] == []


def test_refusal_is_a_block(backend):
    backend.answer(refusal="I will not")
    blocks = ChatSSR(model="smollm2").invoke("x").content_blocks
    assert blocks == [{"type": "refusal", "refusal": "I will not"}]


def test_content_that_is_blocks_already_is_left_to_langchain():
    blocks = [{"type": "text", "text": "a"}]
    metadata = {"model_provider": "langchain-ssr"}
    for kind in (AIMessage, AIMessageChunk):
        assert kind(blocks, response_metadata=metadata).content_blocks == blocks


# --- bursts --------------------------------------------------------------------------


def burst(chunks: list[dict]) -> dict:
    """Join chunks as a server does that gets several tokens in one step."""
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    joined: dict = {}
    for delta in deltas:
        for name, value in delta.items():
            joined[name] = joined[name] + value if name in joined else value
    return {"id": "r1", "choices": [{"index": 0, "delta": joined}]}


def read(chunks: list[dict]) -> list[AIMessageChunk]:
    reader = StreamReader()
    parts = [part for chunk in chunks if (part := reader.read(chunk))]
    return [part.message for part in [*parts, reader.finish()]]


MESSAGE = {"reasoning": "hm", "content": "yes", "tool_calls": CALLS}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])
@pytest.mark.kind(3)
def test_bursts_of_any_size_give_the_same_blocks(size):
    *chunks, _, usage = letters(MESSAGE, "tool_calls")
    bursts = [burst(chunks[i : i + size]) for i in range(0, len(chunks), size)]
    whole = reduce(add, read([*bursts, usage]))
    assert plain(whole.content_blocks) == BLOCKS


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])
@pytest.mark.parametrize("version", ["v0", "v1"])
@pytest.mark.kind(3)
def test_bursts_of_any_size_give_the_same_events(backend, size, version):
    *chunks, end, usage = letters(MESSAGE, "tool_calls")
    bursts = [burst(chunks[i : i + size]) for i in range(0, len(chunks), size)]
    backend.chunks = [*bursts, end, usage]
    llm = ChatSSR(model="smollm2", output_version=version)
    stream = llm.stream_events("x", version="v3")
    assert_valid_event_stream(list(stream))
    assert plain(stream.output.content) == BLOCKS
    merged = reduce(add, llm.stream("x"))
    assert plain(merged.content_blocks) == BLOCKS


@given(st.lists(st.integers(1, 9), min_size=60, max_size=60))
def test_a_chunk_never_holds_a_whole_call_before_the_end(sizes):
    chunks = letters(MESSAGE, "tool_calls")[:-2]
    bursts = []
    for size in sizes:
        if chunks:
            bursts.append(burst(chunks[:size]))
            chunks = chunks[size:]
    for message in read(bursts)[:-1]:
        kinds = {block["type"] for block in message.content_blocks}
        assert kinds <= {"reasoning", "text", "tool_call_chunk"}


# --- event streams -------------------------------------------------------------------


async def test_events(v1):
    llm = ChatSSR(model="smollm2")
    stream = llm.stream_events("x", version="v3")
    events = list(stream)
    assert_valid_event_stream(events)
    starts = [e["content"] for e in events if e["event"] == "content-block-start"]
    assert [block["type"] for block in starts] == [
        *("reasoning", "text", "tool_call_chunk", "tool_call_chunk"),
    ]
    asynchronous = await llm.astream_events("x", version="v3")
    assert_valid_event_stream([event async for event in asynchronous])
    for message in (stream.output, await asynchronous.output):
        assert plain(message.content) == BLOCKS
        assert message.tool_calls == v1.invoke("x").tool_calls
        assert message.usage_metadata["output_token_details"] == {"reasoning": 4}
        assert message.response_metadata["finish_reason"] == "tool_calls"
        assert message.response_metadata["speculation"]["num_reasoning_tokens"] == 4


def test_events_can_be_read_by_kind(v1):
    stream = v1.stream_events("x", version="v3")
    assert (str(stream.text), str(stream.reasoning)) == ("yes", "hm")


async def test_events_of_the_older_protocol(v1):
    events = [e async for e in v1.astream_events("x", version="v2")]
    ends = [e for e in events if e["event"] == "on_chat_model_end"]
    assert plain(ends[0]["data"]["output"].content_blocks) == BLOCKS


# --- calls that were cut -------------------------------------------------------------


@pytest.mark.parametrize("arguments", ['{"path": "/", "recursive": tr', ""])
@pytest.mark.parametrize("version", ["v0", "v1"])
def test_call_that_was_cut_is_no_tool_call_block(backend, version, arguments):
    backend.answer("length", reasoning="hm", tool_calls=[called("delete", arguments)])
    llm = ChatSSR(model="smollm2", output_version=version)
    stream = llm.stream_events("x", version="v3")
    assert_valid_event_stream(list(stream))
    streaming = llm.model_copy(update={"streaming": True})
    for message in (reduce(add, llm.stream("x")), streaming.invoke("x"), stream.output):
        assert message.tool_calls == []
        assert [call["name"] for call in message.invalid_tool_calls] == ["delete"]
        kinds = [block["type"] for block in message.content_blocks]
        assert kinds[0] == "reasoning"
        assert "tool_call" not in kinds
    assert kinds == ["reasoning", "invalid_tool_call"]
    [_, block] = llm.invoke("x").content_blocks
    assert (block["type"], block["name"]) == ("invalid_tool_call", "delete")


# --- going back ----------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v0", "v1"])
@pytest.mark.parametrize("way", ["invoke", "stream", "events"])
def test_answer_goes_back_as_it_came(backend, version, way):
    backend.answer("tool_calls", reasoning="hm", content="yes", tool_calls=CALLS)
    llm = ChatSSR(model="smollm2", output_version=version)
    if way == "invoke":
        answer = llm.invoke("x")
    elif way == "stream":
        answer = reduce(add, llm.stream("x"))
    else:
        answer = llm.stream_events("x", version="v3").output
    before = answer.model_copy(deep=True)
    results = [ToolMessage("1", tool_call_id="c0"), ToolMessage("2", tool_call_id="c1")]
    llm.invoke([HumanMessage("x"), answer, *results])
    wire = backend.request["messages"][1]
    calls = wire.pop("tool_calls")
    assert wire == {"role": "assistant", "content": "yes", "reasoning": "hm"}
    assert [call["id"] for call in calls] == ["c0", "c1"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"a": 1}
    assert answer == before
    llm.invoke([HumanMessage("x"), answer, *results, HumanMessage("y")])
    assert "reasoning" not in backend.request["messages"][1]


@pytest.mark.parametrize("streaming", [False, True])
def test_call_that_was_cut_goes_back_and_harms_nothing(backend, streaming):
    backend.answer("length", tool_calls=[called("f", '{"a": ')])
    llm = ChatSSR(model="smollm2", streaming=streaming)
    answer = llm.invoke("x")
    llm.invoke([HumanMessage("x"), answer, ToolMessage("invalid", tool_call_id="c0")])
    [call] = backend.request["messages"][1]["tool_calls"]
    assert call["function"]["arguments"].startswith('{"a": ')
