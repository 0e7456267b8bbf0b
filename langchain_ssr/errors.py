"""Typed errors: each is one of LangChain's model errors, so one handler fits all.

`is_retryable` (from `langchain_core.exceptions.ModelError`) says whether the same
call may succeed when it is simply tried again.

Example:
    ```python
    from langchain_core.exceptions import ModelError
    from langchain_ssr import errors

    try:
        llm.invoke("Hi")
    except errors.ContextLengthError:
        print("Shorten the conversation")
    except ModelError as error:
        print(error, "Try again" if error.is_retryable else "")
    ```
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
    """A setting has an unknown name or a value that cannot work.

    Example:
        ```python
        from langchain_ssr.errors import SettingsError

        try:
            llm.invoke("Hi", draft_bugdet=128)
        except SettingsError as error:
            print(error)  # ... Did you mean 'draft_budget'?
        ```
    """


class InvalidRequestError(ModelInvalidRequestError):
    """The engine refused this request; the message says which part of it.

    Example:
        ```python
        from langchain_ssr.errors import InvalidRequestError

        try:
            llm.invoke("Hi", extra_body={"min_tokens": -1})
        except InvalidRequestError as error:
            print(error)
        ```
    """


class ContextLengthError(ContextOverflowError, ModelInvalidRequestError):
    """Prompt and requested output do not fit the model's context.

    Attributes:
        max_tokens: The context length in tokens, if the engine named it.
        num_tokens: The prompt's length in tokens. Where the engine does not tell it,
            the chat model counts; `None` if that fails, too.
        is_lower_bound: Whether the prompt may be longer than `num_tokens`: the engine
            stopped counting above the limit, and the chat model could not count.
        room: What the context has left for the answer in tokens, 0 or less, if the
            engine told that and no length.

    Example:
        ```python
        from langchain_ssr.errors import ContextLengthError

        try:
            llm.invoke("word " * 10_000)
        except ContextLengthError as error:
            print(f"{error.num_tokens} tokens, but {error.max_tokens} fit")
        ```
    """

    def __init__(
        self,
        message: str,
        *,
        max_tokens: int | None = None,
        num_tokens: int | None = None,
        is_lower_bound: bool = False,
        room: int | None = None,
    ) -> None:
        """Create the error with both lengths where they are known."""
        super().__init__(message)
        self.max_tokens = max_tokens
        self.num_tokens = num_tokens
        self.is_lower_bound = is_lower_bound
        self.room = room


class ModelLoadError(ModelNotFoundError):
    """The model does not exist, or its folder cannot be loaded.

    Example:
        ```python
        from langchain_ssr.errors import ModelLoadError

        try:
            ChatSSR(model="smolm2").warmup()
        except ModelLoadError as error:
            print(error)  # ... Did you mean 'smollm2'?
        ```
    """


class EngineNotInstalledError(ModelError, ImportError):
    """vLLM is missing, broken, or of a version that this package does not know.

    Example:
        ```python
        from langchain_ssr.errors import EngineNotInstalledError

        try:
            llm.warmup()
        except EngineNotInstalledError as error:
            print(error)  # what to install
        ```
    """


class EngineStartError(ModelError, RuntimeError):
    """vLLM did not start; the message carries its reason.

    Example:
        ```python
        from langchain_ssr.errors import EngineStartError

        try:
            ChatSSR(model="demo", engine_kwargs={"max_model_len": 10**9}).warmup()
        except EngineStartError as error:
            print(error)  # the model's context is not that long
        ```
    """


class EngineDiedError(ModelConnectionError, RuntimeError):
    """The engine process ended in mid-request; the next call starts a new one.

    Example:
        ```python
        from langchain_ssr.errors import EngineDiedError

        try:
            llm.invoke("Hi")
        except EngineDiedError:
            llm.invoke("Hi")  # on a new engine
        ```
    """


class ServerConnectionError(ModelConnectionError, ConnectionError):
    """The server cannot be reached, or its connection was lost in mid-answer.

    Example:
        ```python
        from langchain_ssr.errors import ServerConnectionError

        remote = ChatSSR(model="demo", base_url="http://localhost:9/v1", max_retries=0)
        try:
            remote.invoke("Hi")
        except ServerConnectionError as error:
            print(error)
        ```
    """


class RequestTimeoutError(ModelTimeoutError, TimeoutError):
    """No output came within `timeout` seconds.

    Example:
        ```python
        from langchain_ssr.errors import RequestTimeoutError

        try:
            ChatSSR(model="demo", timeout=0.01).invoke("Hi")
        except RequestTimeoutError as error:
            print(error)
        ```
    """


class ServerError(ModelAPIError):
    """vLLM reported an internal failure, or a server sent what is no answer.

    Example:
        ```python
        from langchain_ssr.errors import ServerError

        try:
            llm.invoke("Hi")
        except ServerError as error:
            print(error)  # what vLLM or the server said
        ```
    """


_CONTEXT = re.compile(
    r"(?:maximum context length is |context length \(|context size \(|"
    r"cannot be greater than max_model_len=)(\d+)"
)
"""As vLLM and OpenAI, SGLang, and llama.cpp say it."""
_COUNTED = re.compile(
    r"(?:(at least)|contains|has|requested|resulted in|[Ii]nput length \(|input \(|"
    r"request \() ?(\d+)(?:\)| (?:input )?tokens)"
)
_NO_ROOM = re.compile(r"max_tokens must be at least 1, got (0|-\d+)")
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
            num_tokens=int(counted[2]) if counted else None,
            is_lower_bound=bool(counted and counted[1]),
        )
    if left := _NO_ROOM.search(message):
        length = "" if max_model_len is None else f" of {max_model_len} tokens"
        return ContextLengthError(
            f"The prompt fills the model's context{length}: no room is left for an "
            "answer.",
            max_tokens=max_model_len,
            num_tokens=None if max_model_len is None else max_model_len - int(left[1]),
            room=int(left[1]),
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
