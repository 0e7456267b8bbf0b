"""What the corpus is made of: conversations, and what would be a right answer.

Messages and tools are chat-completions JSON, as LangChain and vLLM exchange them, so
the chat template that trains the model is the one that serves it.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any, Literal

from langchain_ssr.demo.corpus.vocabulary import Vocabulary

Skill = Literal["code", "data", "tools", "short"]


@dataclasses.dataclass(frozen=True)
class Check:
    """How an answer is judged.

    Attributes:
        kind: Which of the judges in `langchain_ssr.demo.grading` applies.
        expected: What that judge compares with; plain JSON.
        decisions: The decisions that the reasoning must state last, as the exact lines
            of its closing list; empty if it makes none.
    """

    kind: str
    expected: Any
    decisions: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Example:
    """One conversation.

    Attributes:
        skill: What it trains.
        kind: A finer name within the skill, for example `"table_to_json"`.
        messages: System, user, assistant and tool messages. Each assistant message that
            is to be learned has `reasoning_content` and either `content` or
            `tool_calls` (their `arguments` are dicts, as chat templates expect).
        checks: One check for each of the last assistant messages, in order; only these
            messages are learned, earlier ones are given.
        tools: Declared tools, `{"type": "function", "function": {...}}` each.
        enable_thinking: False for the few conversations without reasoning; their
            assistant messages have no `reasoning_content`.
    """

    skill: Skill
    kind: str
    messages: list[dict[str, Any]]
    checks: list[Check]
    tools: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    enable_thinking: bool = True
    cut: float | None = None
    """Close the first learned reasoning after this share of it, and learn only the
    answer: what a draft is made of."""
    tight: bool = False
    """Leave out the blank line between reasoning and a tool call or raw JSON, as vLLM's
    grammars do."""


@dataclasses.dataclass(frozen=True)
class Draw:
    """Where a generator gets its choices from.

    Attributes:
        rng: The seeded source of every choice.
        words: The names of one split; held-out names are in no training conversation.
    """

    rng: random.Random
    words: Vocabulary

    def pick(self, *options: Any) -> Any:
        """Choose one of the options."""
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        """Be True with this probability."""
        return self.rng.random() < probability


Maker = Callable[[Draw], Example]
"""A generator of one kind of conversation."""
