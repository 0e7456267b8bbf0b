"""A stream's chunks -> message chunks whose sum is the whole response."""

from __future__ import annotations

import json
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessageChunk, message_chunk_to_message
from langchain_core.outputs import ChatGenerationChunk

from langchain_ssr.wire.responses import StreamReader
from langchain_ssr.wire.streamed_calls import ending_of

USAGE = {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}
HEAD = {"id": "r1", "model": "m", "object": "chat.completion.chunk"}


def delta(finish: str | None = None, logprobs: dict | None = None, **fields) -> dict:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {**HEAD, "choices": [{**choice, "logprobs": logprobs}]}


def call(index: int, arguments: str, name: str | None = None) -> dict:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    start = {"id": f"c{index}", "type": "function"} if name else {}
    return {"index": index, **start, "function": function}


def usage_chunk(**fields) -> dict:
    return {**HEAD, "choices": [], "usage": USAGE, **fields}


def generations(chunks: list[dict], **options) -> list[ChatGenerationChunk]:
    reader = StreamReader(**options)
    parts = [part for chunk in chunks if (part := reader.read(chunk))]
    return [*parts, reader.finish()]


def read(chunks: list[dict], **options) -> list[AIMessageChunk]:
    return [part.message for part in generations(chunks, **options)]


TYPICAL = [
    delta(role="assistant", content=""),
    delta(reasoning="h"),
    delta(reasoning="m", content=""),
    delta(content="y"),
    delta(content="es", finish="stop"),
    usage_chunk(),
]


def test_parts_come_as_they_arrive():
    messages = read(TYPICAL)
    assert [message.content for message in messages] == ["", "", "y", "es", ""]
    assert [m.additional_kwargs for m in messages] == [
        {"reasoning_content": "h"},
        {"reasoning_content": "m"},
        *({}, {}, {}),
    ]


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("content", [{}, {"content": ""}, {"content": None}])
@pytest.mark.kind(1)
def test_reasoning_with_empty_content_is_kept(name, content):
    [message, _] = read([delta(**{name: "a"}, **content)])
    assert message.content == ""
    assert message.additional_kwargs == {"reasoning_content": "a"}


@pytest.mark.parametrize("called", [True, False])
def test_blanks_before_a_call_are_no_content(called):
    chunks = [delta(reasoning="h"), delta(content="\n"), delta(content="\n")]
    chunks += [delta(tool_calls=[call(0, "{}", "f")])] if called else []
    *parts, last = read(chunks)
    assert all(part.content == "" for part in parts)
    assert last.content == ("" if called else "\n\n")


def test_refusal_is_added_up():
    message = reduce(add, read([delta(refusal="I "), delta(refusal="will not")]))
    assert message.content == ""
    assert message.additional_kwargs == {"refusal": "I will not"}


def test_blanks_before_text_come_with_it():
    messages = read([delta(content="\n"), delta(content="\nyes"), delta(content="\n")])
    assert [message.content for message in messages] == ["\n\nyes", "\n", ""]


@pytest.mark.kind(1)
def test_reasoning_and_answer_in_one_delta():
    [message, _] = read([delta(reasoning="a", content="b")])
    assert (message.additional_kwargs["reasoning_content"], message.content) == (
        *("a", "b"),
    )


@pytest.mark.kind(19)
def test_usage_and_metadata_are_on_the_last_chunk_only():
    *parts, last = read(TYPICAL)
    assert all(part.usage_metadata is None for part in parts)
    metadata = {"model_provider": "langchain-ssr"}  # is not joined, but compared
    assert all(part.response_metadata == metadata for part in parts)
    assert last.usage_metadata["total_tokens"] == 12
    assert last.response_metadata["finish_reason"] == "stop"
    assert last.response_metadata["model_name"] == "m"
    assert last.chunk_position == "last"
    assert all(part.chunk_position is None for part in parts)


def test_unwanted_usage_is_left_out():
    messages = read(TYPICAL, usage=False)
    assert all(message.usage_metadata is None for message in messages)


@pytest.mark.parametrize("end", [[], [delta(finish="length")]])
def test_stream_without_a_usage_chunk_ends_all_the_same(end):
    *_, last = read([delta(content="a"), *end])
    assert last.usage_metadata is None
    assert last.response_metadata["finish_reason"] == ("length" if end else None)
    assert last.response_metadata["speculation"]["num_answer_tokens"] == 0


def test_stop_reason_is_kept():
    last = reduce(add, read([delta(content="a", finish="stop"), usage_chunk()]))
    assert "stop_reason" not in last.response_metadata
    chunk = delta(content="a", finish="stop")
    chunk["choices"][0]["stop_reason"] = "END"
    whole = reduce(add, read([chunk, usage_chunk()]))
    assert whole.response_metadata["stop_reason"] == "END"


def test_metrics_of_the_last_chunk_are_read():
    *_, last = read([delta(content="a"), usage_chunk(metrics={"queue_time_ms": 2.0})])
    assert last.response_metadata["speculation"]["timing"]["queue_time_ms"] == 2.0


