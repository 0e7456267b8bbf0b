"""The report of one request as it leaves the engine: cumulative, JSON-safe."""

from __future__ import annotations

from typing import Any

from langchain_ssr.engine.lifecycle import Draft, Phase
from langchain_ssr.engine.request_state import RequestState

SCHEMA = 1
"""Version of the report."""


def make_report(state: RequestState, *, details: bool = True) -> dict[str, Any]:
    """Return what was counted for a request so far.

    Args:
        state: What the scheduler knows of the request.
        details: Whether spans and timeline are in it, if they are kept.
    """
    drafts, steps, record = state.lifecycle.drafts, state.num_steps, state.record
    reason = "error" if state.failed else state.reason
    if reason is None and state.clamped:
        reason = "clamped"
    if reason is None and not state.lifecycle.has_reasoned:
        reason = "no_reasoning"
    report: dict[str, Any] = {
        "schema_version": SCHEMA,
        "mode": "ssr" if state.settings.speculation and not state.failed else "off",
        "reason": reason,
        "num_reasoning_steps": steps[Phase.REASONING],
        "num_answer_steps": steps[Phase.ANSWER] + steps[Phase.OPENING],
        "sources": {
            str(source): dict(vars(count)) for source, count in state.counts.items()
        },
        "drafts": [_describe(draft, state) for draft in drafts],
        "overhead": {
            "num_draft_tokens": state.num_draft_tokens,
            "num_rejected_tokens": state.num_rejected_tokens
            + sum(draft.num_rejected_tokens for draft in drafts),
            "num_prefill_tokens": state.num_prefill_tokens,
        },
        "timing": record.timing(thinks=state.phase is Phase.REASONING),
    }
    if state.clamped:
        report["clamped"] = dict(state.clamped)
    if record.detailed and details:
        report["spans"] = [list(span) for span in record.spans]
        report["timeline"] = list(record.timeline)
    return report


def failed_report() -> dict[str, Any]:
    """Return the report of a request of which none can be made."""
    return {"schema_version": SCHEMA, "mode": "off", "reason": "error"}


def _describe(draft: Draft, state: RequestState) -> dict[str, Any]:
    return {
        "index": draft.index,
        "budget": draft.budget,
        "num_reasoning_tokens": draft.num_reasoning_tokens,
        "num_tokens": len(draft.tokens),
        "num_steps": draft.num_steps,
        "num_cached_tokens": draft.num_cached_tokens,
        "num_accepted_draft_tokens": draft.num_accepted_tokens,
        "finish_reason": str(draft.end) if draft.end else None,
        "duration_ms": state.record.draft_ms(draft.index),
    }
