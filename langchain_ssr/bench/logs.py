"""Reads what a reasoning model answered from a user's own logs.

Two formats, one object a line: `prompt` (a text or chat messages), `reasoning` and
`answer`; or LangSmith's export of runs, with `inputs` and `outputs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_ssr.bench.files import read_lines
from langchain_ssr.errors import SettingsError

_REASONING = ("reasoning", "reasoning_content", "thinking")
_THINK, _THINK_END = "<think>", "</think>"


@dataclass(frozen=True)
class Logged:
    """One request and what came of it, as texts."""

    prompt: str
    reasoning: str
    answer: str


def read(path: Path) -> tuple[list[Logged], int]:
    """Read a file of JSON lines.

    Args:
        path: The file.

    Returns:
        The requests that have an answer, and how many lines have none (a tool's run, a
        chain's, or one that failed).

    Raises:
        SettingsError: The file cannot be read, a line is no JSON object, or no line has
            an answer.
    """
    found, others = [], 0
    for entry in read_lines(path):
        logged = _logged(entry)
        if logged is None:
            others += 1
        else:
            found.append(logged)
    if not found:
        raise SettingsError(
            f"{path} has no answers. Each line is an object with `prompt`, `reasoning` "
            "and `answer`, or a run as LangSmith exports it"
        )
    return found, others


def _logged(entry: Mapping[str, Any]) -> Logged | None:
    if "outputs" in entry or "inputs" in entry:
        message = next(_messages(entry.get("outputs")), None)
        prompt = "\n".join(map(_content, _messages(entry.get("inputs"))))
        return None if message is None else _split(prompt, message)
    if "answer" not in entry:
        return None
    given = entry.get("prompt") or ""
    prompt = (
        given if isinstance(given, str) else "\n".join(map(_content, _messages(given)))
    )
    return _split(prompt, {**entry, "content": entry["answer"]})


def _split(prompt: str, message: Mapping[str, Any]) -> Logged | None:
    """Tell an answer from its reasoning, which may stand in front of it."""
    answer = _content(message) + _calls(message)
    more = message.get("additional_kwargs") or {}
    blocks = message.get("content")
    sources = [message, more, *(blocks if isinstance(blocks, list) else ())]
    told = [
        str(of[name])
        for of in sources
        if isinstance(of, Mapping)
        for name in _REASONING
        if of.get(name)
    ]
    reasoning = told[0] if told else ""
    if not reasoning and _THINK_END in answer:
        reasoning, answer = answer.split(_THINK_END, 1)
        reasoning = reasoning.replace(_THINK, "", 1)
    return Logged(prompt, reasoning, answer.strip()) if answer.strip() else None


def _messages(data: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of whatever they are wrapped in: lists, generations, chats."""
    if isinstance(data, list):
        for each in data:
            yield from _messages(each)
    elif isinstance(data, Mapping):
        wrapped = [
            data[name]
            for name in ("messages", "generations", "message", "kwargs", "choices")
            if data.get(name)
        ]
        if wrapped:
            yield from _messages(wrapped)
        elif "content" in data or data.get("tool_calls"):
            yield data


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = (b.get("text", "") for b in content if isinstance(b, Mapping))
        return "".join(texts)
    return str(content or "")


def _calls(message: Mapping[str, Any]) -> str:
    """Return the arguments of tool calls: they are answer tokens like any other."""
    written = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call
        arguments = function.get("arguments", function.get("args", {}))
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        written.append(f"{function.get('name', '')} {arguments}")
    return "\n".join(written)
