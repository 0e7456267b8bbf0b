"""Streamed tool calls of servers that number or name them in their own ways."""

from __future__ import annotations

import asyncio
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool

from langchain_ssr import ChatSSR
from langchain_ssr.wire.responses import result_from_wire
from tests.unit_tests.fake_backend import called, letters
from tests.unit_tests.test_wire_stream import delta, read

X, Y = '{"x": 1}', '{"y": 2}'
ADD, SUB = ("add", {"x": 1}), ("sub", {"y": 2})


def piece(
    index: int | None, name: str | None, arguments: str | None, id_: str | None = None
) -> dict:
    """Write a piece of a call; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": id_, "function": function}
    call["function"] = {k: v for k, v in function.items() if v is not None}
    return {k: v for k, v in call.items() if v is not None}


def streamed(*pieces: dict) -> AIMessageChunk:
    """Add up a stream with each of the pieces in a delta of its own."""
    return reduce(add, read([delta(tool_calls=[each]) for each in pieces]))


def calls(message: AIMessageChunk) -> list[tuple[str, dict]]:
    assert message.invalid_tool_calls == []
    return [(call["name"], call["args"]) for call in message.tool_calls]


# --- which call a piece belongs to ---------------------------------------------------


@pytest.mark.parametrize("ids", [(None, None), (None, "b"), ("a", None), ("", "")])
@pytest.mark.parametrize("indexes", [(0, 1), (0, 0), (None, None), (1, 2)])
@pytest.mark.kind(10)
def test_two_calls_are_two_whether_they_have_ids_or_not(ids, indexes):
    first, second = (
        piece(i, *call, id_)
        for i, call, id_ in zip(indexes, (("add", X), ("sub", Y)), ids, strict=True)
    )
    assert calls(streamed(first, second)) == [ADD, SUB]
    one_delta = reduce(add, read([delta(tool_calls=[first, second])]))
    assert calls(one_delta) == [ADD, SUB]


@pytest.mark.kind(10)
def test_calls_that_take_turns_at_one_index_are_told_apart_by_id():
    message = streamed(
        piece(0, "add", "", "a"),
        piece(0, "sub", "", "b"),
        piece(0, None, X[:3], "a"),
        piece(0, None, Y[:3], "b"),
        piece(0, None, Y[3:]),  # without an id: goes on with the last one
        piece(0, None, X[3:], "a"),
    )
    assert calls(message) == [ADD, SUB]


@pytest.mark.kind(10)
def test_same_function_called_twice_without_ids_at_one_index():
    message = streamed(piece(0, "add", X), piece(0, "add", X), piece(0, "add", ""))
    assert calls(message) == [ADD, ADD]


def test_same_id_at_two_indexes_is_two_calls():
    message = streamed(piece(0, "add", X, "c"), piece(1, "sub", Y, "c"))
    assert calls(message) == [ADD, SUB]


def test_id_that_comes_late_makes_no_second_call():
    assert calls(streamed(piece(0, "add", ""), piece(0, None, X, "a"))) == [ADD]


@given(st.permutations(["a"] * 3 + ["b"] * 3), st.integers(0, 1))
@pytest.mark.kind(10)
def test_ids_win_in_any_order(order, second):
    """Pieces of each call stay in order, but between each other's."""
    parts = {
        "a": [
            piece(0, n, t, "a") for n, t in (("add", ""), (None, '{"x"'), ("", ": 1}"))
        ],
        "b": [
            piece(second, n, t, "b")
            for n, t in (("sub", ""), (None, '{"y"'), ("", ": 2}"))
        ],
    }
    message = streamed(*(parts[id_].pop(0) for id_ in order))
    assert sorted(calls(message)) == [ADD, SUB]


# --- names ---------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["a", None])
@pytest.mark.parametrize("end", [[], [""], ["", ""]])
def test_name_that_every_delta_repeats_is_one_name(id_, end):
    parts = [X[:3], X[3:], *end]
    message = streamed(*(piece(0, "add", part, id_) for part in parts))
    assert calls(message) == [ADD]
    assert len(message.tool_calls) == 1
    burst = [piece(0, "add", part, id_) for part in parts]
    assert calls(reduce(add, read([delta(tool_calls=burst)]))) == [ADD]


def test_name_in_pieces_is_joined_as_langchain_does():
    message = streamed(piece(0, "a", "", "a"), piece(0, "dd", ""), piece(0, None, X))
    assert calls(message) == [ADD]


def test_name_that_comes_after_the_id_is_read():
    message = streamed(piece(0, None, None, "a"), piece(0, "add", X))
    assert calls(message) == [ADD]
    assert message.tool_calls[0]["id"] == "a"


# --- ids that the server leaves out --------------------------------------------------


def test_only_the_first_chunk_of_a_call_has_an_id():
    pieces = [
        piece(0, "add", "", "a"),
        piece(0, None, X[:3], "a"),
        piece(0, None, X[3:]),
    ]
    for ids in (("a", None, None), (None, None, None)):
        chunks = read(
            [
                delta(tool_calls=[{**each, "id": id_}])
                for each, id_ in zip(pieces, ids, strict=True)
            ]
        )
        first, *others = [c["id"] for m in chunks for c in m.tool_call_chunks]
        assert first
        assert others == [None, None]


@pytest.mark.parametrize("missing", [None, ""])
def test_missing_ids_are_made_alike_whole_and_streamed(missing):
    wire = [called("add", X, missing), called("sub", Y, missing)]
    wire += [called("cut", '{"x": tr', missing)]
    choice = {"message": {"tool_calls": wire}, "finish_reason": "length"}
    whole = result_from_wire({"choices": [choice]}).generations[0].message
    merged = reduce(add, read(letters({"tool_calls": wire}, "length")))
    assert [c["name"] for c in merged.tool_calls] == ["add", "sub"]
    ids = [
        call["id"]
        for message in (whole, merged)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    assert len(set(ids)) == len(ids) == 6
    assert all(id_.startswith("call_") and len(id_) == len(ids[0]) for id_ in ids)


@tool("add", return_direct=True)
def increment(x: int) -> int:
    """Add one."""
    return x + 1


@pytest.mark.parametrize("stream", [False, True])
def test_agent_runs_a_call_without_an_id(backend, stream):
    agents = pytest.importorskip("langchain.agents")
    backend.answer("tool_calls", tool_calls=[called("add", X, None)])
    agent = agents.create_agent(ChatSSR(model="m"), [increment])
    question = {"messages": [HumanMessage("1 + 1?")]}
    if stream:
        *_, (_, state) = agent.stream(question, stream_mode=["messages", "values"])
    else:
        state = agent.invoke(question)
    _, asked, result = state["messages"]
    assert isinstance(result, ToolMessage)
    assert result.content == "2"
    assert result.tool_call_id == asked.tool_calls[0]["id"]


def test_blocks_of_a_call_without_an_id_are_whole(backend):
    backend.answer("tool_calls", content="hm", tool_calls=[called("add", X, None)])
    llm = ChatSSR(model="m", output_version="v1")

    async def astream() -> AIMessageChunk:
        chunks = [chunk async for chunk in llm.astream("x")]
        return reduce(add, chunks)

    for message in (
        *(llm.invoke("x"), reduce(add, llm.stream("x")), asyncio.run(astream())),
    ):
        block = message.content_blocks[-1]
        assert (block["type"], block["name"], block["args"]) == ("tool_call", *ADD)
        assert block["id"] == message.tool_calls[0]["id"]
