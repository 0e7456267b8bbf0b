"""Requests made for ends that pairs of settings reach by luck only.

A tiny model has no will to end anything. So it is left few tokens and is tired of each;
a marker among them then gets its turn, and where there is none, nothing ends by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.exactness.asking import Case, merge
from tests.exactness.material import (
    FULL_PROMPT,
    PROMPTS,
    REGEX,
    TOOL,
    TRAINED,
    few_tokens,
    markers,
)

BUDGET: dict[str, Any] = {"thinking_budget": 24}
NONE: dict[str, Any] = {"enable_thinking": False}
CALL: dict[str, Any] = {"tools": [TOOL], "tool_choice": "required"}
LONG_ANSWER = "long answer"
"""Label of a request whose answer goes round in circles: all of it can be proposed."""


def rare_cases(shape: str, drafts: Mapping[str, Mapping[str, Any]]) -> list[Case]:
    """Return two requests for each of the rare ends; of a tiny model only.

    Args:
        shape: The model's shape.
        drafts: Settings for drafts by name, as `SPECULATION` has them.
    """
    if shape in TRAINED:
        return []
    return [
        Case(
            FULL_PROMPT if settings["max_tokens"] is None else PROMPTS["some"],
            settings,
            drafts[name],
            label=label,
        )
        for label, settings in _settings(shape).items()
        for name in ("iterative", "one")
    ]


def _settings(shape: str) -> dict[str, dict[str, Any]]:
    ids = markers(shape)

    def few(*special: int, letters: int, max_tokens: int | None, **more: Any) -> Any:
        settings = few_tokens(ids.text, *special, letters=letters)
        merge(settings, {"max_tokens": max_tokens, **more})
        return settings

    stop: dict[str, Any] = {"stop": ["`", "a", "b"]}  # all letters but one
    stop_token: dict[str, Any] = {"stop_token_ids": [ids.text + 1]}
    late: dict[str, Any] = {"min_tokens": 40}
    settings = {
        "budget, context": few(letters=3, max_tokens=None, **BUDGET),
        "budget, stop string": few(letters=4, max_tokens=90, **BUDGET, **stop),
        "budget, stop token": few(
            letters=2, max_tokens=90, **BUDGET, extra_body={**stop_token, **late}
        ),
        "budget, end": few(
            ids.eos, letters=2, max_tokens=120, **BUDGET, extra_body=late
        ),
        "itself, stop string": few(
            ids.end, letters=4, max_tokens=160, stop=["___", *stop["stop"]]
        ),
        "itself, end": few(
            ids.end, ids.eos, letters=3, max_tokens=160, extra_body={"min_tokens": 70}
        ),
        "thinking, stop token": few(letters=2, max_tokens=90, extra_body=stop_token),
        "none, length": few(letters=3, max_tokens=40, **NONE),
        "none, end": few(ids.eos, letters=2, max_tokens=120, **NONE),
        "none, stop string": few(letters=4, max_tokens=90, **NONE, **stop),
        "none, grammar": {
            "max_tokens": 84,
            **NONE,
            "extra_body": {"structured_outputs": {"regex": REGEX}},
        },
        LONG_ANSWER: {
            "max_tokens": 300,
            **BUDGET,
            "extra_body": {"ignore_eos": True},
        },
    }
    if shape != "gemma4":  # vLLM has no grammar for its calls
        settings["budget, tool_calls"] = {"max_tokens": 120, **BUDGET, **CALL}
        settings["none, tool_calls"] = {"max_tokens": 120, **NONE, **CALL}
    return settings
