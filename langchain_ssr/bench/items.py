"""What a benchmark asks for: requests, and how their answers are judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ssr.content_blocks import REASONING_KEY
from langchain_ssr.wire.requests import messages_to_wire


@dataclass(frozen=True)
class Verdict:
    """How good an answer is.

    Attributes:
        score: From 0 to 1; None if it cannot be judged here.
        why: What is wrong, or why it cannot be judged, in one line.
    """

    score: float | None
    why: str | None = None


Judge = Callable[[Mapping[str, Any]], Verdict]
"""Judges an answer, a chat-completions message with `reasoning`, `content` and
`tool_calls`."""


def right_or_wrong(reason: str | None) -> Verdict:
    """Make a verdict of what is wrong, or None if nothing is."""
    return Verdict(0.0 if reason else 1.0, reason)


@dataclass(frozen=True)
class Item:
    """One request.

    Attributes:
        id: Its name, unique in a run.
        workload: What it belongs to; figures are made for each workload.
        messages: The conversation, as chat-completions JSON.
        tools: Declared tools, as chat-completions JSON.
        settings: Settings of the call; they win over those of the run.
        conversation: Requests with the same one share what the engine has cached of
            their prompts. Default: none does.
        judge: Judges the answer; None if nobody can.
        left_out: Why it is not asked; None if it is.
    """

    id: str
    workload: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    conversation: str | None = None
    judge: Judge | None = None
    left_out: str | None = None

    @property
    def digest(self) -> str:
        """Tells requests apart that have the same id in two runs."""
        told = [self.messages, self.tools, self.settings]
        text = json.dumps(told, sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


Misfit = Callable[[Item], str | None]
"""Says why a request does not fit the model; None if it does."""


def messages_to_json(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Write a conversation as chat-completions JSON that LangChain reads again.

    The API's `reasoning` stands under the name that LangChain keeps.
    """
    wire = messages_to_wire(messages, media=True)
    for message in wire:
        if "reasoning" in message:
            message[REASONING_KEY] = message.pop("reasoning")
    return wire
