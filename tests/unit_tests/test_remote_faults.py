"""Servers that fail: each fault gives a typed error, and some are asked again."""

from __future__ import annotations

import httpx
import pytest
from langchain_core import exceptions as core

from langchain_ssr import errors
from tests.unit_tests.fake_server import (
    CHUNKS,
    URL,
    WAYS,
    Failure,
    FakeServer,
    ask,
    both,
    response,
    sse,
)

pytestmark = pytest.mark.usefixtures("unknown_servers", "waits")

every_way = pytest.mark.parametrize("way", WAYS)
GOOD = both(response(), sse(*CHUNKS))


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
