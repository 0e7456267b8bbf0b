"""Servers whose answers are none: a typed error, and whole ones are asked for again."""

from __future__ import annotations

import pytest

from langchain_ssr import errors
from tests.unit_tests.fake_server import (
    CHUNKS,
    Failure,
    FakeServer,
    ask,
    response,
    sse,
)

pytestmark = pytest.mark.usefixtures("unknown_servers", "waits")

in_streams = pytest.mark.parametrize("way", ["stream", "astream"])
BAD = [
    *([], "text", 3, None, {}, {"choices": []}, {"choices": {}}, {"choices": [3]}),
    {"choices": [{"message": "Hi"}]},
    {"choices": [{"message": {"content": 3}}]},
    {"choices": [{"message": {"tool_calls": {}}}]},
    {"choices": [{"message": {"tool_calls": ["f"]}}]},
    {"choices": [{"message": {"tool_calls": [{"function": "f"}]}}]},
    {"choices": [{"message": {"tool_calls": [{"function": {"arguments": 3}}]}}]},
    {"choices": [{"message": {"content": "Hi"}, "logprobs": {"content": 3}}]},
    {**response(), "usage": 3},
    {**response(), "usage": {"prompt_tokens": "many"}},
    {**response(), "usage": {"prompt_tokens_details": 3}},
    {**response(), "metrics": 3},
]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("bad", BAD, ids=str)
def test_whole_answer_that_is_none(way, bad):
    fake = FakeServer(lambda _: Failure(200, bad))
    with pytest.raises(errors.ServerError, match="no chat completion"):
        ask(fake.llm(max_retries=1), way)
    assert len(fake.requests) == 2


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("text", ["{", "\x00", '{"choices": [{"mess'])
def test_whole_answer_that_is_no_json(way, text):
    headers = {"content_type": "application/json"}
    fake = FakeServer(lambda _: Failure(200, text, **headers))
    with pytest.raises(errors.ServerError, match="no JSON"):
        ask(fake.llm(max_retries=0), way)


@in_streams
@pytest.mark.parametrize(
    "bad",
    [
        "data: {\n\n",
        "data: 3\n\n",
        'data: "text"\n\n',
        'data: {"choices": [{"delta": 3}]}\n\n',
        'data: {"choices": [{"delta": {"content": [1]}}]}\n\n',
        'data: {"choices": [{"delta": {"tool_calls": 3}}]}\n\n',
        'data: {"choices": [{"delta": {"tool_calls": [{"index": []}]}}]}\n\n',
    ],
)
@pytest.mark.parametrize("at", [0, 3])
def test_chunk_that_is_none(way, bad, at):
    chunks = [*CHUNKS[:at], bad, *CHUNKS[at:]]
    fake = FakeServer(sse(*chunks))
    with pytest.raises(errors.ServerError, match=r"no JSON|no chat completion"):
        ask(fake.llm(max_retries=1), way)
    assert len(fake.requests) == (2 if at == 0 else 1)
    assert all(body.closed for body in fake.bodies)


@in_streams
def test_bytes_that_are_no_text(way):
    parts = [*sse(*CHUNKS[:3], done=False), b"data: \xff\xfe\n\n"]
    with pytest.raises(errors.ServerError, match="no JSON"):
        ask(FakeServer(parts).llm(), way)
