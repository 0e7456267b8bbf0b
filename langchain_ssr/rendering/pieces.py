"""The output as a sequence of pieces, each from one source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from langchain_ssr.stats import SpeculationStats

DECODED = "decoded"
"""The source of tokens that nobody proposed: the engine decoded them one by one."""


@dataclass(frozen=True)
class Piece:
    """Consecutive tokens of one phase that came from one source.

    Attributes:
        phase: What the model was doing.
        source: One of `sources.SOURCES`, or `DECODED`.
        num_tokens: Its tokens.
        num_steps: Engine steps that it adds. A step that accepts a proposal also gives
            the token after it, so that token adds none.
        text: Its text, as the model wrote it.
    """

    phase: Literal["thinking", "answer"]
    source: str
    num_tokens: int
    num_steps: int
    text: str


def pieces_of(stats: SpeculationStats) -> list[Piece]:
    """Return an output's pieces in order; none if the statistics lack the details.

    The steps of all pieces are the steps of the request: a step ends with a decoded
    token, unless the output ends before it.

    Args:
        stats: The statistics of the answer.
    """
    if stats.spans is None or stats.span_texts is None:
        return []
    answer_begins = _answer_begins(stats)
    pieces, at, verifying = [], 0, False
    for (source, count), text in zip(stats.spans, stats.span_texts, strict=True):
        steps = count if source == DECODED else 1
        phase: Literal["thinking", "answer"]
        phase = "thinking" if at < answer_begins else "answer"
        pieces.append(Piece(phase, str(source), count, steps - verifying, text))
        at += count
        verifying = source != DECODED
    return pieces


def text_of(pieces: Iterable[Piece]) -> str:
    """Return the text of some pieces."""
    return "".join(piece.text for piece in pieces)


def _answer_begins(stats: SpeculationStats) -> int:
    """Return how many tokens come before the answer, markers counted."""
    for event in stats.timeline or []:
        if event["event"] == "reasoning_ended":
            return int(event["num_tokens"])
    thought_only = stats.num_reasoning_tokens and not stats.num_answer_tokens
    return stats.num_reasoning_tokens if thought_only else 0
