"""Messages that several of the generators of the skill "tools" need."""

from __future__ import annotations

from typing import Any

from langchain_ssr.demo.corpus.example import Draw


def call_message(calls: list[dict[str, Any]], reasoning: str) -> dict[str, Any]:
    """Return an assistant message with calls.

    Args:
        calls: Name and arguments each.
        reasoning: The reasoning; empty if there is none.
    """
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": f"call_{number}", "type": "function", "function": dict(call)}
            for number, call in enumerate(calls)
        ],
    }
    return {**message, "reasoning_content": reasoning} if reasoning else message


def system_message(draw: Draw) -> list[dict[str, Any]]:
    """Draw a system message, or none."""
    words = draw.words
    if draw.chance(0.7):
        return []
    text = draw.pick(
        "You are a helpful assistant.",
        "You are a helpful assistant.",
        "You are an assistant with tools.",
        "Answer briefly.",
        "Use the tools where they help.",
        f"You work for {words.person()} in {words.place()}.",
        f"You are the assistant of a {words.noun()} {words.noun()}.",
        f"You help with the {words.noun()}. Be {words.adjective()} and polite.",
        f"You are {words.person()}, an assistant for {words.noun()}s.",
    )
    return [{"role": "system", "content": text}]
