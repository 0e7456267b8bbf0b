"""The reports of a request's last steps, for a stop string that is found late. Pure.

The front end finds stop strings, and may take several steps' outputs at once if it is
late. Then the last report tells of steps after the one with the stop. So each report
brings along the ones before it, and `report_at` picks the one of the stop's step: the
statistics of an answer do not depend on who was faster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

NUM_KEPT = 32
"""Steps that the front end may be late by. Later still, the oldest kept step counts."""
_STEP, _EARLIER = "step", "earlier"


class ReportHistory:
    """Remembers the reports of a request's last steps."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: deque[dict[str, Any]] = deque(maxlen=NUM_KEPT)

    def add(
        self,
        report: Mapping[str, Any],
        num_tokens: int,
        spec_decode: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Take a step's report.

        Args:
            report: The report (`engine/report.py`).
            num_tokens: The request's output tokens after the step.
            spec_decode: Fields of vLLM's `RequestSpecDecodeMetrics`, which vLLM hands
                out with its own last output only.

        Returns:
            The report as it is to be sent, with the ones before it.
        """
        step = {
            "num_tokens": num_tokens,
            "num_events": len(report.get("timeline", ())),
            "spec_decode": spec_decode,
        }
        sent = {**report, _STEP: step, _EARLIER: list(self._kept)}
        # The last report has their spans and events, too.
        kept = {k: v for k, v in report.items() if k not in ("spans", "timeline")}
        self._kept.append({**kept, _STEP: step})
        return sent


def report_at(
    report: dict[str, Any], num_tokens: int | None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Pick the report of the step in which an output ended.

    Args:
        report: A report as it was sent.
        num_tokens: The output tokens up to a stop string; None if none was found.

    Returns:
        The report, and vLLM's own metrics at that step, if it came from a
        `ReportHistory`. Spans are those of the last report: they may go on behind the
        stop.
    """
    last = dict(report)
    earlier = last.pop(_EARLIER, [])
    last_step = last.pop(_STEP, None)
    if num_tokens is not None:
        for one in earlier:
            if one[_STEP]["num_tokens"] >= num_tokens:
                chosen = dict(one)
                step = chosen.pop(_STEP)
                if "timeline" in last:
                    chosen["spans"] = last["spans"]
                    chosen["timeline"] = last["timeline"][: step["num_events"]]
                return chosen, step["spec_decode"]
    return last, last_step and last_step["spec_decode"]
