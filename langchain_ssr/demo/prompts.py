"""The prompts of the demo."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_ssr.models import SMOLLM2

_CLASS = """\
Write a Python class `Playlist`. Make it a dataclass. No docstrings.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
- `play_count`: int = 0
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `increase_play_count` to add an amount to `play_count`
- `set_owner` to set `owner` to a new value
P.S. the method `remove_song` should be called `skip`."""
_TABLE = """\
Can you convert this CSV to a JSON array?

name,price,stock,color
copper kettle,24.5,7,red
garden lamp,18.25,3,green
wooden bench,95,1,brown
paper lantern,4.75,9,white

One more thing: call "price" "cost"."""
_TOOL = """\
Please reserve the table in the city Lisbon (guests: 4; host: "Clara")."""
_RESERVE = {
    "type": "function",
    "function": {
        "name": "reserve_table",
        "description": "Reserve the table in the city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "guests": {"type": "integer", "description": "The number of guests."},
                "host": {"type": "string"},
            },
            "required": ["city", "guests", "host"],
        },
    },
}
_CANCEL = {
    "type": "function",
    "function": {
        "name": "cancel_order",
        "description": "Cancel the order.",
        "parameters": {
            "type": "object",
            "properties": {"order": {"type": "string"}},
            "required": ["order"],
        },
    },
}


@dataclasses.dataclass(frozen=True)
class Prompt:
    """One prompt of the demo.

    Attributes:
        title: Its name in the table.
        text: What the user says.
        tools: Declared tools.
        settings: Settings of the call.
    """

    title: str
    text: str
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)


PROMPTS = (
    Prompt("class", _CLASS),
    Prompt("data", _TABLE),
    Prompt("tool call", _TOOL, (_CANCEL, _RESERVE)),
    Prompt("short answer", "Does the list Oslo, Lima, Porto contain Bern?"),
)
_SMOLLM2 = (
    Prompt(
        "short answer", "What is the capital of France?", settings={"max_tokens": 220}
    ),
    Prompt(
        "class",
        "Write a Python class for a stack with push, pop and peek.",
        settings={
            "enable_thinking": True,
            "thinking_budget": 90,
            "draft_budget": 24,
            "max_tokens": 220,
        },
    ),
)
"""SmolLM2 was trained neither to think nor to use tools: a budget closes its reasoning,
and an early first draft suits that."""


def prompts_for(model: str) -> Sequence[Prompt]:
    """Return the prompts that suit a model."""
    return _SMOLLM2 if model == SMOLLM2 else PROMPTS
