"""What a scheduler that follows its requests shares, with and without speculation.

Hooks are guarded; reports leave beside the tokens of the answer. Imports no vLLM.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_ssr.engine.lifecycle import Phase
from langchain_ssr.engine.report import failed_report, make_report
from langchain_ssr.engine.reports import COUNTED, KEY
from langchain_ssr.engine.request_state import RequestState

if TYPE_CHECKING:
    from vllm.v1.core.sched.scheduler import Scheduler as _Base
    from vllm.v1.engine import EngineCoreOutput
    from vllm.v1.request import Request
else:
    _Base = object

logger = logging.getLogger(__name__)


class Reporting(_Base):
    """Follows requests beside a vLLM scheduler, and reports.

    Attributes:
        _states: What is known of each real request, by request id.
        _lost: What it means if a hook fails, for the log.
    """

    _lost = "SSR is off for a request"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create vLLM's scheduler; it has no requests yet."""
        super().__init__(*args, **kwargs)
        self._states: dict[str, RequestState] = {}
        self._complained: set[str] = set()

    def _follow(self, request: Request) -> None:
        """Begin to follow a request that can be followed."""
        if request.request_id in self._states or request.resumable:
            return
        if request.sampling_params is not None and request.prompt_token_ids:
            self._guard(request.request_id, self._begin, request)

    def _begin(self, request: Request) -> None:
        """Make the state of a request, with its settings."""
        raise NotImplementedError

    def _guard(
        self, request_id: str | None, hook: Callable[..., None], *args: Any
    ) -> None:
        """Run a hook; a failure costs the request its speed-up and nothing else."""
        try:
            hook(*args)
        except Exception as error:
            name = getattr(hook, "__name__", "hook")
            if name not in self._complained:
                self._complained.add(name)
                logger.exception("%s: %s failed", self._lost, name)
            for failed in [request_id] if request_id else list(self._states):
                self._give_up(failed, error)

    def _give_up(self, request_id: str, error: Exception) -> None:
        del error
        if state := self._states.get(request_id):
            state.failed = True

    def _tell(self, output: EngineCoreOutput) -> None:
        """Report; where that fails, say at the end that it did."""
        self._guard(output.request_id, self._report, output)
        state = self._states.get(output.request_id)
        if state is None or not state.failed or output.finish_reason is None:
            return
        params = output.kv_transfer_params or {}
        if state.counted and KEY not in params:
            told = failed_report() if state.asked else {COUNTED: failed_report()}
            output.kv_transfer_params = {**params, KEY: told}

    def _report(self, output: EngineCoreOutput) -> None:
        """Put the report so far beside the tokens of the answer.

        The front end counts it, and shows it to a client that asked. Now and then
        there is one to be counted only, for a client may leave before the end.
        """
        state = self._states.get(output.request_id)
        if state is None or not state.counted:
            return
        thinks = state.phase is Phase.REASONING and not state.failed
        out: dict[str, Any] = {}
        # A stop string is found in the front end, on an output like any other.
        if output.finish_reason is not None or (state.history and not thinks):
            report = self._with_earlier(make_report(state), state, output)
            out = report if state.asked else {COUNTED: report}
        else:
            if state.asked and (draft := state.draft_window()):
                out["draft"] = draft
            if state.report_pace.is_due(state.lifecycle.drafts):
                out[COUNTED] = make_report(state, details=False)
            if not out:
                return
        params = output.kv_transfer_params or {}
        output.kv_transfer_params = {**params, KEY: out}

    def _with_earlier(
        self, report: dict[str, Any], state: RequestState, output: EngineCoreOutput
    ) -> dict[str, Any]:
        """Add the reports of earlier steps where the front end may look back."""
        if state.history is None:
            return report
        request = self.requests.get(output.request_id)  # gone after its last step
        metrics = request.spec_decode_metrics if request else output.spec_decode_metrics
        fields = dataclasses.asdict(metrics) if metrics else None
        return state.history.add(report, state.num_tokens, fields)
