"""Drafts of the SSR scheduler: forked, collected, cut, and always the first to go."""

from __future__ import annotations

from concurrent.futures import Future, wait

from vllm.v1.engine import EngineCoreOutput
from vllm.v1.request import Request, RequestStatus

from langchain_ssr.engine import admission, fork
from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler_base import SSRBase
from langchain_ssr.engine.served import served

GRAMMAR_SECONDS = 0.1
"""Longest wait for a grammar, which vLLM has compiled already for the parent."""
_GRAMMAR = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR


class Drafting(SSRBase):
    """Runs at most one child request beside each request that thinks."""

    def _fork(self, parent: Request, state: RequestState, budget: int) -> None:
        """Start a draft, if the engine has room for a luxury and it may pay."""
        assert self._markers is not None  # noqa: S101 - or nothing could be reasoning
        prompt = fork.child_prompt(parent, self._markers)
        max_tokens = fork.max_child_tokens(
            parent, len(prompt), self.max_model_len, state.settings.max_draft_tokens
        )
        if max_tokens < 1:
            return
        replaces = bool(state.child_id)
        if not admission.has_room(
            self, len(prompt), max_tokens, self._parent_of, replaces=replaces
        ):
            state.reason = "busy"
            return
        if not self._is_planned(state, budget):
            state.reason = "no_gain"
            return
        if state.plan and state.plan.max_draft_tokens:
            max_tokens = min(max_tokens, state.plan.max_draft_tokens)
        if state.child_id:
            self._end_child(state.child_id, DraftEnd.CUT)
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
        if state.reason in ("busy", "no_gain"):
            state.reason = None
        self._parent_of[child_id] = parent.request_id
        self._drafters[child_id] = drafter
        state.child_id = child_id
        super().add_request(child)
        self._init_grammar(child)

    def _is_planned(self, state: RequestState, position: int) -> bool:
        """Whether a draft here may pay, or is wanted in any case."""
        if not self._may_decide(state):
            return True
        if state.plan is None:
            policy = self._policies.of(state.adapter)
            state.plan = policy.plan(state.budget.most)
            state.budget.follow(state.plan.positions)
        return position in state.plan.positions

    @staticmethod
    def _may_decide(state: RequestState) -> bool:
        """Whether the user leaves drafts to us, for the time that they save."""
        settings = state.settings
        named = settings.draft_budget != "auto" or settings.draft_interval is not None
        return not named and not settings.stream_drafts

    def _init_grammar(self, child: Request) -> None:
        """Give a draft its grammar at once, so that luck does not say when it starts.

        vLLM compiles in another thread. Here that finds the parent's in its cache.
        """
        if child.structured_output_request is None:
            return
        self.structured_output_manager.grammar_init(child)
        grammar = child.structured_output_request._grammar  # noqa: SLF001 - no other way
        if isinstance(grammar, Future):
            wait([grammar], GRAMMAR_SECONDS)

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
        if draft is not None:
            draft.num_rejected_tokens = drafter.num_rejected_tokens
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
                    self._guard(request_id, self._learn, state)
        for child_id in [c for c in self._parent_of if c not in self.requests]:
            del self._parent_of[child_id]
            self._drafters.pop(child_id, None)
            self._waited.discard(child_id)

    def _learn(self, state: RequestState) -> None:
        """Add a request to what is known of its model."""
        if (summary := served(state)) is not None:
            self._policies.of(state.adapter).record(summary)

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
        if children and admission.others_wait(self, len(waiting)):
            for child in children:
                self._to_cut.setdefault(child.request_id, DraftEnd.DROPPED)
        elif waiting and len(waiting) < len(self.waiting):
            self.waiting.remove_requests(waiting)
            for child in waiting:  # behind who came after it
                self.waiting.add_request(child)
        self._settle()
        # vLLM preempts from the end of the list.
        self.running.sort(key=lambda r: r.request_id in self._parent_of)
