"""Self-speculation over vLLM's asynchronous scheduler. Not offered to users yet.

vLLM schedules a request's next step before it knows the last one's tokens, so a request
that is never waited for can never be proposed for: what would have to be verified comes
after a token that nobody knows yet. Thinking requests run like that, at full speed. An
answering one is held for a step where a proposal is likely, which its tokens repay.
"""

from __future__ import annotations

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.request import Request

from langchain_ssr.engine.lifecycle import Phase
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.scheduler import SSRMixin


class SSRAsyncScheduler(SSRMixin, AsyncScheduler):
    """vLLM's asynchronous scheduler with self-speculation."""

    def _propose_all(self) -> None:
        """Propose for the requests at rest, and bring others to rest."""
        super()._propose_all()
        for request in self.running:
            if request.num_output_placeholders:
                request_id = request.request_id
                parent = self._parent_of.get(request_id, request_id)
                self._guard(parent, self._hold, request)

    def _propose(self, request: Request, state: RequestState, budget: int) -> list[int]:
        """Propose for answers only, whether or not thinking is at rest by chance."""
        if state.phase is not Phase.ANSWER:
            return []
        return super()._propose(request, state, budget)

    def _hold(self, request: Request) -> None:
        """Leave a request out of this step if it will then be proposed for.

        Its proposal is out, so there was something to follow; or the token that is
        out would be proposed by what is known, so there is now. That one-token proposal
        is never sent and counts as nothing: it only tells the matcher what to compare.
        """
        if request.num_output_placeholders == 1:  # nothing proposed
            state = self._state_of(request)
            if state is None or state.failed or state.phase is not Phase.ANSWER:
                return
            if not state.propose(self._max_proposal(request, 1), self._token_cost):
                return
        request.next_decode_eligible_step = self.current_step + 2  # not the next one

    def _update_after_schedule(self, scheduler_output: SchedulerOutput) -> None:
        """Take back the placeholders for what a worker would propose."""
        super()._update_after_schedule(scheduler_output)
        for request_id in scheduler_output.num_scheduled_tokens:
            self.requests[request_id].spec_token_ids = []
