"""Statistics as an engine would report them, from texts that are marked by source.

They are samples: no model wrote the texts, and nothing was measured. The counts agree
with each other as in a real report; times come from a fixed time for each step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_ssr.rendering.pieces import DECODED
from langchain_ssr.stats import Overhead, SourceStats, SpeculationStats, Timing

Span = tuple[str, str]
"""A source and the text that came from it."""
STEP_MS = 25.0
_REJECTED = 2
"""Proposed tokens behind each accepted span that are not accepted."""
_END = "</think>"
_TOKEN = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


@dataclass(frozen=True)
class SampleDraft:
    """A draft of a sample.

    Attributes:
        forked_at: Reasoning tokens before it.
        num_tokens: Its tokens, one in each step.
        finish_reason: Why it ended.
    """

    forked_at: int
    num_tokens: int
    finish_reason: str


def sample(
    thinking: Sequence[Span],
    answer: Sequence[Span],
    drafts: Sequence[SampleDraft] = (),
) -> SpeculationStats:
    """Return detailed statistics of an output.

    Args:
        thinking: The reasoning without the marker that ends it, the last span decoded;
            none if the model did not think.
        answer: The answer.
        drafts: Its drafts in order. All accepted tokens are the last one's.
    """
    if thinking:
        *earlier, (source, text) = thinking
        thinking = [*earlier, (source, text + _END)]
    before = sum(_num_tokens(text) for _, text in thinking)
    spans = [(source, _num_tokens(text), text) for source, text in thinking]
    spans += [(source, _num_tokens(text), text) for source, text in answer]
    steps = _steps(spans)
    ended = steps[before - 1] if thinking else 0
    # The marker that ends the thinking counts as a token of the answer in usage.
    reasoning = max(before - 1, 0)
    sources = _sources(spans)
    return SpeculationStats(
        mode="ssr",
        reason=None if thinking else "no_reasoning",
        num_reasoning_tokens=reasoning,
        num_answer_tokens=len(steps) - reasoning,
        num_reasoning_steps=ended,
        num_answer_steps=steps[-1] - ended,
        num_saved_steps=len(steps) - steps[-1],
        sources=sources,
        drafts=_drafts(drafts, sources),
        overhead=Overhead(num_draft_tokens=sum(draft.num_tokens for draft in drafts)),
        timing=Timing(
            reasoning_time_ms=ended * STEP_MS,
            answer_time_ms=(steps[-1] - ended) * STEP_MS,
        ),
        spans=[[source, count] for source, count, _ in spans],
        span_texts=[text for _, _, text in spans],
        timeline=_timeline(spans, steps, before, drafts),
    )


def _num_tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def _steps(spans: Sequence[tuple[str, int, str]]) -> list[int]:
    """Return the step of each token, from 1.

    An accepted span takes one step, which also gives the token after it.
    """
    steps: list[int] = []
    at, verifying = 0, False
    for source, count, _ in spans:
        for number in range(count):
            alone = source == DECODED and not (verifying and number == 0)
            at += alone or (source != DECODED and number == 0)
            steps.append(at)
        verifying = source != DECODED
    return steps


def _sources(spans: Sequence[tuple[str, int, str]]) -> dict[str, SourceStats]:
    sources = SpeculationStats().sources
    for source, count, _ in spans:
        if source != DECODED:
            sources[source].num_draft_tokens += count + _REJECTED
            sources[source].num_accepted_draft_tokens += count
    return sources


def _drafts(
    drafts: Sequence[SampleDraft], sources: Mapping[str, SourceStats]
) -> list[dict[str, Any]]:
    of_drafts = (sources["draft_prefix"], sources["draft_suffix"])
    accepted = sum(source.num_accepted_draft_tokens for source in of_drafts)
    return [
        {
            "index": index,
            "budget": draft.forked_at,
            "num_reasoning_tokens": draft.forked_at,
            "num_tokens": draft.num_tokens,
            "num_steps": draft.num_tokens,
            "num_cached_tokens": 0,
            "num_accepted_draft_tokens": accepted if index == len(drafts) - 1 else 0,
            "finish_reason": draft.finish_reason,
            "duration_ms": draft.num_tokens * STEP_MS,
        }
        for index, draft in enumerate(drafts)
    ]


def _timeline(
    spans: Sequence[tuple[str, int, str]],
    steps: Sequence[int],
    before: int,
    drafts: Sequence[SampleDraft],
) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    at = 0
    for source, count, _ in spans:
        if source != DECODED:
            told = {"source": source, "num_tokens": count}
            events.append(_event("verified", steps[at], **told))
        at += count
    if before:
        ended = steps[before - 1]
        events.append(_event("reasoning_ended", ended, num_tokens=before))
    for index, draft in enumerate(drafts):
        start = steps[draft.forked_at - 1]
        end, reason = start + draft.num_tokens, draft.finish_reason
        events += [
            _event("draft_started", start, index=index),
            _event("draft_ended", end, index=index, finish_reason=reason),
        ]
    return sorted(events, key=lambda event: event["t_ms"])


def _event(name: str, step: int, **fields: Any) -> dict[str, Any]:
    return {"event": name, "t_ms": step * STEP_MS, **fields}
