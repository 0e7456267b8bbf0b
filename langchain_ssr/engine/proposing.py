"""Proposals of the SSR scheduler: what each running request verifies in this step."""

from __future__ import annotations

from vllm.v1.request import Request

from langchain_ssr.engine import limits
from langchain_ssr.engine.leftover import Leftover
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler_base import SSRBase


class Proposing(SSRBase):
    """Sets `spec_token_ids` of every running request before vLLM schedules."""

    def _propose_all(self) -> None:
        """Make room for real requests, then propose for every running one."""
        if self._parent_of:
            self._yield_to_others()
        left = Leftover(self, self._parent_of)
        held = self._hold_drafts(left) if self._parent_of else ()
        num_requests = sum(r.request_id not in self._parent_of for r in self.running)
        self._token_cost = self._policies.cost.verification(num_requests)
        for request in self.running:
            request.spec_token_ids = []
            state = self._state_of(request)
            if state is None or state.failed or left.tokens <= 0:
                continue
            if not _is_decoding(request) or request.request_id in held:
                continue
            tokens = self._propose(request, state, left.longest_proposal(request))
            request.spec_token_ids = tokens
            left.take_proposal(request, len(tokens))

    def _hold_drafts(self, left: Leftover) -> set[str]:
        """Leave drafts out of a step that real requests fill; return their ids."""
        held = set()
        for request in self.running:
            if request.request_id in self._parent_of and not left.take_draft(request):
                # vLLM skips it in the next step, and asks again in the one after.
                request.next_decode_eligible_step = self.current_step + 2
                held.add(request.request_id)
        return held

    def _propose(self, request: Request, state: RequestState, budget: int) -> list[int]:
        limit = self._max_proposal(request, budget)
        try:
            tokens = state.propose(limit, self._token_cost)
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
