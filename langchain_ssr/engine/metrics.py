"""Prometheus counters of what speculation did, counted in the API's process.

They stand beside vLLM's own at `/metrics`, also where several API processes share a
directory of metrics (`PROMETHEUS_MULTIPROC_DIR`, which vLLM sets).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry, Counter

from langchain_ssr.engine.lifecycle import DraftEnd

_COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ssr:num_drafts_started": ("Drafts that were forked.", ()),
    "ssr:num_drafts_finished": (
        (
            "Drafts whose text was used: ended by themselves (stop), at their longest "
            "(length), or when the reasoning or the next draft ended them (cut)."
        ),
        ("finish_reason",),
    ),
    "ssr:num_drafts_dropped": (
        "Drafts that made way for requests (dropped, preempted).",
        ("finish_reason",),
    ),
    "ssr:num_proposed_tokens": ("Tokens proposed, by source.", ("source",)),
    "ssr:num_accepted_tokens": ("Proposed tokens accepted, by source.", ("source",)),
    "ssr:num_saved_steps": ("Output tokens that took no engine step.", ()),
}
"""Help and further labels by name; the exposition adds `_total` to the names."""
_BY_SOURCE: Mapping[str, str] = {
    "num_draft_tokens": "ssr:num_proposed_tokens",
    "num_accepted_draft_tokens": "ssr:num_accepted_tokens",
}
_DROPPED = frozenset({str(DraftEnd.DROPPED), str(DraftEnd.PREEMPTED)})


@functools.cache
def _counters(registry: CollectorRegistry) -> dict[str, Counter]:
    """Make the counters; a registry takes each name once, engines may come and go."""
    return {
        name: Counter(name, text, ("model_name", *labels), registry=registry)
        for name, (text, labels) in _COUNTERS.items()
    }


class Metrics:
    """Adds up the reports of one model's requests.

    Args:
        model_name: The value of the label `model_name`, as in vLLM's metrics.
        registry: Where the counters are; default: where vLLM's are.
    """

    def __init__(self, model_name: str, registry: CollectorRegistry = REGISTRY) -> None:
        """Create the counters, or find them."""
        self._model_name = model_name
        self._counters = _counters(registry)

    def count(self, report: Mapping[str, Any], num_tokens: int) -> None:
        """Count one request that is over, also one that its client left.

        Args:
            report: The scheduler's last report (`engine/report.py`).
            num_tokens: The request's output tokens at that time.
        """
        if report["reason"] == "n":  # the report of one choice among several
            return
        if "drafts" not in report:  # none could be made
            return
        for draft in report["drafts"]:
            self._add("ssr:num_drafts_started", 1)
            ended = draft["finish_reason"]
            if ended is not None:
                kind = "dropped" if ended in _DROPPED else "finished"
                self._add(f"ssr:num_drafts_{kind}", 1, finish_reason=ended)
        for source, count in report["sources"].items():
            for kind, name in _BY_SOURCE.items():
                self._add(name, count[kind], source=source)
        if report["mode"] == "ssr":  # else not all steps were counted
            steps = report["num_reasoning_steps"] + report["num_answer_steps"]
            self._add("ssr:num_saved_steps", max(0, num_tokens - steps))

    def _add(self, name: str, amount: int, **labels: str) -> None:
        counter = self._counters[name]
        counter.labels(model_name=self._model_name, **labels).inc(amount)
