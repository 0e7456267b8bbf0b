"""vLLM's own schedulers, with `Counting`: for the engines that SSR is compared with."""

from __future__ import annotations

from typing import Any

from vllm.config import VllmConfig
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from langchain_ssr.engine.counting import Counting
from langchain_ssr.engine.markers import find_markers
from langchain_ssr.engine.owner import follow_owner


class _Counting(Counting):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        follow_owner()
        self._markers = find_markers(
            self.vllm_config,
            getattr(self.structured_output_manager, "tokenizer", None),
        )


class CountingSyncScheduler(_Counting, Scheduler):
    """vLLM's synchronous scheduler, which counts."""


class CountingAsyncScheduler(_Counting, AsyncScheduler):
    """vLLM's asynchronous scheduler, which counts."""


class CountingScheduler:
    """Makes the one that vLLM would take with this configuration.

    A `scheduler_cls` is named before vLLM decides whether it schedules asynchronously.
    An engine that is compared must not lose that.
    """

    def __new__(cls, vllm_config: VllmConfig, *args: Any, **kwargs: Any) -> Any:
        """Make a scheduler from vLLM's arguments."""
        is_async = vllm_config.scheduler_config.async_scheduling
        kind = CountingAsyncScheduler if is_async else CountingSyncScheduler
        return kind(vllm_config, *args, **kwargs)
