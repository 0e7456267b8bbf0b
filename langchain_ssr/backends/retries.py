"""When a server is asked again, and after how long."""

from __future__ import annotations

import email.utils
import logging
import math
import time
from typing import Any

from langchain_core.exceptions import ModelError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    before_sleep_log,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from langchain_ssr.errors import RequestTimeoutError

LONGEST_BACKOFF = 8.0
"""Longest wait, in seconds, where the server does not say how long."""
LONGEST_RETRY_AFTER = 60.0
"""Longest wait, in seconds, where it does."""

logger = logging.getLogger(__name__)
_backoff = wait_exponential(multiplier=0.5, max=LONGEST_BACKOFF)
_jitter = wait_random(0, 0.5)


def retrying(max_retries: int) -> Retrying:
    """Return what calls a function again while its errors say that this may help.

    Args:
        max_retries: Most calls after the first.
    """
    return Retrying(**_policy(max_retries))


def aretrying(max_retries: int) -> AsyncRetrying:
    """Return the same for a coroutine function."""
    return AsyncRetrying(**_policy(max_retries))


def _policy(max_retries: int) -> dict[str, Any]:
    return {
        "retry": retry_if_exception(may_help),
        "wait": seconds_to_wait,
        "stop": stop_after_attempt(max_retries + 1),
        "before_sleep": before_sleep_log(logger, logging.INFO),
        "reraise": True,
    }


def may_help(error: BaseException) -> bool:
    """Whether the same call may succeed soon.

    One that took longer than `timeout` would take as long again.
    """
    return (
        isinstance(error, ModelError)
        and error.is_retryable
        and not isinstance(error, RequestTimeoutError)
    )


def seconds_to_wait(state: RetryCallState) -> float:
    """Choose the wait before the next call: the server's, or exponential back-off.

    A bit of chance keeps requests that were refused together from coming back together.
    """
    error = state.outcome.exception() if state.outcome else None
    asked = retry_after(error)
    seconds = _backoff(state) if asked is None else min(asked, LONGEST_RETRY_AFTER)
    return seconds + _jitter(state)


def retry_after(error: BaseException | None) -> float | None:
    """Read the header `Retry-After`: seconds, or a date.

    Args:
        error: A typed error; its cause holds the server's response.

    Returns:
        Seconds from now, not negative; `None` if there is no such header.
    """
    response = getattr(error.__cause__, "response", None) if error else None
    value = response.headers.get("retry-after") if response is not None else None
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = date.timestamp() - time.time()
    return None if math.isnan(seconds) else max(seconds, 0.0)
