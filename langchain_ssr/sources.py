"""The sources of proposed tokens, by the names that settings and statistics use."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, get_args

SourceName = Literal[
    "draft_prefix",
    "draft_suffix",
    "prompt",
    "reasoning",
    "answer",
    "prediction",
]
"""What a user writes for a `Source`: plain text that editors can complete."""

SOURCES: tuple[str, ...] = get_args(SourceName)
"""Where proposed tokens come from, in the order of the statistics."""


class Source(StrEnum):
    """Where proposed tokens come from."""

    DRAFT_PREFIX = "draft_prefix"
    """A draft with which the answer has agreed from its first token on."""
    DRAFT_SUFFIX = "draft_suffix"
    """A draft, found in any other way or place."""
    PROMPT = "prompt"
    REASONING = "reasoning"
    ANSWER = "answer"
    PREDICTION = "prediction"


OF_DRAFTS = frozenset({Source.DRAFT_PREFIX, Source.DRAFT_SUFFIX})
"""Sources that need drafts."""
