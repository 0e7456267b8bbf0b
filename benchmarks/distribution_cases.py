"""What `benchmarks.distribution` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.exact_probabilities import Sampling

NUM_TESTED = 3
"""Answer tokens of a sample that are tested, its first."""
_NUM_ANSWER = NUM_TESTED + 1
"""A proposal is cut one token short of the end, so one more is asked for."""
_OPENED = 1
"""Tokens of the prompt after `<think>`, a line's end: they count as reasoning, too."""


@dataclass(frozen=True)
class Asked:
    """Requests that differ in nothing but their seeds.

    Attributes:
        name: What a report calls them.
        sampling: What they sample from.
        seeded: Whether each has a seed of its own.
        prompt: The user's message.
        num_reasoning: Reasoning tokens; then the engine ends the reasoning. No allowed
            token ends it earlier.
        drafts: Speculation settings. Left to itself, one draft is made from the first
            reasoning token, and its tokens are sampled at a high temperature.
    """

    name: str
    sampling: Sampling
    seeded: bool = False
    prompt: str = "hello there"
    num_reasoning: int = 4
    drafts: Mapping[str, Any] = field(
        default_factory=lambda: {"draft_budget": [1], "draft_temperature": 2.0}
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings of `ChatSSR` for these requests, less the seed."""
        return {
            "temperature": self.sampling.temperature,
            "top_k": self.sampling.top_k,
            "top_p": self.sampling.top_p,
            "enable_thinking": True,
            "thinking_budget": self.num_reasoning + _OPENED,
            "max_tokens": self.num_reasoning + 1 + _NUM_ANSWER,
            "speculation_stats": "detailed",
            "speculate_reasoning": False,
            "extra_body": {
                "allowed_token_ids": list(self.sampling.allowed),
                "return_token_ids": True,
            },
            **self.drafts,
        }


@dataclass(frozen=True)
class Case:
    """Requests that share the engine's batches, in equal numbers."""

    name: str
    asked: tuple[Asked, ...]


def _ids(first: int, count: int) -> tuple[int, ...]:
    return tuple(range(first, first + count))


# Printable characters between which the model is undecided; none of them ends reasoning
# or answer.
FOUR, SIX, EIGHT = _ids(49, 4), _ids(47, 6), _ids(46, 8)

# A seed that a draft shares with its request shows in the answer only where the draft
# gets ahead of the request in the common stream of random numbers, and where the
# request then takes for the verification of a token the very numbers that had made
# this token. Here the first draft has two tokens when the second draft begins. The
# second draws a token (1 number) and then verifies the other one of the first: a number
# for a token of its own, one for the acceptance and, for a token in place of a rejected
# one, one for each token id. By then the request has taken a number for each token of
# its reasoning and for the reasoning's end. So the number for its acceptance of the
# second answer token is that of the draft's token id `num_reasoning`.
#
# Prompt and token ids are such that the second draft is mostly right in its first token
# and often wrong in its second.
_FOLLOWING = {"draft_budget": [1, 3]}
_SHARED = 8

CASES = (
    Case("plain", (Asked("temperature 1", Sampling(SIX)),)),
    Case(
        "seeded",
        (
            Asked(
                "temperature 1, seeded, a draft that follows a draft",
                Sampling((_SHARED, 32, 57, 97)),
                seeded=True,
                prompt="Good morning.",
                num_reasoning=_SHARED,
                drafts=_FOLLOWING,
            ),
        ),
    ),
    Case(
        "cool",
        (Asked("temperature 0.6, seeded", Sampling(EIGHT, 0.6), seeded=True),),
    ),
    Case("top-p", (Asked("temperature 1, top-p 0.8", Sampling(EIGHT, top_p=0.8)),)),
    Case(
        "top-k",
        (Asked("temperature 1, top-k 3, seeded", Sampling(SIX, top_k=3), seeded=True),),
    ),
    Case(
        "top-k-top-p",
        (
            Asked(
                "temperature 0.6, top-k 4, top-p 0.9",
                Sampling(SIX, 0.6, top_k=4, top_p=0.9),
            ),
        ),
    ),
    Case(
        "short-proposals",
        (
            Asked(
                "temperature 1, at most 2 tokens a proposal, several drafts",
                Sampling(FOUR),
                num_reasoning=6,
                drafts={
                    "draft_budget": [1, 3, 4],
                    "draft_temperature": 3.0,
                    "num_speculative_tokens": 2,
                    "speculate_reasoning": True,
                },
            ),
        ),
    ),
    Case(
        "together",
        (
            Asked("temperature 1, top-k 5", Sampling(EIGHT, top_k=5), seeded=True),
            Asked(
                "temperature 0.6, top-p 0.9",
                Sampling(FOUR, 0.6, top_p=0.9),
                prompt="What is 2+2?",
                num_reasoning=5,
                drafts={"draft_budget": [2], "draft_temperature": 1.0},
            ),
        ),
    ),
)
BY_NAME = {case.name: case for case in CASES}
