"""Settings and ways of asking that the tests of kinds share."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from tests.integration_tests.tiny_models import TEXT

PROMPT = "hello there"
THINK: dict[str, Any] = {
    "enable_thinking": True,
    "thinking_budget": 40,
    "draft_budget": 12,
    "iterative": False,
    "max_tokens": 120,
}
BRIEF = {**THINK, "thinking_budget": 12, "draft_budget": 6}
QUESTION = "Is Paris the capital of France?"
OPENED = 1
"""Tokens after the `<think>` of the prompt, a line's end: vLLM counts them, too."""
speculating = pytest.mark.parametrize("speculation", [True, False])


class Answer(BaseModel):
    """An answer."""

    kind: Literal["one", "other"]
    ok: bool


def letters(*special: int) -> dict[str, Any]:
    """Allow the tiny models a few letters, and these special tokens."""
    return {"allowed_token_ids": [*special, *range(TEXT, TEXT + 9)]}


LETTERS = letters()


def whole(llm: Any, messages: Any, **settings: Any) -> AIMessage:
    return llm.invoke(messages, **settings)


def streamed(llm: Any, messages: Any, **settings: Any) -> AIMessage:
    return reduce(add, llm.stream(messages, **settings))


either_way = pytest.mark.parametrize("ask", [whole, streamed])
Ask = Callable[..., AIMessage]


def reasoning_of(message: AIMessage) -> str:
    return message.additional_kwargs.get("reasoning_content", "")


def stats_of(message: AIMessage) -> dict[str, Any]:
    return message.response_metadata["speculation"]
