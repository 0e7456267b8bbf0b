"""Typed errors: each is one of LangChain's model errors, so one handler fits all.

`is_retryable` (from `langchain_core.exceptions.ModelError`) says whether the same
call may succeed when it is simply tried again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)


class SettingsError(ModelInvalidRequestError, ValueError):
    """A setting has an unknown name or a value that cannot work."""


class InvalidRequestError(ModelInvalidRequestError):
    """The engine refused this request; the message says which part of it."""


class ContextLengthError(ContextOverflowError, ModelInvalidRequestError):
    """Prompt and requested output do not fit the model's context.

    Attributes:
        max_tokens: The context length in tokens, if the engine named it.
        num_tokens: The prompt's length in tokens, if the engine named it. For a
            very long prompt the engine stops counting just above the limit.
    """

    def __init__(
        self,
        message: str,
        *,
        max_tokens: int | None = None,
        num_tokens: int | None = None,
    ) -> None:
        """Create the error with both lengths where they are known."""
        super().__init__(message)
        self.max_tokens = max_tokens
        self.num_tokens = num_tokens


class ModelLoadError(ModelNotFoundError):
    """The model does not exist, or its folder cannot be loaded."""


class EngineNotInstalledError(ModelError, ImportError):
    """vLLM is missing, broken, or of a version that this package does not know."""


class EngineStartError(ModelError, RuntimeError):
    """vLLM did not start; the message carries its reason."""


class EngineDiedError(ModelConnectionError, RuntimeError):
    """The engine process ended in mid-request; the next call starts a new one."""


class ServerConnectionError(ModelConnectionError, ConnectionError):
    """The server cannot be reached, or its connection was lost in mid-answer."""


class RequestTimeoutError(ModelTimeoutError, TimeoutError):
    """No output came within `timeout` seconds."""


class ServerError(ModelAPIError):
    """vLLM reported an internal failure, or a server sent what is no answer."""


_CONTEXT = re.compile(
    r"(?:maximum context length is |context length \(|context size \(|"
    r"cannot be greater than max_model_len=)(\d+)"
)
"""As vLLM and OpenAI, SGLang, and llama.cpp say it."""
_COUNTED = re.compile(
    r"(?:at least|contains|has|requested|resulted in|input \(|request \()"
    r" ?(\d+) (?:input )?tokens"
)
_NO_ROOM = re.compile(r"max_tokens must be at least 1, got (?:0|-\d+)")
"""As vLLM says it of a prompt that fills the context: what is left for the answer."""
_NO_TEMPLATE = "you must provide a chat template"


def from_wire(error: Mapping[str, Any], max_model_len: int | None = None) -> ModelError:
    """Build the typed error for an OpenAI-style error object.

    Args:
        error: The object under `error`, with `message`, `code` (HTTP status) and,
            optionally, `type` and `param`.
        max_model_len: The engine's context length in tokens, where it is known.

    Returns:
        An error to raise.
    """
    message = str(error.get("message") or "the engine gave no reason")
    if context := _CONTEXT.search(message):
        counted = _COUNTED.search(message)
        return ContextLengthError(
            message,
            max_tokens=int(context[1]),
            num_tokens=int(counted[1]) if counted else None,
        )
    if _NO_ROOM.search(message):
        length = "" if max_model_len is None else f" of {max_model_len} tokens"
        return ContextLengthError(
            f"The prompt fills the model's context{length}: no room is left for an "
            "answer.",
            max_tokens=max_model_len,
            num_tokens=max_model_len,
        )
    if _NO_TEMPLATE in message:
        message += " Here: engine_kwargs={'chat_template': '/path/of/template.jinja'}."
    given = str(error.get("code"))
    code = int(given) if given.isdigit() else 500
    by_code: dict[int, type[ModelError]] = {
        401: ModelAuthenticationError,
        403: ModelPermissionDeniedError,
        404: ModelNotFoundError,
        408: RequestTimeoutError,
        429: ModelRateLimitError,
        501: InvalidRequestError,
    }
    if code in by_code:
        return by_code[code](message)
    if 400 <= code < 500:  # noqa: PLR2004
        return InvalidRequestError(message)
    return ServerError(message)
