"""How an answer ended: a grid that never saw a kind of end proves nothing about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from langchain_ssr.models import resolve
from tests.exactness.asking import Case, Choice
from tests.exactness.material import TRAINED, markers

WANTED = frozenset(
    f"{reasoning}, {answer}"
    for reasoning, answers in {
        "budget": (
            "length",
            "context",
            "stop string",
            "stop token",
            "end",
            "tool_calls",
        ),
        "itself": ("length", "stop string", "end"),
        "thinking": ("length", "stop token"),
        "none": ("length", "stop string", "end", "tool_calls"),
        "call": ("length",),
    }.items()
    for answer in answers
)
"""What the whole grid of a tiny ChatML model has to reach."""
_ALWAYS_THINKS = frozenset({"none, stop string", "none, tool_calls"})
"""What the parser of DeepSeek R1 cannot reach: to it all text without an end marker is
reasoning, where neither stop strings nor grammars count."""
_NEVER: Mapping[str, frozenset[str]] = {
    "gemma4": frozenset({"budget, tool_calls", "none, tool_calls"}),  # no grammar
    "mistral": _ALWAYS_THINKS,
    "qwen2": _ALWAYS_THINKS,
}
_FORCED = 2
"""A budget's end may come this many tokens before its number: the tokens that the
prompt holds after the opening marker count, too."""


def markers_of(shape: str) -> tuple[int, int | None]:
    """Return the token ids that end reasoning and that begin a tool call."""
    if shape not in TRAINED:
        return markers(shape).end, markers(shape).call
    text = (Path(resolve(shape).path) / "tokenizer.json").read_text(encoding="utf-8")
    added = {
        token["content"]: token["id"] for token in json.loads(text)["added_tokens"]
    }
    return added["</think>"], added.get("<tool_call>")


def how_it_ended(markers: tuple[int, int | None], case: Case, choice: Choice) -> str:
    """Say how the reasoning ended, and how the answer did.

    Args:
        markers: From `markers_of`.
        case: The request.
        choice: The plain engine's first answer.

    Returns:
        How the reasoning ended ("budget", "itself", with a tool "call"; "thinking" if
        it did not; "none" if there was none), and how the answer did ("length",
        "context", "end", "stop string", "stop token", "tool_calls").
    """
    end = choice.finish_reason
    if end == "length" and case.settings["max_tokens"] is None:
        end = "context"
    elif end == "stop":
        kinds = {str: "stop string", int: "stop token"}
        end = kinds.get(type(choice.stop_reason), "end")
    return f"{_reasoning(markers, case, choice.token_ids)}, {end}"


def _reasoning(
    markers: tuple[int, int | None], case: Case, token_ids: list[int]
) -> str:
    if case.settings.get("enable_thinking") is False:
        return "none"
    first = {token: token_ids.index(token) for token in markers if token in token_ids}
    if not first:
        return "thinking"
    token = min(first, key=first.__getitem__)
    if token == markers[1]:
        return "call"
    budget = case.settings.get("thinking_budget")
    return "itself" if budget is None or first[token] < budget - _FORCED else "budget"


def missing(shape: str, reached: Iterable[str]) -> list[str]:
    """Return the wanted ends that a shape's requests did not reach."""
    if shape in TRAINED:
        return []
    return sorted(WANTED - _NEVER.get(shape, frozenset()) - set(reached))
