"""Says whether one turn of a conversation was answered rightly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from langchain_ssr.demo.corpus.example import Check, Example
from langchain_ssr.demo.corpus.tool_reasoning import FINAL
from langchain_ssr.demo.grading_code import judge_class
from langchain_ssr.demo.grading_data import judge_data, judge_text
from langchain_ssr.demo.grading_tools import (
    judge_calls,
    judge_contains,
    judge_json,
    judge_write,
)

ANSWER_JUDGES: dict[str, Callable[[str, Any], str | None]] = {
    "class": judge_class,
    "contains": judge_contains,
    "data": judge_data,
    "json": judge_json,
    "text": judge_text,
}
"""The judges of what an answer says, by `Check.kind`; the others judge calls."""


def grade(example: Example, turn: int, message: Mapping[str, Any]) -> str | None:
    """Judge one turn: its reasoning, the decisions in it, and the answer or calls.

    Args:
        example: The conversation.
        turn: Which of the turns to be learned, from 0; `example.checks` has them.
        message: A chat-completions message: `reasoning`, `content`, and `tool_calls`
            with arguments as JSON.

    Returns:
        None if it is right, else the reason why not, in one line.

    Raises:
        ValueError: If no judge has the name that the check says.
    """
    check = example.checks[turn]
    if check.kind not in {*ANSWER_JUDGES, "calls", "write"}:
        raise ValueError(f"there is no judge {check.kind!r}")
    if not is_answered(message):
        return "the reasoning does not end" if message.get("reasoning") else "no answer"
    reason = _judge_decisions(message.get("reasoning") or "", check.decisions)
    if reason:
        return reason
    try:
        return _judge(check, message)
    except Exception as error:  # noqa: BLE001 - what breaks a judge is not right
        return f"it cannot be judged: {type(error).__name__}"


def is_answered(message: Mapping[str, Any]) -> bool:
    """Say whether something follows the reasoning, so that it has ended by itself."""
    return bool((message.get("content") or "").strip() or message.get("tool_calls"))


def _judge_decisions(reasoning: str, decisions: tuple[str, ...]) -> str | None:
    """Compare the closing list of the reasoning with the decisions of the answer."""
    if not decisions:
        return None
    _, heading, closing = f"\n{reasoning.strip()}".rpartition(f"\n{FINAL}\n")
    if not heading:
        return "the reasoning states no final decisions"
    found = closing.split("\n")
    wanted = "\n".join(decisions).strip().split("\n")
    for number, (line, right) in enumerate(itertools.zip_longest(found, wanted), 1):
        if line != right:
            return f"decision {number} is {line!r} instead of {right!r}"
    return None


def _judge(check: Check, message: Mapping[str, Any]) -> str | None:
    if check.kind == "calls":
        return judge_calls(message, check.expected)
    if check.kind == "write":
        return judge_write(message, check.expected, _judge_written)
    if message.get("tool_calls"):
        return "a call instead of an answer"
    return ANSWER_JUDGES[check.kind](message["content"], check.expected)


def _judge_written(code: str, check: Mapping[str, Any]) -> str | None:
    """Judge the code that a call writes to a file, where a fence would be an error."""
    if "```" in code:
        return "a fence in the file"
    return ANSWER_JUDGES[check["kind"]](code, check["expected"])
