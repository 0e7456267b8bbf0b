"""What the requests of the equality tests are made of: prompts, schemas, tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.integration_tests import tiny_models as tiny

PROMPTS = {
    "short": "hello there",
    "some": "What is 2+2? Count to ten: 1 2 3 4",
    "long": "Tell me more about it, and then some. " * 5,  # some cache blocks
}
FULL_PROMPT = "Tell me more about it, and then some. " * 22
"""Leaves a tiny model about 90 tokens of `MAX_MODEL_LEN`."""
MAX_MODEL_LEN = 1024
TASK = "Write a Python class for a stack with push, pop and peek."
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "point",
        "schema": {
            "type": "object",
            "properties": {"x": {"enum": [1, 22, 333]}, "ok": {"type": "boolean"}},
            "required": ["x", "ok"],
            "additionalProperties": False,
        },
    },
}
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"enum": [1, 22]}},
            "required": ["a"],
        },
    },
}
REGEX = r"(yes|no), because [a-z]{3,12}\."
TRAINED = ("smollm2", "demo")
"""Shapes that are trained models, and not made by `tiny_models`."""


@dataclass(frozen=True)
class Markers:
    """Token ids of a tiny model.

    Attributes:
        end: Ends the reasoning.
        eos: Ends the answer.
        call: Begins a tool call.
        text: The first of the letters "_`abcd...".
    """

    end: int
    eos: int
    call: int
    text: int


def markers(shape: str) -> Markers:
    """Return the token ids of a tiny model's shape."""
    if shape == "gemma4":
        ids = tiny.CHANNEL_END, tiny.GEMMA_END, tiny.GEMMA_TOOL_CALL, tiny.GEMMA_TEXT
        return Markers(*ids)
    return Markers(tiny.THINK_END, tiny.IM_END, tiny.TOOL_CALL, tiny.TEXT)


def few_tokens(first: int, *special: int, letters: int = 9) -> dict[str, Any]:
    """Leave the model few tokens, and tire it of each: every marker gets its turn.

    Args:
        first: Token id of the first letter.
        special: Token ids of markers.
        letters: How many letters.
    """
    allowed = [*special, *range(first, first + letters)]
    return {"frequency_penalty": 2.0, "extra_body": {"allowed_token_ids": allowed}}
