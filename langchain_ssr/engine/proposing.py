"""Proposals of the SSR scheduler: what each running request verifies in this step."""

from __future__ import annotations

from vllm.v1.request import Request

from langchain_ssr.engine import limits
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler_base import SSRBase


class Proposing(SSRBase):
    """Sets `spec_token_ids` of every running request before vLLM schedules."""

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
        # A preempted request may come back in this step: all count, not only `running`.
        all_counts = (state.thinking for state in self._states.values())
        if not any(count is not None and count.forces for count in all_counts):
            return
        states = [self._states.get(r.request_id) for r in self.running]
        counts = [s.thinking if s is not None else None for s in states]
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


def _is_decoding(request: Request) -> bool:
    """Whether one token is left to compute, no prefill chunk is open, none is out."""
    left = request.num_tokens - request.num_computed_tokens
    at_rest = not request.is_prefill_chunk and not request.num_in_flight_tokens
    return left == 1 and at_rest


def _raise(error: Exception) -> None:
    raise error
