"""Judges of the skill "tools": calls, JSON answers and reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def judge_calls(
    message: Mapping[str, Any], expected: Sequence[Mapping[str, Any]]
) -> str | None:
    """Compare the calls of an assistant message with the right ones.

    Args:
        message: A chat-completions message; arguments are JSON or a dict.
        expected: `name` and `arguments` of each call; their order is free.

    Returns:
        None if they are the same, types included; else why not, in one line.
    """
    calls = _calls(message)
    if isinstance(calls, str):
        return calls
    if len(calls) != len(expected):
        return f"{len(calls)} calls instead of {len(expected)}"
    left = list(calls)
    for wanted in expected:
        same = next((call for call in left if _difference(call, wanted) is None), None)
        if same is None:
            near = [call for call in left if call["name"] == wanted["name"]] or left
            return _difference(near[0], wanted)
        left.remove(same)
    return None


def judge_write(
    message: Mapping[str, Any],
    expected: Mapping[str, Any],
    judge_code: Callable[[str, Mapping[str, Any]], str | None],
) -> str | None:
    """Judge a call that writes code: the code by its own judge, the rest as it is.

    Args:
        message: As for `judge_calls`.
        expected: `name`, `arguments` without the code, `code_key` (the argument that
            holds it) and `code` (`kind` and `expected` of its check).
        judge_code: Judges the code, given `code`.
    """
    calls = _calls(message)
    if isinstance(calls, str):
        return calls
    if len(calls) != 1:
        return f"{len(calls)} calls instead of 1"
    arguments = dict(calls[0]["arguments"])
    code = arguments.pop(expected["code_key"], None)
    if not isinstance(code, str):
        return f"the argument {expected['code_key']} is no string"
    rest = {"name": calls[0]["name"], "arguments": arguments}
    return _difference(rest, expected) or judge_code(code, expected["code"])


def judge_json(content: Any, expected: Any) -> str | None:
    """Compare an answer that has to be JSON, and nothing else, with the right value."""
    try:
        value = json.loads(content)
    except (TypeError, ValueError) as error:
        return f"no JSON: {error}"
    if same(value, expected):
        return None
    if isinstance(value, dict) and isinstance(expected, dict):
        return _first_difference(value, expected)
    return f"{value!r} instead of {expected!r}"


def judge_contains(content: Any, expected: Sequence[str]) -> str | None:
    """Check that an answer holds every one of some texts."""
    if not isinstance(content, str):
        return "no answer"
    missing = [text for text in expected if text not in content]
    return f"the answer lacks {missing[0]!r}" if missing else None


def same(left: Any, right: Any) -> bool:
    """Say whether two JSON values are equal; unlike in Python, 1 is not true or 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            same(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    """Read the calls of a message, or say what is wrong with them."""
    calls = []
    for call in message.get("tool_calls") or []:
        function = call.get("function") or call
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError as error:
                return f"the arguments are no JSON: {error}"
        if not isinstance(arguments, dict):
            return "the arguments are no JSON object"
        calls.append({"name": function.get("name"), "arguments": arguments})
    return calls


def _difference(call: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    if call["name"] != wanted["name"]:
        return f"called {call['name']!r} instead of {wanted['name']!r}"
    if same(call["arguments"], dict(wanted["arguments"])):
        return None
    return _first_difference(call["arguments"], wanted["arguments"])


def _first_difference(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    for key in [*wanted, *value]:
        if key not in value:
            return f"{key} is missing"
        if key not in wanted:
            return f"{key} is one too many"
        if not same(value[key], wanted[key]):
            return f"{key} is {value[key]!r} instead of {wanted[key]!r}"
    return "the values differ"
