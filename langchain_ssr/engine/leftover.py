"""What real requests leave of a step: tokens and cache blocks.

Drafts and proposals live on it. So no prompt is computed later because of either, and
no request is preempted for the cache blocks of a proposal, which may be rejected.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from vllm.utils.math_utils import cdiv
from vllm.v1.core.sched.interface import PauseState
from vllm.v1.request import Request, RequestStatus

BLOCKS_PER_REQUEST = 2
"""Free blocks that each running request keeps for its next tokens."""
_READY = (RequestStatus.WAITING, RequestStatus.PREEMPTED)


class Leftover:
    """Tokens and cache blocks of one step that no real request needs.

    Attributes:
        tokens: What the step can compute beyond the real requests, in tokens.
        blocks: Free blocks beyond those that real requests need now or soon.
    """

    def __init__(self, scheduler: Any, children: Container[str]) -> None:
        """Serve real requests first: those that run, then those that may begin.

        Args:
            scheduler: vLLM's scheduler, before it schedules the step.
            children: Ids of drafts.
        """
        self.tokens = int(scheduler.max_num_scheduled_tokens)
        self._sizes = block_sizes(scheduler)
        free, reserved = num_free_blocks(scheduler), 0
        for request in scheduler.running:
            if request.request_id not in children:
                needed = _num_to_compute(request)
                self.tokens -= needed
                reserved += BLOCKS_PER_REQUEST
                if needed > 1:
                    reserved += self._num_blocks(needed - 1)
        for request in _admissible(scheduler, children):
            needed = self._num_blocks(request.num_tokens)
            if needed > free:
                needed -= _num_held(scheduler, request)
            if needed > free or self.tokens <= 0:
                break
            free -= needed
            self.tokens -= _num_to_compute(request)
        self.blocks = free - reserved

    def take_draft(self, child: Request) -> bool:
        """Take the tokens of a draft's next step, if there are any left.

        Of a prompt that is longer than what is left a draft computes a part; half of
        what is left stays for proposals.
        """
        if self.tokens <= 0:
            return False
        needed = _num_to_compute(child)
        part = needed if needed <= self.tokens else max(1, self.tokens // 2)
        self.tokens -= part
        return True

    def longest_proposal(self, request: Request) -> int:
        """Return how many tokens may be proposed for a request."""
        blocks = max(0, self.blocks) // len(self._sizes)
        num_tokens, longest = request.num_tokens, self.tokens
        for size in self._sizes:
            longest = min(longest, -num_tokens % size + blocks * size)
        return max(0, longest)

    def take_proposal(self, request: Request, num_proposed: int) -> None:
        """Take what the proposal for a request needs."""
        if not num_proposed:
            return
        before = request.num_tokens
        self.tokens -= num_proposed
        self.blocks -= self._num_blocks(before + num_proposed)
        self.blocks += self._num_blocks(before)

    def _num_blocks(self, num_tokens: int) -> int:
        return sum(cdiv(num_tokens, size) for size in self._sizes)


def block_sizes(scheduler: Any) -> list[int]:
    """Return the block size of each of the model's caches, in tokens."""
    managers = scheduler.kv_cache_manager.coordinator.single_type_managers
    return [manager.block_size for manager in managers]


def num_free_blocks(scheduler: Any) -> int:
    """Return how many cache blocks no request uses."""
    return int(scheduler.kv_cache_manager.block_pool.get_num_free_blocks())


def _num_to_compute(request: Request) -> int:
    known = request.num_tokens + request.num_output_placeholders
    return max(1, known - request.num_computed_tokens)


def _num_held(scheduler: Any, request: Request) -> int:
    """Return how many blocks of a request others hold: it needs no free ones there."""
    manager = scheduler.kv_cache_manager
    if not manager.prefix_cache_lookup_enabled(request):
        return 0
    hits, *_ = manager.coordinator.find_longest_cache_hit(
        request.block_hashes, request.num_tokens - 1
    )
    return sum(
        block.ref_cnt > 0 and not block.is_null for group in hits for block in group
    )


def _is_ready(request: Request) -> bool:
    """Whether vLLM could admit a request; one that waits for its grammar, once it has.

    Its status changes only when vLLM comes to it.
    """
    if request.status is RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR:
        wanted = request.structured_output_request
        return wanted is not None and wanted.grammar is not None
    return request.status in _READY


def _admissible(scheduler: Any, children: Container[str]) -> Iterator[Request]:
    """Yield the real requests that wait and have a place, in their order."""
    places = scheduler.max_num_active_reqs - len(scheduler.running)
    if places <= 0 or scheduler.pause_state is not PauseState.UNPAUSED:
        return
    for request in scheduler.waiting:
        if request.request_id in children or not _is_ready(request):
            continue
        yield request
        places -= 1
        if not places:
            return
