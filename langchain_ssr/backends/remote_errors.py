"""What goes wrong between here and a server, as typed errors that say what to do."""

from __future__ import annotations

from collections.abc import Sequence

import openai
from langchain_core.exceptions import (
    ModelAuthenticationError,
    ModelError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)

from langchain_ssr.backends.clients import Connection
from langchain_ssr.errors import (
    InvalidRequestError,
    RequestTimeoutError,
    ServerConnectionError,
    ServerError,
)
from langchain_ssr.settings import suggest
from langchain_ssr.wire.checks import error_of, shown

_CONNECTING = ("ConnectTimeout", "PoolTimeout")
"""Time-outs of httpx before the server has got the request."""
_NO_ENDPOINT = (404, 405, 422, 501)
_OPTIONAL_ELSEWHERE = {
    "chat_template_kwargs": "enable_thinking=None",
    "thinking_token_budget": "thinking_budget=None",
}
"""Fields of vLLM's that other servers may refuse, and the setting without them."""


def typed_error(
    error: Exception, connection: Connection, timeout: float | None
) -> ModelError:
    """Choose the typed error for what the openai client raised.

    Args:
        error: The client's error, httpx's, or one that is typed already.
        connection: How the server was reached.
        timeout: The setting that was in force.
    """
    url = connection.base_url
    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, connection)
    if isinstance(error, openai.APIError) and not isinstance(
        error, openai.APIConnectionError
    ):
        return _typed(error_of(error.body or str(error)))
    if isinstance(error, ValueError):
        return ServerError(f"The server at {url} sent what is no JSON: {error}")
    return _of_connection(error.__cause__ or error, url, timeout)


def _of_connection(cause: BaseException, url: str, timeout: float | None) -> ModelError:
    """Tell httpx's errors apart by name: openai 2 and 3 use different packages."""
    kind, reason = type(cause).__name__, str(cause) or type(cause).__name__
    if "Timeout" in kind and kind not in _CONNECTING:
        return too_late(url, timeout)
    if kind.startswith("Connect") or kind in _CONNECTING:
        return ServerConnectionError(
            f"No server can be reached at {url}: {reason}. Is it running there? "
            "`vllm serve MODEL` starts one."
        )
    return ServerConnectionError(f"The connection to {url} was lost: {reason}")


def too_late(url: str, timeout: float | None) -> RequestTimeoutError:
    """Make the error for an answer that takes too long."""
    return RequestTimeoutError(
        f"No output of {url} within timeout={timeout} seconds; the request was ended"
    )


def _of_status(error: openai.APIStatusError, connection: Connection) -> ModelError:
    status, url = error.status_code, connection.base_url
    typed = _typed(error_of(_body(error), status))
    hint = ""
    if isinstance(typed, ModelAuthenticationError | ModelPermissionDeniedError):
        hint = (
            f"{url} refuses this api_key."
            if connection.api_key
            else f"{url} wants a key: pass api_key=..., or set SSR_API_KEY."
        )
    elif isinstance(typed, InvalidRequestError):
        hint = " ".join(
            f"If the server does not know {field}: {setting}."
            for field, setting in _OPTIONAL_ELSEWHERE.items()
            if field in str(typed)
        )
    return type(typed)(f"{_sentence(str(typed))} {hint}") if hint else typed


def _body(error: openai.APIStatusError) -> object:
    if isinstance(error.body, dict):
        return error.body
    text = shown(error.body) if error.body else ""
    return f"HTTP {error.status_code}: {text}" if text else f"HTTP {error.status_code}"


def _typed(error: Exception) -> ModelError:
    return error if isinstance(error, ModelError) else ServerError(str(error))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def not_found(
    error: ModelNotFoundError, url: str, model: str, served: Sequence[str] | None
) -> ModelNotFoundError:
    """Say in a "not found" what there is.

    Args:
        error: What the server answered.
        url: Root of its OpenAI API.
        model: The model that was asked for.
        served: The models that the server has; `None` if it does not tell.
    """
    if served is None:
        return ModelNotFoundError(
            f"{_sentence(str(error))} There seems to be no OpenAI API at {url}: the "
            "base_url of a vLLM server ends in /v1."
        )
    names = ", ".join(map(repr, served)) or "none"
    return ModelNotFoundError(
        f"The server at {url} has no model {model!r}. It has: {names}."
        f"{suggest(model, served)}"
    )


def missing_endpoint(error: ModelError) -> bool:
    """Whether an error says that the server has nothing at this address.

    A server that has, and misses the model, names the model in an error object.
    """
    cause = error.__cause__
    if not isinstance(cause, openai.APIStatusError):
        return False
    told = isinstance(cause.body, dict) and "message" in cause.body
    return cause.status_code in _NO_ENDPOINT and not (told and "model" in str(error))
