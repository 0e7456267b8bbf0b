"""Who moves from the openai client or from ChatOpenAI keeps the `except` clauses."""

from __future__ import annotations

import copy
import pickle

import httpx
import openai
import pytest
from langchain_core import exceptions as core

from langchain_ssr import errors
from langchain_ssr.backends.openai_errors import like_openai
from tests.unit_tests.fake_server import WAYS, Failure, FakeServer, ask

pytestmark = pytest.mark.usefixtures("unknown_servers", "waits")

TOO_LONG = (
    "This model's maximum context length is 2048 tokens. However, your prompt contains "
    "at least 2049 input tokens, which exceeds this limit."
)


def failure(status: int, message: str = "no") -> Failure:
    return Failure(status, {"error": {"message": message, "code": status}})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("fault", "theirs", "langchains", "status"),
    [
        (failure(400), openai.BadRequestError, core.ModelInvalidRequestError, 400),
        (
            failure(400, TOO_LONG),
            openai.BadRequestError,
            core.ContextOverflowError,
            400,
        ),
        (
            failure(401),
            openai.AuthenticationError,
            core.ModelAuthenticationError,
            401,
        ),
        (
            failure(403),
            openai.PermissionDeniedError,
            core.ModelPermissionDeniedError,
            403,
        ),
        (failure(404), openai.NotFoundError, core.ModelNotFoundError, 404),
        (failure(429), openai.RateLimitError, core.ModelRateLimitError, 429),
        (failure(503), openai.InternalServerError, core.ModelAPIError, 503),
        (
            httpx.ConnectError("refused"),
            openai.APIConnectionError,
            core.ModelConnectionError,
            None,
        ),
        (
            httpx.ReadTimeout(""),
            openai.APITimeoutError,
            core.ModelTimeoutError,
            None,
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_one_error_is_both(way, fault, theirs, langchains, status):
    with pytest.raises(theirs) as info:
        ask(FakeServer(fault).llm(max_retries=0), way)
    error = info.value
    assert isinstance(error, langchains)
    assert getattr(error, "status_code", None) == status
    assert error.message == str(error)
    assert type(error).__name__ in dir(errors) or type(error).__module__ == (
        core.__name__
    )
    if status:
        assert error.response.status_code == status
        assert error.body["code"] == status


def test_pickled_it_is_the_typed_error_alone():
    with pytest.raises(openai.BadRequestError) as info:
        ask(FakeServer(failure(400, TOO_LONG)).llm(), "invoke")
    pickled = pickle.dumps(info.value)
    for again in (pickle.loads(pickled), copy.copy(info.value)):  # noqa: S301
        assert type(again) is errors.ContextLengthError
        assert (again.max_tokens, again.num_tokens) == (2048, 2049)
        assert str(again) == str(info.value)


def test_what_openai_has_no_error_for_stays_as_it_is():
    error = errors.ModelLoadError("none")
    assert like_openai(error, ValueError("no JSON")) is error


def test_twice_is_once():
    once = like_openai(errors.RequestTimeoutError("late"), None)
    assert like_openai(once, None) is once
    again = like_openai(errors.RequestTimeoutError("later"), once)
    assert type(again) is type(once)
    assert str(again) == "later"
