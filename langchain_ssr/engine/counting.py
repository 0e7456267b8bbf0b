"""Counts a request's steps by phase, in an engine without SSR. Imports no vLLM.

vLLM says how many tokens its own methods to speculate have saved, and not where. With
this mixin over its scheduler such an engine reports what SSR reports of itself, steps
of the reasoning and of the answer by the same rule, so that the two can be compared.
What is scheduled stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from langchain_ssr.engine.lifecycle import Markers
from langchain_ssr.engine.report_history import ReportHistory
from langchain_ssr.engine.reporting import Reporting
from langchain_ssr.engine.reports import KEY
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs
    from vllm.v1.outputs import ModelRunnerOutput
    from vllm.v1.request import Request, RequestStatus


class Counting(Reporting):
    """Follows the requests of a vLLM scheduler, and changes nothing else."""

    _lost = "the steps of a request are not counted"
    _markers: Markers | None = None

    def add_request(self, request: Request) -> None:
        """Take a request."""
        super().add_request(request)
        self._follow(request)

    def update_from_output(
        self,
        scheduler_output: SchedulerOutput,
        model_runner_output: ModelRunnerOutput,
    ) -> dict[int, EngineCoreOutputs]:
        """Let vLLM take the step's tokens, then count."""
        outputs = super().update_from_output(scheduler_output, model_runner_output)
        for each in outputs.values():
            for output in each.outputs:
                self._guard(output.request_id, self._take, output)
                self._tell(output)
                if output.finish_reason is not None:
                    self._states.pop(output.request_id, None)
        return outputs

    def finish_requests(
        self, request_ids: str | Iterable[str] | None, finished_status: RequestStatus
    ) -> list[Request]:
        """End requests, and forget them."""
        finished = super().finish_requests(request_ids, finished_status)
        for request in finished:
            self._states.pop(request.request_id, None)
        return finished

    def _begin(self, request: Request) -> None:
        params: Any = request.sampling_params
        given = (params.extra_args or {}).get(KEY)
        raw: dict[str, Any] = json.loads(given) if isinstance(given, str) else {}
        stats: Any = raw.get("speculation_stats") or "summary"
        state = RequestState(
            SpeculationSettings(speculation=False, speculation_stats=stats),
            self._markers,
            request.prompt_token_ids or [],
            asked=raw.get("asked", bool(given)) is True and stats != "none",
            reason=raw.get("reason") or "disabled",
        )
        state.counted = isinstance(given, str)
        if raw.get("report_each_step", bool(params.stop)):
            state.history = ReportHistory()
        self._states[request.request_id] = state

    def _take(self, output: EngineCoreOutput) -> None:
        """Take the tokens of one step."""
        state = self._states.get(output.request_id)
        if state is not None and not state.failed and output.new_token_ids:
            state.advance(output.new_token_ids, 0)
