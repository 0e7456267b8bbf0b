"""Whether what a server sent is a chat completion, as far as it will be read."""

from __future__ import annotations

import json
from typing import Any

from langchain_ssr.errors import ServerError, from_wire

_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
_FUNCTION = ("name", "arguments")
_SHOWN = 200
"""Most characters of a server's own words in a message."""


def check_response(data: Any, *, stream: bool) -> dict[str, Any]:
    """Check a response, or a stream's chunk.

    Args:
        data: What the server sent.
        stream: Whether it is a chunk.

    Returns:
        The same.

    Raises:
        ServerError: If it is no chat completion; the message shows its beginning.
        ModelError: The error that the server reports in it.
    """
    if not isinstance(data, dict):
        raise not_a_completion(data)
    if data.get("error"):
        raise error_of(data["error"])
    choices = data.get("choices")
    if data.get("object") == "error" or (not choices and not stream):
        raise error_of(data) if "message" in data else not_a_completion(data)
    part = "delta" if stream else "message"
    good = (
        _is_list_of_objects(choices)
        and _are_objects(data.get("metrics"))
        and _is_usage(data.get("usage"))
        and all(_is_choice(choice, part) for choice in choices or [])
    )
    if not good:
        raise not_a_completion(data)
    return data


def _is_usage(usage: Any) -> bool:
    if usage is None:
        return True
    if not isinstance(usage, dict):
        return False
    details = [usage.get(name) for name in _DETAILS]
    if not _are_objects(*details):
        return False
    counts = [
        count
        for counted in (usage, *details)
        for name, count in (counted or {}).items()
        if name.endswith("_tokens")
    ]
    return all(isinstance(count, int | None) for count in counts)


def _is_choice(choice: dict[str, Any], part: str) -> bool:
    message, logprobs = choice.get(part), choice.get("logprobs")
    if not _are_objects(message, logprobs):
        return False
    if message is None:
        return True
    calls = message.get("tool_calls")
    if not _is_list_of_objects(calls):
        return False
    if not all(isinstance(call.get("index"), int | str | None) for call in calls or []):
        return False
    functions = [call.get("function") for call in calls or []]
    if not _are_objects(*functions):
        return False
    texts = [
        message.get("content"),
        *(call.get("id") for call in calls or []),
        *((function or {}).get(n) for function in functions for n in _FUNCTION),
    ]
    return all(isinstance(text, str | None) for text in texts) and _is_list_of_objects(
        (logprobs or {}).get("content")
    )


def _is_list_of_objects(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _are_objects(*values: Any) -> bool:
    return all(value is None or isinstance(value, dict) for value in values)


def error_of(error: Any, code: int | None = None) -> Exception:
    """Build the typed error for what a server says is one.

    Args:
        error: The object under `error`, or the whole body, or text.
        code: The HTTP status, if it is not that of a good answer.
    """
    given = error if isinstance(error, dict) else {"message": str(error)}
    message = given.get("message") or given.get("detail") or shown(error)
    return from_wire({"message": str(message), "code": code or given.get("code")})


def not_a_completion(data: Any) -> ServerError:
    """Make the error for what is no answer of an OpenAI API."""
    return ServerError(
        f"The server sent what is no chat completion: {shown(data)!r}. Is base_url the "
        "root of an OpenAI API? A vLLM server's ends in /v1."
    )


def shown(data: Any) -> str:
    """Write the beginning of what a server sent."""
    text = data if isinstance(data, str) else json.dumps(data, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
