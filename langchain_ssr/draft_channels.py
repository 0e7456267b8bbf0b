"""The ways by which early drafts reach the user.

1. Hooks of `get_speculation_callback`, wherever the model is called.
2. A custom event `"ssr_draft"` with `index` and `text`, for callback handlers and
   `astream_events`, if the model is called inside a run. (langchain-core offers a model
   no way to send one from a run of its own.)
3. LangGraph's stream writer, which `stream_mode="custom"` reads, inside a graph: the
   same with `"type": "ssr_draft"`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import ensure_config

from langchain_ssr.callbacks import (
    DRAFT_EVENT,
    DraftText,
    call_draft_hooks,
    drafts_are_watched,
)
from langchain_ssr.wire.requests import speculation_of


def report_draft(draft: DraftText) -> None:
    """Send a piece of a draft through every channel that is open here."""
    call_draft_hooks(draft)
    if _inside_a_run():
        dispatch_custom_event(DRAFT_EVENT, _data(draft))
    if write := _graph_writer():
        write({"type": DRAFT_EVENT, **_data(draft)})


async def areport_draft(draft: DraftText) -> None:
    """Send a piece of a draft through every channel that is open here."""
    call_draft_hooks(draft)
    if _inside_a_run():
        await adispatch_custom_event(DRAFT_EVENT, _data(draft))
    if write := _graph_writer():
        write({"type": DRAFT_EVENT, **_data(draft)})


def wants_drafts(request: Mapping[str, Any]) -> bool:
    """Whether a request asks for drafts and somebody may be there to read them.

    Only a stream delivers drafts, so such a request is best answered by one. A stream
    carries one choice.
    """
    if request.get("n", 1) > 1:
        return False
    return bool(speculation_of(request).get("stream_drafts")) and (
        drafts_are_watched() or _inside_a_run() or _graph_writer() is not None
    )


def _data(draft: DraftText) -> dict[str, Any]:
    return {"index": draft.index, "text": draft.text}


def _inside_a_run() -> bool:
    manager = ensure_config().get("callbacks")
    return getattr(manager, "parent_run_id", None) is not None


def _graph_writer() -> Callable[[Any], None] | None:
    """Return LangGraph's stream writer, if the model is called inside a graph."""
    langgraph = sys.modules.get("langgraph.config")  # loaded wherever a graph runs
    if langgraph is None:
        return None
    try:
        writer: Callable[[Any], None] = langgraph.get_stream_writer()
    except (RuntimeError, KeyError):  # no run at all, or a run of no graph
        return None
    return writer
