"""Errors of a server that handlers written for the openai client catch, too."""

from __future__ import annotations

from typing import Any

import openai
from langchain_core.exceptions import ModelError

from langchain_ssr.errors import RequestTimeoutError, ServerConnectionError

_KINDS: dict[type[ModelError], type[openai.APIError]] = {
    RequestTimeoutError: openai.APITimeoutError,
    ServerConnectionError: openai.APIConnectionError,
}
"""What the openai client would raise where the fault was found without it."""
_made: dict[tuple[type, type], type[ModelError]] = {}


def like_openai(error: ModelError, cause: BaseException | None) -> ModelError:
    """Make a typed error an error of the openai client as well.

    Args:
        error: The typed error.
        cause: What the openai client raised, if it did.

    Returns:
        An error of both types, with the text of the first and the attributes of the
        second (`status_code`, `response`, `body`, ...; `None` where there was no
        response). Pickled, it is `error` alone. If no error of the openai client fits,
        `error` itself.
    """
    kind = _kind_of(cause) or _KINDS.get(type(error))
    if kind is None or isinstance(error, openai.APIError):
        return error
    joined = _joined(type(error), kind)
    both = joined.__new__(joined, *error.args)
    both.__dict__ |= {"request": None, "body": None, "type": None}
    if isinstance(cause, openai.APIError):
        both.__dict__ |= cause.__dict__
    both.__dict__ |= {**error.__dict__, "message": str(error), "alone": error}
    return both


def _kind_of(cause: BaseException | None) -> type[openai.APIError] | None:
    """Return the openai client's own type of an error, which may be joined already."""
    if not isinstance(cause, openai.APIError):
        return None
    return next(
        kind
        for kind in type(cause).__mro__
        if issubclass(kind, openai.APIError) and not issubclass(kind, ModelError)
    )


def _joined(error: type[ModelError], kind: type[openai.APIError]) -> type[ModelError]:
    """Return the class for both, always the same one."""
    if (error, kind) in _made:
        return _made[error, kind]
    names: dict[str, Any] = {
        "__doc__": error.__doc__,
        "__module__": error.__module__,
        "__qualname__": error.__qualname__,
        "__reduce__": lambda self: self.alone.__reduce__(),
    }
    made = _made[error, kind] = type(error.__name__, (error, kind), names)
    return made
