"""When a server is asked again, and how long the wait is."""

from __future__ import annotations

import datetime as dt
import email.utils
import math
from types import SimpleNamespace

import pytest
from langchain_core.exceptions import ModelRateLimitError
from tenacity import RetryCallState

from langchain_ssr import errors
from langchain_ssr.backends import retries


def refused(**headers: str) -> ModelRateLimitError:
    error = ModelRateLimitError("busy")
    error.__cause__ = Exception()
    error.__cause__.response = SimpleNamespace(headers=headers)
    return error


def wait(error: Exception, attempt: int = 1) -> float:
    state = RetryCallState(retries.retrying(9), None, (), {})
    state.attempt_number = attempt
    state.set_exception((type(error), error, None))
    return retries.seconds_to_wait(state)


def test_wait_grows_and_has_a_limit():
    waits = [wait(errors.ServerError("no"), attempt) for attempt in range(1, 12)]
    for seconds, least in zip(waits, [0.5, 1, 2, 4, *([8] * 7)], strict=True):
        assert least <= seconds <= least + 0.5


def test_waits_of_several_differ():
    assert len({wait(errors.ServerError("no")) for _ in range(8)}) > 1
    assert len({wait(refused(**{"retry-after": "3"})) for _ in range(8)}) > 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), ("0", 0), ("1.5", 1.5), ("-4", 0), ("3600", 60), ("inf", 60)],
)
def test_server_says_how_long(header, seconds):
    assert seconds <= wait(refused(**{"retry-after": header}), 9) <= seconds + 0.5


@pytest.mark.parametrize(("ahead", "seconds"), [(20, 20), (-20, 0), (9999, 60)])
def test_server_says_until_when(ahead, seconds):
    now = dt.datetime.now(dt.UTC)
    date = email.utils.format_datetime(now + dt.timedelta(seconds=ahead))
    assert wait(refused(**{"retry-after": date}), 9) == pytest.approx(seconds, abs=1.6)


@pytest.mark.parametrize("header", ["soon", "", "nan", "Wed, 99 Oct"])
def test_header_without_a_meaning_is_none(header):
    assert retries.retry_after(refused(**{"retry-after": header})) is None
    assert not math.isnan(wait(refused(**{"retry-after": header})))


def test_error_without_a_response_has_no_header():
    assert retries.retry_after(errors.ServerError("no")) is None
    assert retries.retry_after(None) is None


@pytest.mark.parametrize(
    ("error", "helps"),
    [
        (errors.ServerError("no"), True),
        (errors.ServerConnectionError("no"), True),
        (ModelRateLimitError("no"), True),
        (errors.RequestTimeoutError("no"), False),
        (errors.InvalidRequestError("no"), False),
        (errors.ContextLengthError("no"), False),
        (KeyError("no"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_what_may_help(error, helps):
    assert retries.may_help(error) is helps
