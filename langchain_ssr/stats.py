"""Speculation statistics of one answer: the schema and its arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from langchain_core.messages import BaseMessage
from pydantic import Field

from langchain_ssr.sources import SOURCES
from langchain_ssr.stats_parts import Overhead, SourceStats, StatsModel, Timing

__all__ = ["Overhead", "Reason", "SourceStats", "SpeculationStats", "Timing"]

Reason = Literal[
    "disabled",
    "no_reasoning",
    "busy",
    "no_gain",
    "hybrid_cpu",
    "multimodal",
    "n",
    "clamped",
    "server_without_ssr",
    "error",
]

_REPORTED = (
    "mode",
    "reason",
    "num_reasoning_steps",
    "num_answer_steps",
    "drafts",
)
"""Fields that are taken from the scheduler's report as they are."""
_WITHOUT_COUNTS = ("n", "server_without_ssr")
"""Reasons of reports that count nothing: of one choice among several, and of none."""


class SpeculationStats(StatsModel):
    """What speculation did for one answer (`response_metadata["speculation"]`).

    Tokens are counted as in usage. A step is one engine step that gave this request
    tokens, so `num_reasoning_steps + num_answer_steps + num_saved_steps` is the number
    of output tokens.

    Example:
        ```python
        answer = llm.invoke("Write a stack class.", speculation_stats="detailed")
        stats = SpeculationStats.from_message(answer)
        print(stats)  # one line
        print(stats.to_table())
        stats.to_html("answer.html")  # a notebook shows the same for `stats`
        ```
    """

    schema_version: Literal[1] = 1
    """Version of these names and their meaning."""
    mode: Literal["ssr", "off"] = "off"
    """Whether SSR had a part in the answer."""
    reason: Reason | None = None
    """Why there was no draft or no speculation, or that a limit cut a setting."""
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
    speculative_decoding: dict[str, Any] | None = None
    """vLLM's own block, with its names and meaning."""
    sources: dict[str, SourceStats] = Field(
        default_factory=lambda: {name: SourceStats() for name in SOURCES}
    )
    """Proposed and accepted tokens by where the proposals came from."""
    drafts: list[dict[str, Any]] = Field(default_factory=list)
    """Each draft: its budget, its length in tokens and steps, how many of its tokens
    were accepted, `duration_ms`, and why it ended."""
    overhead: Overhead = Field(default_factory=Overhead)
    """Tokens that a plain engine would not have computed."""
    timing: Timing = Field(default_factory=Timing)
    """Durations in milliseconds, as the engine saw them."""
    clamped: dict[str, Any] | None = None
    """Settings that the request wanted more of than a limit allows, as they were in
    force. A prediction stands as the number of its tokens that were used."""
    spans: list[list[Any]] | None = None
    """`[source or "decoded", number of tokens]` in order, the answer beginning with a
    span of its own; only with "detailed"."""
    span_texts: list[str] | None = None
    """The text of each span, as the model wrote it; only with "detailed"."""
    timeline: list[dict[str, Any]] | None = None
    """Events with their time in milliseconds; only with "detailed"."""

    @classmethod
    def from_message(cls, message: BaseMessage) -> Self:
        """Return the statistics that an answer carries.

        Args:
            message: A message of `ChatSSR`, or its last chunk.

        Raises:
            ValueError: If it carries none: it is of another model, or was asked for
                with `speculation_stats="none"`.

        Example:
            ```python
            stats = SpeculationStats.from_message(llm.invoke("Hi"))
            stats.num_saved_steps, stats.sources["draft_prefix"]
            ```
        """
        told = message.response_metadata.get("speculation")
        if not told:
            raise ValueError(
                "The message carries no speculation statistics: it is not of ChatSSR, "
                "or speculation_stats was 'none'"
            )
        return cls.model_validate(told)

    @classmethod
    def from_report(
        cls,
        report: Mapping[str, Any],
        usage: Mapping[str, Any],
        metrics: Mapping[str, Any],
    ) -> SpeculationStats:
        """Describe an answer from the scheduler's report.

        Args:
            report: What the scheduler counted (`metrics.ssr`).
            usage: The response's `usage`.
            metrics: vLLM's per-request `metrics`, times in milliseconds.
        """
        if report["reason"] in _WITHOUT_COUNTS or "sources" not in report:
            return cls.off(report["reason"], usage, metrics)
        plain = cls.off(None, usage, {**metrics, "speculative_decoding": None})
        steps = report["num_reasoning_steps"] + report["num_answer_steps"]
        tokens = plain.num_reasoning_tokens + plain.num_answer_tokens
        spans, texts = _cut(report.get("spans"), tokens), report.get("span_texts")
        return plain.model_copy(
            update={
                **{name: report[name] for name in _REPORTED},
                "num_saved_steps": tokens - steps,
                "speculative_decoding": _block(metrics),
                "sources": {
                    name: SourceStats.model_validate(count)
                    for name, count in report["sources"].items()
                },
                "timing": plain.timing.model_copy(update=report.get("timing") or {}),
                "overhead": Overhead.model_validate(report["overhead"]),
                "clamped": report.get("clamped"),
                "spans": spans,
                "span_texts": texts[: len(spans or [])] if texts else None,
                "timeline": report.get("timeline"),
            }
        )

    @classmethod
    def off(
        cls,
        reason: Reason | None,
        usage: Mapping[str, Any],
        metrics: Mapping[str, Any] | None,
    ) -> SpeculationStats:
        """Describe an answer in which SSR had no part.

        vLLM may speculate by a method of its own, and does not say in which phase. The
        steps that this saved are counted for the answer first.

        Args:
            reason: Why nothing was speculated.
            usage: The response's `usage`.
            metrics: vLLM's per-request `metrics`, times in milliseconds.
        """
        details = usage.get("completion_tokens_details") or {}
        reasoning = int(details.get("reasoning_tokens") or 0)
        answer = int(usage.get("completion_tokens") or 0) - reasoning
        block = _block(metrics or {})
        accepted = int(block["num_accepted_draft_tokens"]) if block else 0
        saved = min(accepted, reasoning + answer)
        saved_in_answer = min(saved, answer)
        known = {
            name: value
            for name, value in (metrics or {}).items()
            if name in Timing.model_fields
        }
        return cls(
            reason=reason,
            num_reasoning_tokens=reasoning,
            num_answer_tokens=answer,
            num_reasoning_steps=reasoning - (saved - saved_in_answer),
            num_answer_steps=answer - saved_in_answer,
            num_saved_steps=saved,
            speculative_decoding=block,
            timing=Timing.model_validate(known),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary; without clamps, spans and timeline if none.

        Example:
            ```python
            stats.to_dict()["num_saved_steps"]
            ```
        """
        whole = self.model_dump(mode="json")
        for name in ("clamped", "spans", "span_texts", "timeline"):
            if whole[name] is None:
                del whole[name]
        return whole

    def __str__(self) -> str:
        """One line for a person."""
        tokens = self.num_reasoning_tokens + self.num_answer_tokens
        steps = self.num_reasoning_steps + self.num_answer_steps
        note = f", {self.reason}" if self.reason else ""
        return (
            f"speculation {self.mode}{note}: {tokens} tokens "
            f"({self.num_reasoning_tokens} reasoning) in {steps} steps, "
            f"{self.num_saved_steps} saved"
        )

    def to_table(self) -> str:
        """Return tables of plain text: phases, sources and drafts.

        Example:
            ```python
            print(stats.to_table())
            ```
        """
        from langchain_ssr.rendering.tables import as_text, tables_of

        return as_text(tables_of(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a page that shows where each part of the output came from.

        With the details (`speculation_stats="detailed"`) it holds a timeline and the
        output, each span marked by its source; otherwise the tables only. The page
        needs no other file, no script and no network.

        Args:
            path: A file to write the page to, if given.

        Example:
            ```python
            stats.to_html("answer.html")
            ```
        """
        from langchain_ssr.rendering.page import page

        html = page("Self-speculation", [self])
        if path is not None:
            Path(path).write_text(html, encoding="utf-8")
        return html

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from langchain_ssr.rendering.page import fragment

        return fragment(self)


def _cut(spans: list[list[Any]] | None, num_tokens: int) -> list[list[Any]] | None:
    """Leave out of spans what a stop string has cut off the last burst."""
    if spans is None:
        return None
    kept: list[list[Any]] = []
    for source, count in spans:
        if num_tokens <= 0:
            break
        kept.append([source, min(count, num_tokens)])
        num_tokens -= count
    return kept


def _block(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return vLLM's own counts. A server's answer in one piece has nulls in them."""
    block = metrics.get("speculative_decoding")
    if block is None:
        return None
    return {name: value for name, value in block.items() if value is not None}
