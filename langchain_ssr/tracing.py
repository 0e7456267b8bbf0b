"""What LangSmith shows of speculation: flat metadata on the model's run.

The settings are there from the start, with LangChain's own `ls_...` parameters. The
results are added before the tracer closes the run, as it adds `usage_metadata` itself.
Without tracing nothing is looked up.

What tracers look like inside may change with their packages, and an answer must not be
lost over that: a failure, also of an import, is logged once.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackManager,
    CallbackManager,
    Callbacks,
)
from langchain_core.callbacks.manager import BaseRunManager
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.uuid import uuid7

from langchain_ssr.content_blocks import PROVIDER
from langchain_ssr.settings import SpeculationSettings
from langchain_ssr.stats import SpeculationStats
from langchain_ssr.totals import SpeculationTotals, stats_of

if TYPE_CHECKING:
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith.run_trees import RunTree

logger = logging.getLogger(__name__)
P = ParamSpec("P")

_SETTINGS = {
    "speculation",
    "draft_budget",
    "iterative",
    "draft_interval",
    "max_drafts",
    "max_draft_tokens",
    "draft_temperature",
    "speculate_reasoning",
    "sources",
    "num_speculative_tokens",
}


def settings_metadata(settings: SpeculationSettings) -> dict[str, Any]:
    """Return the speculation settings of a call as flat metadata, `ssr_...`."""
    values = settings.model_dump(include=_SETTINGS, exclude_none=True)
    return {
        f"ssr_{name}": str(value) if isinstance(value, list) else value
        for name, value in values.items()
    }


def results_metadata(stats: SpeculationStats) -> dict[str, Any]:
    """Return a response's statistics as flat metadata, `ssr_...`.

    Example:
        ```python
        {"ssr_mode": "ssr", "ssr_num_saved_steps": 210,
         "ssr_tokens_per_answer_step": 3.4, "ssr_answer_time_ms": 812.5, ...}
        ```
    """
    counts = SpeculationTotals.of(stats).to_dict()
    del counts["num_responses"], counts["num_ssr_responses"]
    told = {"mode": stats.mode, "reason": stats.reason, **counts, **dict(stats.timing)}
    return {
        f"ssr_{name}": value
        for name, value in told.items()
        if isinstance(value, (int, float, str))
    }


def _harmless(trace: Callable[P, None]) -> Callable[P, None]:
    """Let nothing that goes wrong in tracing reach the caller."""

    @functools.wraps(trace)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            trace(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever a tracer of another version does
            _report_failure()

    return guarded


@functools.cache  # so that it is said once
def _report_failure() -> None:
    logger.warning(
        "The statistics of speculation could not be added to a run of LangSmith; "
        "further failures are not reported",
        exc_info=True,  # noqa: LOG014 - it is called where one is handled
    )


@_harmless
def trace_results(manager: BaseRunManager | None, result: ChatResult) -> None:
    """Add a response's results to its run.

    Args:
        manager: The run, as LangChain gives it to a chat model.
        result: The response.
    """
    if manager is None or not manager.handlers:
        return
    from langchain_core.tracers.langchain import LangChainTracer

    for handler in manager.handlers:
        if isinstance(handler, LangChainTracer):
            run = handler.run_map.get(str(manager.run_id))
            if run is not None:
                _add_results(run, [one.message for one in result.generations])


class StreamRun:
    """The run of a stream, which LangChain does not name to the model.

    The callbacks are configured before LangChain does it, so that its tracers are
    known, and the run gets its id from here.

    Args:
        config: What the stream was called with.
        own: The model's own callbacks.
        manager: The kind of manager that LangChain will make of them.
    """

    def __init__(
        self,
        config: RunnableConfig | None,
        own: Callbacks,
        manager: type[CallbackManager | AsyncCallbackManager],
    ) -> None:
        """Look for tracers."""
        self.config = config
        self._tracers: list[LangChainTracer] = []
        try:
            self._find(manager, ensure_config(config), own)
        except Exception:  # noqa: BLE001 - whatever another version does
            _report_failure()

    def _find(
        self,
        manager: type[CallbackManager | AsyncCallbackManager],
        config: RunnableConfig,
        own: Callbacks,
    ) -> None:
        given = config.get("callbacks")
        if not _tracers_in(own):  # else LangChain makes none of its own
            given = manager.configure(given)
        self._tracers = _tracers_in(given) + _tracers_in(own)
        if self._tracers:
            self._run_id = config.get("run_id") or uuid7()
            self.config = {**config, "callbacks": given, "run_id": self._run_id}

    def add(self, message: BaseMessage) -> None:
        """Add the results that a chunk carries, as the last one does, to the run."""
        if self._tracers and "speculation" in message.response_metadata:
            _add_to_runs(self._tracers, self._run_id, message)


def _tracers_in(callbacks: Callbacks) -> list[LangChainTracer]:
    """Return the tracers among callbacks. Copies that LangChain makes share runs."""
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.handlers
    if not callbacks:
        return []
    from langchain_core.tracers.langchain import LangChainTracer

    return [handler for handler in callbacks if isinstance(handler, LangChainTracer)]


@_harmless
def _add_to_runs(
    tracers: Iterable[LangChainTracer], run_id: UUID, message: BaseMessage
) -> None:
    for tracer in tracers:
        run = tracer.run_map.get(str(run_id))
        if run is not None:
            _add_results(run, [message])


@_harmless
def trace_stream_results(message: BaseMessage) -> None:
    """Add the results of a stream of events to its run, if that can be told apart.

    Here nothing can be done beforehand. The run is a child of the current one; where
    several models answer at once under the same run, and for one at top level, which
    has no parent, nothing is added. (The results are in the run's output in any case.)

    Args:
        message: The stream's last message.
    """
    from langsmith.run_helpers import get_current_run_tree

    parent = get_current_run_tree()
    if parent is None:
        return
    running = [
        child
        for child in parent.child_runs
        if child.end_time is None and child.metadata.get("ls_provider") == PROVIDER
    ]
    if len(running) == 1:
        _add_results(running[0], [message])


def _add_results(run: RunTree, messages: Iterable[BaseMessage]) -> None:
    """Add results to a run. Its metadata may be shared with others: it is copied."""
    for _, stats in stats_of(messages):
        run.extra["metadata"] = {**run.metadata, **results_metadata(stats)}