def test_logprobs_are_joined():
    one, two = ({"content": [{"token": t, "logprob": -1.0}]} for t in "ab")
    whole = reduce(
        add,
        read([delta(content="a", logprobs=one), delta(content="b", logprobs=two)]),
    )
    tokens = [
        entry["token"] for entry in whole.response_metadata["logprobs"]["content"]
    ]
    assert tokens == ["a", "b"]


@pytest.mark.kind(10)
def test_two_calls_in_one_delta():
    both = [call(0, '{"a": 1}', "f"), call(1, '{"b": 2}', "g")]
    whole = reduce(add, read([delta(tool_calls=both, finish="tool_calls")]))
    assert [(c["id"], c["name"], c["args"]) for c in whole.tool_calls] == [
        ("c0", "f", {"a": 1}),
        ("c1", "g", {"b": 2}),
    ]


@pytest.mark.kind(10)
def test_two_calls_that_share_an_index_are_told_apart_by_id():
    chunks = [
        delta(tool_calls=[{**call(0, "", "f"), "id": "c0"}]),
        delta(tool_calls=[call(0, '{"a": 1}')]),
        delta(tool_calls=[{**call(0, "", "g"), "id": "c1"}]),
        delta(tool_calls=[call(0, '{"b": 2}')]),
    ]
    whole = reduce(add, read(chunks))
    assert [(c["id"], c["args"]) for c in whole.tool_calls] == [
        ("c0", {"a": 1}),
        ("c1", {"b": 2}),
    ]


def test_name_and_arguments_in_two_pieces_of_one_delta_are_one_piece():
    pieces = [call(0, "", "f"), call(0, '{"a"'), call(1, "", "g"), call(0, ": 1}")]
    message, _ = read([delta(tool_calls=pieces, finish="tool_calls")])
    assert [(c["index"], c["name"], c["args"]) for c in message.tool_call_chunks] == [
        (0, "f", '{"a": 1}'),
        (1, "g", None),
    ]
    assert [c["args"] for c in message.tool_calls] == [{"a": 1}, {}]


def test_call_with_nonsense_is_invalid():
    whole = reduce(add, read([delta(tool_calls=[call(0, "nonsense", "f")])]))
    assert whole.tool_calls == []
    assert whole.invalid_tool_calls[0]["args"] == "nonsense"


# --- calls that were cut -------------------------------------------------------------


def test_call_that_was_cut_in_mid_json_is_invalid():
    cut = call(0, '{"path": "/", "recursive": tr', "delete")
    whole = reduce(add, read([delta(tool_calls=[cut], finish="length")]))
    assert whole.tool_calls == []
    [invalid] = whole.invalid_tool_calls
    assert (invalid["name"], invalid["id"]) == ("delete", "c0")
    assert invalid["args"] == '{"path": "/", "recursive": tr]'


@pytest.mark.parametrize(
    ("finish", "valid"), [("length", False), ("tool_calls", True), (None, True)]
)
def test_call_that_was_cut_after_its_name_is_invalid(finish, valid):
    begun = call(0, "", "delete_everything")
    whole = reduce(add, read([delta(tool_calls=[begun], finish=finish)]))
    assert bool(whole.tool_calls) is valid
    assert bool(whole.invalid_tool_calls) is not valid


def test_calls_before_the_one_that_was_cut_are_valid():
    first, second = call(0, '{"a": 1}', "f"), call(1, '{"b": "x', "g")
    none = call(2, "", "h")
    both = reduce(add, read([delta(tool_calls=[first, second], finish="length")]))
    assert [c["args"] for c in both.tool_calls] == [{"a": 1}]
    assert [c["name"] for c in both.invalid_tool_calls] == ["g"]
    three = [delta(tool_calls=[first, none, second], finish="length")]
    assert [c["name"] for c in reduce(add, read(three)).tool_calls] == ["f", "h"]


@pytest.mark.filterwarnings("ignore:.*`loads` is in beta")
def test_call_that_was_cut_stays_invalid_however_it_is_summed_up():
    cut = call(0, '{"path": "/", "recursive": tr', "delete")
    first, *others = read([delta(tool_calls=[cut], finish="length"), usage_chunk()])
    message = message_chunk_to_message(first + others)
    assert message.tool_calls == []
    copy = loads(dumps(first + others), allowed_objects="core")
    assert copy.tool_calls == []


OBJECTS = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        ),
        max_leaves=4,
    ),
    max_size=3,
)


@given(OBJECTS, st.data())
def test_no_beginning_of_an_object_is_taken_for_a_whole_one(arguments, data):
    text = json.dumps(arguments)
    assert ending_of(text) == ""
    part = text[: data.draw(st.integers(1, len(text) - 1))]
    assert ending_of(part)
    whole = reduce(add, read([delta(tool_calls=[call(0, part, "f")], finish="length")]))
    assert whole.tool_calls == []
    assert whole.invalid_tool_calls[0]["args"].startswith(part)


@pytest.mark.parametrize("text", ["nonsense", "[1, 2", "5", "tru", '"text', "]"])
def test_what_begins_no_object_is_left_as_it_is(text):
    assert ending_of(text) == ""
