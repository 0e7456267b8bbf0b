"""When a request that is not over is reported, so that it counts if its client leaves.

An aborted request has no last output, and so no last report. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_ssr.engine.lifecycle import Draft

NUM_STEPS = 16
"""Steps between reports. One may be lost: a late front end merges outputs."""


class ReportPace:
    """Says in which steps of one request a report is due."""

    def __init__(self) -> None:
        """Begin with nothing reported."""
        self._num_events = 0
        self._num_steps = 0

    def is_due(self, drafts: Sequence[Draft]) -> bool:
        """Whether a draft began or ended, or the last report is old. Ask once a step.

        Args:
            drafts: The request's drafts.
        """
        num_events = len(drafts) + sum(draft.end is not None for draft in drafts)
        self._num_steps += 1
        if num_events == self._num_events and self._num_steps < NUM_STEPS:
            return False
        self._num_events, self._num_steps = num_events, 0
        return True
