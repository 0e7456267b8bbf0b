"""Made-up requests for schedulers without a model."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

IDLE = ("random", "thinking")
"""Scenarios in which there is nothing to propose."""
SCENARIOS = ("prediction", "repeat", "misled", *IDLE)
VOCAB = 151_936
"""Tokens of the vocabulary; with that of Qwen3, random tokens hardly ever match."""
START, END, FIRST_WORD = 1, 2, 10
"""Token ids: the reasoning's markers, and the first of the ordinary tokens."""
NUM_PROMPT = 1024
_PASSAGE, _EDIT_EVERY = 100, 40
"""Tokens: length of what is repeated, mean distance of edits in a prediction."""


@dataclass(frozen=True)
class Case:
    """One made-up request; token ids."""

    prompt: list[int]
    output: list[int]
    settings: dict[str, Any]


def edited(
    tokens: Sequence[int], every: int, word: Callable[[], int], rng: random.Random
) -> list[int]:
    """Substitute, delete or insert a token about every `every` tokens."""
    result: list[int] = []
    for token in tokens:
        edit = rng.random() * every
        if edit >= 1:
            result.append(token)
        elif edit < 1 / 3:
            result.append(word())
        elif edit < 2 / 3:
            result += [word(), token]
    return result


def make_case(scenario: str, num_tokens: int, seed: int) -> Case:
    """Make one request of a scenario; its output has `num_tokens` tokens or more."""
    rng = random.Random(seed)

    def word() -> int:
        return rng.randrange(FIRST_WORD, VOCAB)

    prompt = [word() for _ in range(NUM_PROMPT - 1)]
    prompt.append(START if scenario == "thinking" else END)
    output = [word() for _ in range(num_tokens)]
    settings: dict[str, Any] = {}
    if scenario == "prediction":
        settings["prediction_token_ids"] = output
        output = edited(output, _EDIT_EVERY, word, rng)
        output += [word() for _ in range(max(0, num_tokens - len(output)))]
    elif scenario == "misled":
        settings["prediction_token_ids"] = [word() for _ in range(num_tokens)]
    elif scenario == "repeat":
        passage = output[:_PASSAGE]
        prompt[-_PASSAGE - 1 : -1] = passage
        output = (passage * (num_tokens // _PASSAGE + 1))[:num_tokens]
    elif scenario == "thinking":
        settings["max_drafts"] = 0
    return Case(prompt, output, settings)
