"""vLLM's scheduler with self-speculation: fork, draft, verify, resume, iterate.

All logic lives in `SSRMixin`, over vLLM's synchronous and asynchronous schedulers. It
sets every request's proposal before vLLM schedules (proposing.py), forks a child when a
draft is due and collects its tokens (drafting.py), and keeps children out of all that
leaves the engine.

Method: Valluri, Nguyen, Grover, "Self-Speculation for Faster Reasoning Models", arXiv
2608.20359; verification inside the parent's own request is ours. Every proposal goes
through vLLM's rejection sampler, so it can change the speed and never the answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus

from langchain_ssr.engine.budget import DraftBudget
from langchain_ssr.engine.drafting import Drafting
from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.proposing import Proposing
from langchain_ssr.engine.report_history import ReportHistory
from langchain_ssr.engine.request_settings import PREDICTION_TOKENS
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler_base import KEY
from langchain_ssr.settings import SpeculationSettings


class SSRMixin(Drafting, Proposing):
    """Self-speculation over a vLLM scheduler class."""

    def add_request(self, request: Request) -> None:
        """Take a request, and its settings."""
        super().add_request(request)
        self._follow(request)

    def schedule(self, throttle_prefills: bool = False) -> SchedulerOutput:
        """Make the proposals, then let vLLM schedule."""
        self._guard(None, self._settle)
        self._guard(None, self._propose_all)
        output = super().schedule(throttle_prefills)
        self._guard(None, self._policies.cost.begin, time.monotonic())
        return output

    def update_from_output(
        self,
        scheduler_output: SchedulerOutput,
        model_runner_output: ModelRunnerOutput,
    ) -> dict[int, EngineCoreOutputs]:
        """Let vLLM take the step's tokens, then move drafts and requests along."""
        num_tokens = scheduler_output.total_num_scheduled_tokens
        self._guard(None, self._policies.cost.end, time.monotonic(), num_tokens)
        accepted: dict[str, tuple[int, int]] = {}
        self._guard(None, self._count, scheduler_output, model_runner_output, accepted)
        self._updating = True
        try:
            outputs = super().update_from_output(scheduler_output, model_runner_output)
        finally:
            self._updating = False
        own: list[EngineCoreOutput] = []
        for each in outputs.values():
            drafted = [o for o in each.outputs if o.request_id in self._parent_of]
            if drafted:
                each.outputs = [
                    o for o in each.outputs if o.request_id not in self._parent_of
                ]
            for output in drafted:  # before the parents, which may use them
                parent = self._parent_of[output.request_id]
                self._guard(parent, self._take_draft, output, accepted)
            own += each.outputs
        for output in own:
            self._guard(output.request_id, self._take_answer, output, accepted)
            self._tell(output)
        self._guard(None, self._settle)
        return outputs

    def finish_requests(
        self, request_ids: str | Iterable[str] | None, finished_status: RequestStatus
    ) -> list[Request]:
        """End requests and their drafts; drafts are nobody's to hear of."""
        children = set(self._parent_of)
        finished = super().finish_requests(request_ids, finished_status)
        if not self._updating:  # else the step's outputs are still to be seen
            self._guard(None, self._settle)
        return [r for r in finished if r.request_id not in children]

    def update_draft_token_ids(self, draft_token_ids: DraftTokenIds) -> None:
        """Ignore what the worker proposes: nothing."""

    def update_draft_token_ids_in_output(
        self, draft_token_ids: DraftTokenIds, scheduler_output: SchedulerOutput
    ) -> None:
        """Leave what is proposed in a scheduled step as it is."""

    def _free_request(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Note the end of a request, whatever ended it."""
        self._ended.append(request.request_id)
        result = super()._free_request(request, *args, **kwargs)
        finished = self.finished_req_ids_dict
        if finished is not None and request.request_id in self._parent_of:
            finished[request.client_index].discard(request.request_id)
        return result

    def _preempt_request(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Drop a draft that would be preempted, and a preempted request's draft.

        vLLM calls this in mid-schedule, so the drafts end at the next quiet moment.
        """
        super()._preempt_request(request, *args, **kwargs)
        if request.request_id in self._parent_of:
            self._to_cut[request.request_id] = DraftEnd.PREEMPTED
            return
        state = self._states.get(request.request_id)
        if state is not None and state.child_id:
            self._to_cut.setdefault(state.child_id, DraftEnd.PREEMPTED)

    def _begin(self, request: Request) -> None:
        given = (request.sampling_params.extra_args or {}).get(KEY)
        # If anything below fails, this state says so.
        state = RequestState(SpeculationSettings(speculation=False), None, [])
        state.asked = state.counted = isinstance(given, str)
        self._states[request.request_id] = state
        raw = json.loads(given) if isinstance(given, str) else {}
        state.asked = raw.pop("asked", state.asked) is True
        prediction = raw.pop(PREDICTION_TOKENS, None)
        reason = raw.pop("reason", None)
        reason = reason if isinstance(reason, str) else None
        each_step = raw.pop("report_each_step", bool(request.sampling_params.stop))
        settings, clamped = self._operator.settle(raw, self.num_spec_tokens)
        prediction = self._operator.cut_prediction(prediction, clamped)
        if not settings.speculation:
            reason = reason or "disabled"
        elif self._hybrid:
            reason = "hybrid_cpu"
            settings.speculation = False
        elif request.mm_features or request.prompt_embeds is not None:
            reason = "multimodal"
        asked = state.asked and settings.speculation_stats != "none"
        state = RequestState(
            settings,
            self._markers,
            request.prompt_token_ids,
            prediction=prediction,
            asked=asked,
            thinking_budget=request.sampling_params.thinking_token_budget,
            reason=reason,
        )
        adapter = request.lora_request
        state.adapter = adapter.lora_name if adapter else None
        if self._may_decide(state):
            first = self._policies.of(state.adapter).first
            state.budget = DraftBudget(settings, first)
        state.counted = isinstance(given, str)
        state.clamped = clamped
        state.history = ReportHistory() if each_step else None
        self._states[request.request_id] = state

    def _take_answer(
        self, output: EngineCoreOutput, accepted: dict[str, tuple[int, int]]
    ) -> None:
        """Take the tokens of one step of a real request."""
        request_id = output.request_id
        state = self._states.get(request_id)
        if state is None:
            return
        if not state.failed:
            num_proposed, num_accepted = accepted.get(request_id, (0, 0))
            state.count_proposal(num_proposed, num_accepted)
            if output.new_token_ids:
                began = state.advance(output.new_token_ids, num_accepted)
                if began and state.child_id:
                    self._end_child(state.child_id, DraftEnd.CUT)
            request = self.requests.get(request_id)
            if request is not None and (budget := state.draft_due()) is not None:
                self._fork(request, state, budget)
        if output.finish_reason is not None:
            state.has_ended = True
            if state.child_id:
                self._end_child(state.child_id, DraftEnd.CUT)

    def _count(
        self,
        scheduler_output: SchedulerOutput,
        model_output: ModelRunnerOutput,
        counts: dict[str, tuple[int, int]],
    ) -> None:
        """Count proposed and accepted tokens as vLLM does: before stops cut them."""
        sampled = model_output.sampled_token_ids
        for request_id, tokens in scheduler_output.scheduled_spec_decode_tokens.items():
            index = model_output.req_id_to_index.get(request_id)
            if index is None or not sampled or not sampled[index]:
                continue
            counts[request_id] = (len(tokens), len(sampled[index]) - 1)


class SSRScheduler(SSRMixin, Scheduler):
    """vLLM's scheduler with self-speculation."""
