"""The sum of a stream, however it is cut into chunks, is the whole answer."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.wire.responses import result_from_wire
from tests.unit_tests.test_wire_stream import (
    HEAD,
    USAGE,
    call,
    delta,
    generations,
    read,
    usage_chunk,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.fixed_dictionaries({"reasoning": TEXT, "content": TEXT, "refusal": TEXT})
ARGUMENTS = st.sampled_from(
    ['{"a": 1}', '{"b": "Zürich 🙂"}', "{}", "[1]", "no", '{"a": tr', "", '{"a": "\n"}']
)


def tokens_of(message: dict) -> list[dict]:
    """Split an answer into the smallest deltas."""
    deltas = [
        {name: letter}
        for name in ("reasoning", "content", "refusal")
        for letter in message[name]
    ]
    for i, one in enumerate(message["tool_calls"]):
        function = one["function"]
        deltas.append({"tool_calls": [call(i, "", function["name"])]})
        deltas += [{"tool_calls": [call(i, x)]} for x in function["arguments"]]
    return deltas


def burst(one: dict, other: dict) -> dict:
    """Join two deltas as a server does that gets several tokens in one step."""
    joined = {**other, **one}
    for name in one.keys() & other.keys() - {"tool_calls"}:
        joined[name] = one[name] + other[name]
    if "tool_calls" in one and "tool_calls" in other:
        *before, last = one["tool_calls"]
        [new] = other["tool_calls"]
        if last["index"] == new["index"]:
            text = last["function"]["arguments"] + new["function"]["arguments"]
            new = {**last, "function": {**last["function"], "arguments": text}}
            joined["tool_calls"] = [*before, new]
        else:
            joined["tool_calls"] = [*before, last, new]
    return joined


FINISHES = st.sampled_from(["stop", "length"])


@pytest.mark.kind(3)
@given(TEXTS, st.lists(ARGUMENTS, max_size=2), FINISHES, st.data())
def test_merged_stream_equals_the_whole_response(texts, arguments, finish, data):
    calls = [call(i, text, f"f{i}") for i, text in enumerate(arguments)]
    message = {**texts, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {**HEAD, "choices": [choice], "usage": USAGE}
    deltas: list[dict] = []
    for token in tokens_of(message):
        if deltas and data.draw(st.booleans()):
            token = burst(deltas.pop(), token)  # noqa: PLW2901
        deltas.append(token)
    chunks = [delta(**fields) for fields in deltas]

    merged = reduce(add, read([*chunks, delta(finish=finish), usage_chunk()]))

    expected = result_from_wire(whole).generations[0].message
    assert merged.content == expected.content
    assert merged.additional_kwargs == expected.additional_kwargs
    assert merged.usage_metadata == expected.usage_metadata
    assert merged.response_metadata == expected.response_metadata
    assert merged.id == expected.id
    assert merged.tool_calls == expected.tool_calls
    assert [(c["id"], c["args"]) for c in merged.invalid_tool_calls] == [
        (c["id"], c["args"]) for c in expected.invalid_tool_calls
    ]


LOGPROBS = st.lists(
    st.fixed_dictionaries({"token": TEXT, "logprob": st.floats(-9, 0)}), max_size=4
)


@given(LOGPROBS, FINISHES)
def test_generation_info_of_a_stream_is_that_of_the_whole_response(entries, finish):
    choice = {"message": {"content": "a" * len(entries)}, "finish_reason": finish}
    logprobs = {"content": entries} if entries else None
    whole = {**HEAD, "choices": [{**choice, "logprobs": logprobs}]}
    chunks = [delta(content="a", logprobs={"content": [entry]}) for entry in entries]
    merged = reduce(add, generations([*chunks, delta(finish=finish)]))

    expected = result_from_wire(whole).generations[0]
    info = {"finish_reason": finish}
    if logprobs:
        info["logprobs"] = logprobs
    assert merged.generation_info == expected.generation_info == info
    assert merged.message.response_metadata == expected.message.response_metadata
