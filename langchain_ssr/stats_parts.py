"""The parts of an answer's statistics; `langchain_ssr.stats` offers them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StatsModel(BaseModel):
    """What the statistics have in common: unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class SourceStats(StatsModel):
    """Proposed and accepted tokens of one source.

    Example:
        ```python
        from langchain_ssr.stats import SourceStats

        stats = SpeculationStats.from_message(llm.invoke("Hi"))
        prefix: SourceStats = stats.sources["draft_prefix"]
        print(prefix.num_accepted_draft_tokens, "of", prefix.num_draft_tokens)
        ```
    """

    num_draft_tokens: int = 0
    """Tokens that were proposed from it."""
    num_accepted_draft_tokens: int = 0
    """Of these, tokens that the model accepted."""


class Overhead(StatsModel):
    """Work, in tokens, that a plain engine would not have done.

    Example:
        ```python
        from langchain_ssr.stats import Overhead

        stats = SpeculationStats.from_message(llm.invoke("Hi"))
        extra: Overhead = stats.overhead
        print(f"{extra.num_draft_tokens} tokens in drafts")
        ```
    """

    num_draft_tokens: int = 0
    """Tokens written in drafts."""
    num_rejected_tokens: int = 0
    """Proposed tokens verified in vain, in the output and in drafts."""
    num_prefill_tokens: int = 0
    """Tokens computed for the prompts of drafts, cached ones not counted."""


class Timing(StatsModel):
    """Durations in milliseconds; `None` where the engine did not measure.

    Example:
        ```python
        from langchain_ssr.stats import Timing

        stats = SpeculationStats.from_message(llm.invoke("Hi"))
        timing: Timing = stats.timing
        if timing.answer_time_ms is not None:
            print(f"The answer took {timing.answer_time_ms:.0f} ms")
        ```
    """

    queue_time_ms: float | None = None
    """Milliseconds from the request's arrival to its scheduling."""
    time_to_first_token_ms: float | None = None
    """Milliseconds from its scheduling to its first token, of reasoning or answer."""
    time_to_first_draft_ms: float | None = None
    """Milliseconds from the request's arrival to the first drafted token."""
    reasoning_time_ms: float | None = None
    """Milliseconds from the request's arrival to the end of the reasoning."""
    answer_time_ms: float | None = None
    """Milliseconds from the end of the reasoning to the last token; from the arrival,
    if nothing was reasoned."""
    generation_time_ms: float | None = None
    """Milliseconds from the first token to the last."""
