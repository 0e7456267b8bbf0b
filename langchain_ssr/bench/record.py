"""What one answer took, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from langchain_ssr.bench.asking import Answer
from langchain_ssr.bench.items import Item, Verdict
from langchain_ssr.bench.modes import Mode
from langchain_ssr.demo.asking import message_of
from langchain_ssr.stats import SpeculationStats

Key = tuple[str, str, int]
"""Mode, item and round."""


class Pace(BaseModel):
    """Engine steps of the thinking and the milliseconds that they took."""

    num_steps: int = 0
    ms: float = 0.0


class Record(BaseModel):
    """What one answer took. Times are seconds since the request; None: not known."""

    model_config = ConfigDict(extra="forbid")

    mode: str
    item: str
    round: int
    workload: str
    digest: str
    skipped: str | None = None
    """Why there is no answer; then nothing below is filled in."""

    first_reasoning: float | None = None
    first_draft: float | None = None
    """As the engine saw it, from its first sight of the request."""
    first_answer: float | None = None
    total: float = 0.0

    num_input_tokens: int = 0
    num_cached_tokens: int | None = None
    num_reasoning_tokens: int = 0
    num_answer_tokens: int = 0
    num_reasoning_steps: int | None = None
    num_answer_steps: int | None = None
    num_steps: int | None = None
    accepted: dict[str, int] = Field(default_factory=dict)
    """Accepted tokens by source; vLLM's own methods are a source each."""
    num_extra_tokens: int | None = None
    """Tokens computed that a plain engine would not have: drafted, rejected, and
    prompts of drafts that were not in the cache."""
    num_drafts: int = 0
    drafting: Pace | None = None
    """Thinking while a draft was written beside it."""
    alone: Pace | None = None
    """Thinking without one."""
    timeline: list[dict[str, Any]] | None = None

    finish_reason: str | None = None
    reasoning: str = ""
    content: str = ""
    tool_calls: list[list[str]] = Field(default_factory=list)
    """Name and arguments of each."""
    score: float | None = None
    why: str | None = None

    @property
    def key(self) -> Key:
        """What tells it from other records."""
        return self.mode, self.item, self.round

    @property
    def num_tokens(self) -> int:
        """Output tokens, reasoning included."""
        return self.num_reasoning_tokens + self.num_answer_tokens

    @property
    def output(self) -> tuple[Any, ...]:
        """What two equal answers have in common."""
        return self.reasoning, self.content, self.tool_calls

    @classmethod
    def of(cls, mode: Mode, item: Item, number: int, answer: Answer) -> Self:
        """Describe an answer and judge it.

        Args:
            mode: How it was made.
            item: What was asked.
            number: The round, from 0.
            answer: The answer.
        """
        message = message_of(answer.message)
        verdict = item.judge(message) if item.judge else Verdict(None)
        usage: Mapping[str, Any] = answer.message.usage_metadata or {}
        functions = [call["function"] for call in message["tool_calls"]]
        return cls(
            mode=mode.name,
            item=item.id,
            round=number,
            workload=item.workload,
            digest=item.digest,
            first_reasoning=answer.first_reasoning,
            first_answer=answer.first_answer,
            total=answer.total,
            num_input_tokens=usage.get("input_tokens", 0),
            num_cached_tokens=usage.get("input_token_details", {}).get("cache_read"),
            finish_reason=answer.message.response_metadata.get("finish_reason"),
            reasoning=message["reasoning"] or "",
            content=message["content"],
            tool_calls=[[f["name"], f["arguments"]] for f in functions],
            score=verdict.score,
            why=verdict.why,
            **_speculation(mode, SpeculationStats.from_message(answer.message)),
        )

    @classmethod
    def without_answer(cls, mode: Mode, item: Item, number: int, why: str) -> Self:
        """Say why there is no answer."""
        return cls(
            mode=mode.name,
            item=item.id,
            round=number,
            workload=item.workload,
            digest=item.digest,
            skipped=why,
        )


def _speculation(mode: Mode, stats: SpeculationStats) -> dict[str, Any]:
    """Read what speculation did out of the statistics, as far as they say."""
    found: dict[str, Any] = {
        "num_reasoning_tokens": stats.num_reasoning_tokens,
        "num_answer_tokens": stats.num_answer_tokens,
    }
    failed = stats.reason == "error"  # and then not all steps were counted
    steps = stats.num_reasoning_steps + stats.num_answer_steps
    if not failed:
        found["num_steps"] = steps
    if is_counted(stats) or (mode.engine.method is None and not failed):
        found["num_reasoning_steps"] = stats.num_reasoning_steps
        found["num_answer_steps"] = stats.num_answer_steps
    if mode.engine.method is not None:
        block = stats.speculative_decoding
        if block is None:
            return found | {"num_steps": None}
        accepted = block["num_accepted_draft_tokens"]
        _, alone = paces(stats)
        return {
            **found,
            "accepted": {mode.engine.method: accepted},
            "num_extra_tokens": block["num_draft_tokens"] - accepted,
            "alone": alone,
        }
    first_draft = stats.timing.time_to_first_draft_ms
    drafting, alone = paces(stats)
    return {
        **found,
        "accepted": {
            name: source.num_accepted_draft_tokens
            for name, source in stats.sources.items()
            if source.num_accepted_draft_tokens
        },
        "num_extra_tokens": sum(stats.overhead.model_dump().values()),
        "num_drafts": len(stats.drafts),
        "first_draft": None if first_draft is None else first_draft / 1e3,
        "drafting": drafting,
        "alone": alone,
        "timeline": stats.timeline,
    }


def is_counted(stats: SpeculationStats) -> bool:
    """Whether the scheduler counted the steps of each phase.

    Only its reports have times of phases. Without one, steps are made of what vLLM
    says, and that is no count of phases where it speculates by a method of its own.
    """
    timing = stats.timing
    reported = timing.reasoning_time_ms is not None or timing.answer_time_ms is not None
    return reported and stats.reason != "error"


def paces(stats: SpeculationStats) -> tuple[Pace | None, Pace | None]:
    """Tell the thinking's pace while a draft runs beside it from that without one.

    A step of a draft is a step of its parent, too. The step that computes the prompt is
    left out.

    Returns:
        Both paces; None where there were no such steps, or times are not known.
    """
    timing = stats.timing
    drafts = [draft for draft in stats.drafts if draft["num_steps"]]
    steps = sum(draft["num_steps"] for draft in drafts)
    ms = sum(draft["duration_ms"] for draft in drafts)
    drafting = Pace(num_steps=steps, ms=ms) if steps else None
    first = timing.time_to_first_token_ms
    if timing.reasoning_time_ms is None or first is None:
        return drafting, None
    left = timing.reasoning_time_ms - first - (timing.queue_time_ms or 0.0) - ms
    steps = stats.num_reasoning_steps - 1 - steps
    alone = Pace(num_steps=steps, ms=left) if steps > 0 and left > 0 else None
    return drafting, alone
