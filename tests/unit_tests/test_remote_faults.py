"""Servers that fail: each fault gives a typed error, and some are asked again."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from langchain_core import exceptions as core

from langchain_ssr import errors
from langchain_ssr.backends import retries, server
from tests.unit_tests.fake_server import (
    CHUNKS,
    LAST,
    URL,
    WAYS,
    Failure,
    FakeServer,
    ask,
    both,
    delta,
    response,
    sse,
)

every_way = pytest.mark.parametrize("way", WAYS)
in_streams = pytest.mark.parametrize("way", ["stream", "astream"])
GOOD = both(response(), sse(*CHUNKS))


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Wait for nothing, and remember for how long."""
    waited = []

    def note(state) -> float:
        waited.append(retries.retry_after(state.outcome.exception()))
        return 0

    monkeypatch.setattr(server, "_SERVERS", {})
    monkeypatch.setattr(retries, "seconds_to_wait", note)
    return waited


def error_object(message: str, code: object = None) -> dict:
    return {"error": {"message": message, "type": "x", "param": None, "code": code}}


# --- what is asked again -------------------------------------------------------------


@every_way
@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("[Errno 111] Connection refused"),
        httpx.ConnectTimeout("too slow"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        Failure(429, error_object("busy"), retry_after="2"),
        Failure(500, error_object("Internal Server Error", 500)),
        Failure(502, "<html>Bad Gateway</html>"),
        Failure(503, None, retry_after="2"),
        "<html>Starting</html>",
    ],
    ids=lambda fault: getattr(fault, "status", type(fault).__name__),
)
def test_fault_that_passes(way, fault, waits):
    fake = FakeServer(fault, fault, GOOD)
    assert ask(fake.llm(), way).content == "Hi"
    assert len(fake.requests) == 3
    asked = 2.0 if getattr(fault, "headers", None) else None
    assert waits == [asked, asked]


@every_way
@pytest.mark.parametrize("most", [0, 1, 3])
def test_retries_have_an_end(way, most):
    fake = FakeServer(Failure(500, error_object("no luck")))
    with pytest.raises(errors.ServerError, match="no luck"):
        ask(fake.llm(max_retries=most), way)
    assert len(fake.requests) == most + 1


@every_way
@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (Failure(400, error_object("bad")), errors.InvalidRequestError, "bad"),
        (
            Failure(422, {"detail": [{"msg": "Field required"}]}),
            errors.InvalidRequestError,
            "Field required",
        ),
        (
            Failure(401, {"error": "Unauthorized"}),
            core.ModelAuthenticationError,
            "SSR_API_KEY",
        ),
        (
            Failure(403, error_object("no")),
            core.ModelPermissionDeniedError,
            "wants a key",
        ),
        (
            Failure(404, error_object("The model `m` does not exist.")),
            core.ModelNotFoundError,
            "has no model 'm'. It has: 'm'",
        ),
        (httpx.ReadTimeout(""), errors.RequestTimeoutError, "timeout=7"),
        (httpx.WriteTimeout(""), errors.RequestTimeoutError, "timeout=7"),
    ],
    ids=lambda value: getattr(value, "status", getattr(value, "__name__", None)),
)
def test_fault_that_stays_is_asked_once(way, fault, kind, says):
    fake = FakeServer(fault)
    with pytest.raises(kind, match=says) as info:
        ask(fake.llm(timeout=7), way)
    assert len(fake.requests) == 1
    assert info.value.__cause__ is not None


# --- what the errors say -------------------------------------------------------------


@every_way
def test_nobody_there(way):
    fake = FakeServer(httpx.ConnectError("[Errno 111] Connection refused"))
    says = rf"{URL}: \[Errno 111\] Connection refused.*running there"
    with pytest.raises(errors.ServerConnectionError, match=says) as info:
        ask(fake.llm(max_retries=0), way)
    assert isinstance(info.value, core.ModelConnectionError)
    assert isinstance(info.value, ConnectionError)


def test_key_that_is_refused():
    fake = FakeServer(Failure(401, {"error": "Unauthorized"}))
    with pytest.raises(
        core.ModelAuthenticationError, match="refuses this api_key"
    ) as e:
        ask(fake.llm(api_key="sk-1"), "invoke")
    assert "sk-1" not in str(e.value)


@every_way
def test_model_that_the_server_has_not(way):
    fake = FakeServer(Failure(404, error_object("The model `Qwen` does not exist.")))
    fake.other["/models"] = {"data": [{"id": "Qwen/Qwen3-4B"}, {"id": "other"}]}
    llm = fake.llm(model="Qwen/Qwen3-4b")
    says = "'Qwen/Qwen3-4B', 'other'. Did you mean 'Qwen/Qwen3-4B'"
    with pytest.raises(core.ModelNotFoundError, match=says):
        ask(llm, way)


@every_way
def test_address_without_an_api(way):
    fake = FakeServer(Failure(404, {"detail": "Not Found"}))
    fake.other = {}
    with pytest.raises(core.ModelNotFoundError, match=r"Not Found.* ends in /v1"):
        ask(fake.llm(), way)


@every_way
def test_context_overflow_tells_both_numbers(way):
    message = (
        "This model's maximum context length is 2048 tokens. However, your prompt "
        "contains at least 2049 input tokens, which exceeds this limit."
    )
    fake = FakeServer(Failure(400, error_object(message, 400)))
    with pytest.raises(errors.ContextLengthError) as info:
        ask(fake.llm(), way)
    assert (info.value.max_tokens, info.value.num_tokens) == (2048, 2049)
    assert len(fake.requests) == 1


@every_way
@pytest.mark.parametrize(
    ("field", "setting"),
    [
        ("chat_template_kwargs", "enable_thinking=None"),
        ("thinking_token_budget", "thinking_budget=None"),
    ],
)
def test_field_that_another_server_refuses(way, field, setting):
    fake = FakeServer(Failure(400, error_object(f"Unknown parameter: '{field}'")))
    with pytest.raises(errors.InvalidRequestError, match=setting):
        ask(fake.llm(), way)


@every_way
def test_error_in_an_answer_that_is_none(way):
    fake = FakeServer({"object": "error", "message": "no luck", "code": 40001})
    with pytest.raises(core.ModelError):
        ask(fake.llm(max_retries=0), way)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_error_of_an_old_server(way):
    fake = FakeServer({"object": "error", "message": "no luck", "code": 400})
    with pytest.raises(errors.InvalidRequestError, match="no luck"):
        ask(fake.llm(), way)


# --- garbage -------------------------------------------------------------------------

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


# --- streams that end too early ------------------------------------------------------


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
    assert type(error) is kind
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
