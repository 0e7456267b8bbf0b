"""Speculation statistics of several responses, added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_ssr.sources import SOURCES
from langchain_ssr.stats import Overhead, SourceStats, SpeculationStats

RATES = (
    "tokens_per_reasoning_step",
    "tokens_per_answer_step",
    "draft_acceptance_rate",
    "mean_acceptance_length",
)
"""What is derived from the counts when it is read."""


class SpeculationTotals(BaseModel):
    """Sums over responses, under the names of `SpeculationStats` and of vLLM.

    Only counts are kept and added; a rate is the quotient of two sums, never a mean of
    rates, and `None` where nothing was counted.

    Example:
        ```python
        messages = [llm.invoke("Hi"), llm.invoke("Bye")]
        totals = SpeculationTotals.of_messages(messages)
        totals.num_saved_steps, totals.tokens_per_answer_step
        print(totals)
        ```
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    num_responses: int = 0
    """Responses that carried statistics; with `n` above 1 one for all answers."""
    num_ssr_responses: int = 0
    """Responses whose mode was "ssr"."""
    num_reasoning_tokens: int = 0
    """Output tokens of the reasoning."""
    num_answer_tokens: int = 0
    """All other output tokens."""
    num_reasoning_steps: int = 0
    """Engine steps that began in the reasoning."""
    num_answer_steps: int = 0
    """All other engine steps."""
    num_saved_steps: int = 0
    """Engine steps that a plain engine would have taken beyond these."""
    num_drafts: int = 0
    """Drafts that were begun."""
    num_spec_steps: int = 0
    """Steps that verified proposed tokens; this and the next two as vLLM counts."""
    num_draft_tokens: int = 0
    """Tokens that were proposed, from drafts or elsewhere."""
    num_accepted_draft_tokens: int = 0
    """Of these, tokens that the model accepted."""
    sources: dict[str, SourceStats] = Field(
        default_factory=lambda: {name: SourceStats() for name in SOURCES}
    )
    """Proposed and accepted tokens by where the proposals came from."""
    overhead: Overhead = Field(default_factory=Overhead)
    """Tokens that a plain engine would not have computed."""
    reasons: dict[str, int] = Field(default_factory=dict)
    """How often each `SpeculationStats.reason` was given."""

    @classmethod
    def of(cls, stats: SpeculationStats) -> Self:
        """Return the counts of one response.

        Example:
            ```python
            stats = SpeculationStats.from_message(llm.invoke("Hi"))
            SpeculationTotals.of(stats).tokens_per_answer_step
            ```
        """
        block = stats.speculative_decoding or {}
        return cls(
            num_responses=1,
            num_ssr_responses=int(stats.mode == "ssr"),
            num_reasoning_tokens=stats.num_reasoning_tokens,
            num_answer_tokens=stats.num_answer_tokens,
            num_reasoning_steps=stats.num_reasoning_steps,
            num_answer_steps=stats.num_answer_steps,
            num_saved_steps=stats.num_saved_steps,
            num_drafts=len(stats.drafts),
            num_spec_steps=block.get("num_spec_steps", 0),
            num_draft_tokens=block.get("num_draft_tokens", 0),
            num_accepted_draft_tokens=block.get("num_accepted_draft_tokens", 0),
            sources=stats.sources,
            overhead=stats.overhead,
            reasons={stats.reason: 1} if stats.reason else {},
        )

    @classmethod
    def of_messages(cls, messages: Iterable[BaseMessage]) -> Self:
        """Add up what a response's or a conversation's messages carry.

        Args:
            messages: Any messages; those without statistics, and those that came from
                LangChain's cache, count nothing.

        Example:
            ```python
            SpeculationTotals.of_messages(llm.batch(["Hi", "Bye"])).num_responses
            ```
        """
        return cls().plus(stats for _, stats in stats_of(messages))

    def plus(self, others: Iterable[SpeculationStats]) -> Self:
        """Return the sum with further responses.

        Example:
            ```python
            stats = SpeculationStats.from_message(llm.invoke("Hi"))
            SpeculationTotals().plus([stats]).num_saved_steps
            ```
        """
        whole = self
        for stats in others:
            whole += self.of(stats)
        return whole

    def __add__(self, other: SpeculationTotals) -> Self:
        """Return the sum of both."""
        return self.model_validate(_add(self.model_dump(), other.model_dump()))

    @property
    def tokens_per_reasoning_step(self) -> float | None:
        """Mean reasoning tokens of an engine step; 1 without speculation.

        Example:
            ```python
            totals = SpeculationTotals.of_messages([llm.invoke("Hi")])
            print(totals.tokens_per_reasoning_step)
            ```
        """
        return _quotient(self.num_reasoning_tokens, self.num_reasoning_steps)

    @property
    def tokens_per_answer_step(self) -> float | None:
        """Mean answer tokens of an engine step; 1 without speculation.

        Example:
            ```python
            totals = SpeculationTotals.of_messages([llm.invoke("Hi")])
            print(totals.tokens_per_answer_step)
            ```
        """
        return _quotient(self.num_answer_tokens, self.num_answer_steps)

    @property
    def draft_acceptance_rate(self) -> float | None:
        """Accepted share of the proposed tokens, 0 to 1.

        Example:
            ```python
            totals = SpeculationTotals.of_messages([llm.invoke("Hi")])
            if (rate := totals.draft_acceptance_rate) is not None:
                print(f"{rate:.0%} of {totals.num_draft_tokens} tokens accepted")
            ```
        """
        return _quotient(self.num_accepted_draft_tokens, self.num_draft_tokens)

    @property
    def mean_acceptance_length(self) -> float | None:
        """Mean tokens of a verifying step, the one it samples itself included.

        Example:
            ```python
            totals = SpeculationTotals.of_messages([llm.invoke("Hi")])
            print(totals.mean_acceptance_length)  # 1 if nothing was accepted
            ```
        """
        accepted = _quotient(self.num_accepted_draft_tokens, self.num_spec_steps)
        return None if accepted is None else 1 + accepted

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary of counts and rates.

        `model_validate` reads it back.

        Example:
            ```python
            totals = SpeculationTotals.of_messages([llm.invoke("Hi")])
            assert SpeculationTotals.model_validate(totals.to_dict()) == totals
            ```
        """
        rates = {name: getattr(self, name) for name in RATES}
        return {**self.model_dump(mode="json"), **rates}

    def __str__(self) -> str:
        """One line for a person."""
        tokens = self.num_reasoning_tokens + self.num_answer_tokens
        steps = self.num_reasoning_steps + self.num_answer_steps
        line = (
            f"{self.num_responses} responses, {self.num_ssr_responses} with SSR: "
            f"{tokens} tokens ({self.num_reasoning_tokens} reasoning) in {steps} "
            f"steps, {self.num_saved_steps} saved"
        )
        if (per_step := self.tokens_per_answer_step) is not None:
            line += f"; {per_step:.2f} tokens per answer step"
        if (rate := self.draft_acceptance_rate) is not None:
            line += f"; {rate:.0%} of {self.num_draft_tokens} proposed tokens accepted"
        return line


def stats_of(messages: Iterable[BaseMessage]) -> Iterator[tuple[str, SpeculationStats]]:
    """Yield the model's name and the statistics of each response, once.

    With `n > 1` every message of a response carries the statistics of the whole
    response. A message from LangChain's cache carries those of the call that filled
    the cache; core marks it by a total cost of zero.

    Args:
        messages: Any messages, of one or of several responses.
    """
    seen = set()
    for message in messages:
        told = message.response_metadata.get("speculation")
        if not told or not isinstance(message, AIMessage):
            continue
        usage: Mapping[str, Any] = message.usage_metadata or {}
        if usage.get("total_cost") == 0:
            continue
        response = message.response_metadata.get("id") or repr(told)
        if response in seen:
            continue
        seen.add(response)
        try:
            stats = SpeculationStats.model_validate(told)
        except ValidationError:  # not of this package, or of another version
            continue
        yield str(message.response_metadata.get("model_name") or "unknown"), stats


def _quotient(whole: int, parts: int) -> float | None:
    return whole / parts if parts else None


def _add(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add counts by name, at every depth."""
    added = dict(one)
    for name, value in other.items():
        if name not in added:
            added[name] = value
        elif isinstance(value, Mapping):
            added[name] = _add(added[name], value)
        else:
            added[name] += value
    return added
