"""Streams that break off: what was said is not asked for again, and all is closed."""

from __future__ import annotations

import asyncio

import httpx
import openai
import pytest
from langchain_core import exceptions as core

from langchain_ssr import errors
from tests.unit_tests.fake_server import (
    CHUNKS,
    LAST,
    FakeServer,
    both,
    delta,
    response,
    sse,
)

pytestmark = pytest.mark.usefixtures("unknown_servers", "waits")

in_streams = pytest.mark.parametrize("way", ["stream", "astream"])
GOOD = both(response(), sse(*CHUNKS))


def collect(llm, way) -> tuple[str, Exception | None]:
    """Read a stream as far as it goes."""
    seen: list[str] = []

    async def read() -> None:
        async for chunk in llm.astream("hi"):
            seen.append(chunk.content)  # noqa: PERF401 - also what came before an error

    try:
        if way == "stream":
            seen.extend(chunk.content for chunk in llm.stream("hi"))
        else:
            asyncio.run(read())
    except core.ModelError as error:
        return "".join(seen), error
    return "".join(seen), None


@in_streams
@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ([httpx.ReadError("reset by peer")], errors.ServerConnectionError),
        (
            [httpx.RemoteProtocolError("peer closed connection (incomplete read)")],
            errors.ServerConnectionError,
        ),
        ([], errors.ServerConnectionError),
        ([b"data: [DONE]\n\n"], errors.ServerConnectionError),
        ([b'data: {"id": "r1", "choi'], errors.ServerConnectionError),
        ([httpx.ReadTimeout("")], errors.RequestTimeoutError),
        (
            [b'data: {"error": {"message": "worker died", "code": 500}}\n\n'],
            errors.ServerError,
        ),
        ([b'data: {"error": "worker died"}\n\n'], errors.ServerError),
    ],
)
def test_stream_that_ends_in_the_middle_is_not_asked_again(way, rest, kind):
    fake = FakeServer([*sse(*CHUNKS[:4], done=False), *rest])
    text, error = collect(fake.llm(timeout=7), way)
    assert text == "Hi"
    assert type(error).__mro__[1] is kind
    assert isinstance(error, openai.APIError)
    assert len(fake.requests) == 1
    assert fake.bodies[0].closed


@in_streams
@pytest.mark.parametrize(
    "parts",
    [
        [httpx.ReadError("reset by peer")],
        [b'data: {"error": {"message": "busy", "code": 503}}\n\n'],
        [b'data: {"id"'],
        [b"data: [DONE]\n\n"],
        [],
    ],
)
def test_stream_that_ends_before_its_first_chunk_is_asked_again(way, parts):
    fake = FakeServer(parts, GOOD)
    assert collect(fake.llm(), way) == ("Hi", None)
    assert len(fake.requests) == 2
    assert fake.bodies[0].closed


@in_streams
def test_stream_that_loses_only_its_end_is_an_answer(way):
    """The finish reason was there; what is lost is the usage."""
    fake = FakeServer(sse(*CHUNKS[:-1], done=False))
    assert collect(fake.llm(), way) == ("Hi", None)


@in_streams
@pytest.mark.kind(22)
def test_leaving_a_stream_closes_the_response(way):
    fake = FakeServer(sse(*CHUNKS[:3], *[delta(content="x")] * 50, LAST))
    llm = fake.llm()

    async def leave() -> None:
        chunks = llm.astream("hi")
        await anext(chunks)
        await chunks.aclose()

    if way == "stream":
        chunks = llm.stream("hi")
        next(chunks)
        chunks.close()
    else:
        asyncio.run(leave())
    [body] = fake.bodies
    assert body.closed
    assert body.read < 10
