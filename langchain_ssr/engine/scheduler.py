"""vLLM's scheduler with self-speculation: fork, draft, verify, resume, iterate.

All logic lives in `SSRMixin`, over vLLM's synchronous and asynchronous schedulers. It
sets every request's proposal before vLLM schedules, forks a child when a draft is due,
collects the child's tokens, and keeps children out of all that leaves the engine.

Method: Valluri, Nguyen, Grover, "Self-Speculation for Faster Reasoning Models", arXiv
2608.20359; verification inside the parent's own request is ours. Every proposal goes
through vLLM's rejection sampler, so it can change the speed and never the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from vllm.logger import init_logger
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus

from langchain_ssr.engine import admission, fork, limits
from langchain_ssr.engine.lifecycle import DraftEnd, Phase
from langchain_ssr.engine.markers import find_markers, is_hybrid
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings

if TYPE_CHECKING:
    from vllm.v1.core.sched.scheduler import Scheduler as _Base
else:
    _Base = object

logger = init_logger(__name__)

KEY = "ssr"
"""Where settings come in (`extra_args`) and reports go out (`kv_transfer_params`)."""
_GRAMMAR = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR


class SSRMixin(_Base):
    """Self-speculation over a vLLM scheduler class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create vLLM's scheduler and what SSR keeps beside it."""
        super().__init__(*args, **kwargs)
        self._states: dict[str, RequestState] = {}
        self._parent_of: dict[str, str] = {}
        self._drafters: dict[str, RequestState] = {}
        self._to_cut: dict[str, DraftEnd] = {}
        self._waited: set[str] = set()
        self._ended: list[str] = []
        self._updating = False
        self._complained: set[str] = set()
        self._markers = find_markers(
            self.vllm_config,
            getattr(self.structured_output_manager, "tokenizer", None),
        )
        self._vocab_size = self.vllm_config.model_config.get_vocab_size()
        self._hybrid = is_hybrid(self.vllm_config)
        options = self.vllm_config.additional_config or {}
        self._defaults = options.get(KEY, {}) if isinstance(options, dict) else {}
        # vLLM would pad one-token requests with K proposals of -1.
        self.dynamic_sd_lookup = [self.num_spec_tokens] * (
            self.max_num_running_reqs + 1
        )

    # --- entry points -----------------------------------------------------------

    def add_request(self, request: Request) -> None:
        """Take a request, and its settings."""
        super().add_request(request)
        if request.request_id in self._states or request.resumable:
            return
        if request.sampling_params is not None and request.prompt_token_ids:
            self._guard(request.request_id, self._begin, request)

    def schedule(self, throttle_prefills: bool = False) -> SchedulerOutput:
        """Make the proposals, then let vLLM schedule."""
        self._guard(None, self._settle)
        self._guard(None, self._propose_all)
        return super().schedule(throttle_prefills)

    def update_from_output(
        self,
        scheduler_output: SchedulerOutput,
        model_runner_output: ModelRunnerOutput,
    ) -> dict[int, EngineCoreOutputs]:
        """Let vLLM take the step's tokens, then move drafts and requests along."""
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
            self._guard(output.request_id, self._report, output)
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

    # --- guard ------------------------------------------------------------------

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
                logger.exception("SSR is off for a request: %s failed", name)
            for failed in [request_id] if request_id else list(self._states):
                self._give_up(failed, error)

    def _give_up(self, request_id: str, error: Exception) -> None:
        del error
        state = self._states.get(request_id)
        if state is None:
            return
        state.failed = True
        if (child_id := state.child_id) and child_id in self.requests:
            self._to_cut[child_id] = DraftEnd.DROPPED
        if request := self.requests.get(request_id):
            request.spec_token_ids = []

    # --- requests ---------------------------------------------------------------

    def _begin(self, request: Request) -> None:
        given = (request.sampling_params.extra_args or {}).get(KEY)
        asked = isinstance(given, str)
        # If anything below fails, this state says so.
        self._states[request.request_id] = RequestState(
            SpeculationSettings(speculation=False), None, [], asked=asked
        )
        raw = json.loads(given) if isinstance(given, str) else {}
        asked = raw.pop("asked", asked)
        prediction = raw.pop("prediction_token_ids", None)
        reason = raw.pop("reason", None)
        each_step = raw.pop("report_each_step", bool(request.sampling_params.stop))
        settings = SpeculationSettings.model_validate({**self._defaults, **raw})
        if not settings.speculation:
            reason = "disabled"
        elif self._hybrid:
            reason = "hybrid_cpu"
            settings.speculation = False
        elif request.mm_features or request.prompt_embeds is not None:
            reason = "multimodal"
        self._states[request.request_id] = RequestState(
            settings,
            self._markers,
            request.prompt_token_ids,
            prediction=prediction,
            asked=asked and settings.speculation_stats != "none",
            thinking_budget=request.sampling_params.thinking_token_budget,
            reason=reason,
        )
        self._states[request.request_id].report_each_step = each_step

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
        if output.finish_reason is not None and state.child_id:
            self._end_child(state.child_id, DraftEnd.CUT)

    def _report(self, output: EngineCoreOutput) -> None:
        """Put the report so far beside the tokens of the answer."""
        state = self._states.get(output.request_id)
        if state is None or not state.asked:
            return
        thinks = state.phase is Phase.REASONING and not state.failed
        # A stop string is found in the front end, on an output like any other.
        if output.finish_reason is not None or (state.report_each_step and not thinks):
            params = output.kv_transfer_params or {}
            output.kv_transfer_params = {**params, KEY: state.report()}
        elif draft := state.draft_window():
            params = output.kv_transfer_params or {}
            output.kv_transfer_params = {**params, KEY: {"draft": draft}}

    # --- drafts -----------------------------------------------------------------

    def _fork(self, parent: Request, state: RequestState, budget: int) -> None:
        """Start a draft, if the engine has room for a luxury."""
        if state.child_id:
            self._end_child(state.child_id, DraftEnd.CUT)
        assert self._markers is not None  # noqa: S101 - or nothing could be reasoning
        prompt = fork.child_prompt(parent, self._markers)
        max_tokens = fork.max_child_tokens(
            parent, len(prompt), self.max_model_len, state.settings.max_draft_tokens
        )
        if max_tokens < 1:
            return
        if not admission.has_room(self, len(prompt), max_tokens, self._parent_of):
            state.reason = "busy"
            return
        index = len(state.lifecycle.drafts)
        child_id = f"{parent.request_id}-draft-{index}"
        child = fork.make_child(
            parent,
            child_id,
            prompt,
            max_tokens=max_tokens,
            settings=state.settings,
            index=index,
        )
        # The child follows earlier drafts in bursts, until they differ.
        drafter = RequestState(
            state.settings.model_copy(update={"speculation_stats": "none"}), None, []
        )
        for draft in state.earlier_drafts():
            drafter.add_source(draft)
        opening = () if parent.use_structured_output else None
        state.begin_draft(budget, len(prompt), opening)
        if state.reason == "busy":
            state.reason = None
        self._parent_of[child_id] = parent.request_id
        self._drafters[child_id] = drafter
        state.child_id = child_id
        super().add_request(child)
        if child.use_structured_output:
            self.structured_output_manager.grammar_init(child)

    def _take_draft(
        self, output: EngineCoreOutput, accepted: dict[str, tuple[int, int]]
    ) -> None:
        """Take the tokens of one step of a draft."""
        child_id = output.request_id
        state = self._states.get(self._parent_of[child_id])
        if state is None or state.child_id != child_id:
            return
        drafter = self._drafters[child_id]
        num_proposed, num_accepted = accepted.get(child_id, (0, 0))
        drafter.count_proposal(num_proposed, num_accepted)
        draft = state.lifecycle.running
        if output.prefill_stats is not None and draft is not None:
            draft.num_cached_tokens = output.prefill_stats.num_cached_tokens
        drafter.advance(output.new_token_ids, num_accepted)
        state.extend_draft(output.new_token_ids)
        if output.finish_reason is not None:
            stopped = str(output.finish_reason) == "stop"
            state.end_draft(DraftEnd.STOP if stopped else DraftEnd.LENGTH)

    def _end_child(self, child_id: str, reason: DraftEnd) -> None:
        """End a draft at once; only where vLLM does not walk its queues."""
        if child_id in self.requests:
            super().finish_requests(child_id, RequestStatus.FINISHED_ABORTED)
        self._note_end(child_id, reason)

    def _note_end(self, child_id: str, reason: DraftEnd) -> None:
        parent_id = self._parent_of.get(child_id, "")
        state = self._states.get(parent_id)
        if state is not None and state.child_id == child_id:
            self._guard(parent_id, state.end_draft, reason)

    def _settle(self) -> None:
        """Cut what must go, and forget what has ended."""
        while self._to_cut or self._ended:
            for child_id in list(self._to_cut):
                self._end_child(child_id, self._to_cut.pop(child_id))
            while self._ended:
                request_id = self._ended.pop()
                if request_id in self._parent_of:
                    self._note_end(request_id, DraftEnd.DROPPED)
                elif state := self._states.pop(request_id, None):
                    if state.child_id:
                        self._to_cut[state.child_id] = DraftEnd.CUT
                    state.lifecycle.finish()
        for child_id in [c for c in self._parent_of if c not in self.requests]:
            del self._parent_of[child_id]
            self._drafters.pop(child_id, None)
            self._waited.discard(child_id)

    # --- proposals --------------------------------------------------------------

    def _propose_all(self) -> None:
        """Make room for real requests, then propose for every running one."""
        if self._parent_of:
            self._yield_to_others()
        budget = self.max_num_scheduled_tokens - len(self.running)
        for request in self.running:
            request.spec_token_ids = []
            state = self._state_of(request)
            if state is None or state.failed or budget <= 0:
                continue
            if not _is_decoding(request):
                continue
            tokens = self._propose(request, state, budget)
            request.spec_token_ids = tokens
            budget -= len(tokens)
        if budget > 0:
            self._keep_rows_apart()

    def _keep_rows_apart(self) -> None:
        """Propose one token if vLLM is about to force a token in the wrong row.

        In a step without any proposal, vLLM 0.32 takes the rows of its thinking
        budgets for those of a step with proposals, where each request has as many
        rows as proposed tokens: none. So every forced token lands in the batch's
        first row. One proposal anywhere in the step puts that right; it is verified
        like any other.
        """
        states = [self._states.get(r.request_id) for r in self.running]
        counts = [s.thinking if s is not None else None for s in states]
        if not any(count is not None and count.forces for count in counts):
            return
        if len(self.running) + len(self.waiting) < 2:  # noqa: PLR2004 - one row
            return
        if any(request.spec_token_ids for request in self.running):
            return
        rows = [
            (request, count)
            for request, count in zip(self.running, counts, strict=True)
            if _is_decoding(request) and self._max_proposal(request, 1) == 1
        ]
        for request, count in rows:
            free = count is None or count.room is None or count.room > 0
            if free and not request.use_structured_output:
                self._fill(request, request.all_token_ids[-1])
                return
        for request, count in rows:
            if count is not None and count.forced_token is not None:
                self._fill(request, count.forced_token)
                return

    def _fill(self, request: Request, token: int) -> None:
        state = self._state_of(request)
        if state is not None:
            request.spec_token_ids = state.propose_filler(token)

    def _state_of(self, request: Request) -> RequestState | None:
        request_id = request.request_id
        return self._states.get(request_id) or self._drafters.get(request_id)

    def _propose(self, request: Request, state: RequestState, budget: int) -> list[int]:
        limit = self._max_proposal(request, budget)
        try:
            tokens = state.propose(limit)
            if not tokens:
                return []
            stops = request.sampling_params.all_stop_token_ids
            tokens = limits.cut(tokens, stops, self._vocab_size)
            return self.structured_output_manager.validate_tokens(request, tokens)
        except Exception as error:  # noqa: BLE001 - a proposal is never needed
            parent = self._parent_of.get(request.request_id, request.request_id)
            self._guard(parent, _raise, error)
            return []

    def _max_proposal(self, request: Request, budget: int) -> int:
        return limits.max_proposal(
            num_speculative_tokens=self.num_spec_tokens,
            num_tokens=request.num_tokens,
            num_output_tokens=request.num_output_tokens,
            max_tokens=request.max_tokens,
            max_model_len=self.max_model_len,
            token_budget=budget,
        )

    def _yield_to_others(self) -> None:
        """Let real requests go first."""
        children = [
            r for r in self.requests.values() if r.request_id in self._parent_of
        ]
        waiting = [r for r in children if r.status is not RequestStatus.RUNNING]
        for child in waiting:
            if child.request_id in self._waited and child.status is not _GRAMMAR:
                self._to_cut.setdefault(child.request_id, DraftEnd.DROPPED)
            self._waited.add(child.request_id)
        if admission.others_wait(self, len(waiting)):
            for child in children:
                self._to_cut.setdefault(child.request_id, DraftEnd.DROPPED)
        self._settle()
        # vLLM preempts from the end of the list.
        self.running.sort(key=lambda r: r.request_id in self._parent_of)

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


def _is_decoding(request: Request) -> bool:
    """Whether one token is left to compute, no prefill chunk is open, none is out."""
    left = request.num_tokens - request.num_computed_tokens
    at_rest = not request.is_prefill_chunk and not request.num_in_flight_tokens
    return left == 1 and at_rest


def _raise(error: Exception) -> None:
    raise error


class SSRScheduler(SSRMixin, Scheduler):
    """vLLM's scheduler with self-speculation."""
