"""A draft is a luxury: is there room for one, and whom must it yield to?"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from vllm.utils.math_utils import cdiv
from vllm.v1.core.sched.interface import PauseState

from langchain_ssr.engine.leftover import (
    BLOCKS_PER_REQUEST,
    block_sizes,
    num_free_blocks,
)

DRAFT_TOKENS = 512
"""A draft is admitted if this much of it fits the cache; few are longer."""
RESERVE = 0.1
"""Share of the cache blocks that no draft may touch."""
UNCACHED_TOKENS = 512
"""Without prefix caching a draft computes its prompt again: only a short one."""


def has_room(
    scheduler: Any,
    num_prompt: int,
    max_tokens: int,
    children: Container[str],
    *,
    replaces: bool = False,
) -> bool:
    """Whether a draft can run without slowing a real request down.

    Args:
        scheduler: vLLM's scheduler.
        num_prompt: Length of the draft's prompt, in tokens.
        max_tokens: Length of the longest draft, in tokens.
        children: Ids of drafts.
        replaces: Whether it takes the place of a draft that runs.
    """
    if (
        scheduler.connector is not None
        or scheduler.ec_connector is not None
        or scheduler.pause_state is not PauseState.UNPAUSED
        or scheduler.structured_output_manager.enable_in_reasoning
        or any(r.request_id not in children for r in scheduler.waiting)
    ):
        return False
    num_running, num_waiting = scheduler.get_request_counts()
    if num_running + num_waiting - replaces >= scheduler.max_num_active_reqs:
        return False
    cached = scheduler.cache_config.enable_prefix_caching
    if not cached and num_prompt > UNCACHED_TOKENS:
        return False
    new = min(num_prompt, 2 * scheduler.block_size) if cached else num_prompt
    needed = _num_blocks(scheduler, new + min(max_tokens, DRAFT_TOKENS))
    needed *= 1 + num_waiting  # drafts forked in this step
    needed += BLOCKS_PER_REQUEST * num_running
    needed += int(RESERVE * scheduler.cache_config.num_gpu_blocks)
    return needed <= num_free_blocks(scheduler)


def others_wait(scheduler: Any, num_waiting_children: int) -> bool:
    """Whether real requests wait that may not all be admitted in this step.

    Args:
        scheduler: vLLM's scheduler.
        num_waiting_children: How many of the waiting requests are drafts.
    """
    num_running, num_waiting = scheduler.get_request_counts()
    others = num_waiting - num_waiting_children
    if others <= 0:
        return False
    if num_running + num_waiting > scheduler.max_num_active_reqs:
        return True
    free = num_free_blocks(scheduler)
    for request in scheduler.waiting:
        free -= _num_blocks(scheduler, request.num_tokens)
        if free < 0:
            return True
    return False


def _num_blocks(scheduler: Any, num_tokens: int) -> int:
    return sum(cdiv(num_tokens, size) for size in block_sizes(scheduler))
