"""What an engine computed, step by step, as vLLM itself tells.

Statistics of an answer count the steps that gave it tokens. A step that computes only a
draft gives nobody tokens: it shows here, as does each proposed token.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.errors import SettingsError

DETAILS: Mapping[str, Any] = {"enable_logging_iteration_details": True}
"""Arguments of an engine whose steps are counted."""


@dataclasses.dataclass(frozen=True)
class Steps:
    """Steps of an engine.

    Attributes:
        num_steps: Steps that computed anything.
        num_scheduled_tokens: Tokens that they computed: prompts, outputs, drafts and
            proposals.
    """

    num_steps: int = 0
    num_scheduled_tokens: int = 0

    def __sub__(self, before: Self) -> Steps:
        """Return what came after."""
        return Steps(
            self.num_steps - before.num_steps,
            self.num_scheduled_tokens - before.num_scheduled_tokens,
        )


class StepLog:
    """A stat logger of vLLM that adds up the steps of one engine.

    Attributes:
        total: All steps since it was added.
    """

    def __init__(self) -> None:
        """Begin with no step."""
        self.total = Steps()

    def record(
        self,
        scheduler_stats: Any,
        iteration_stats: Any,
        mm_cache_stats: Any = None,
        engine_idx: int = 0,
    ) -> None:
        """Take one step; called by vLLM, before anyone can have its tokens."""
        del iteration_stats, mm_cache_stats, engine_idx
        details = getattr(scheduler_stats, "iteration_details", None)
        if details is None or details.is_dummy:
            return
        num_tokens = details.num_ctx_tokens + details.num_generation_tokens
        self.total = Steps(
            self.total.num_steps + 1, self.total.num_scheduled_tokens + num_tokens
        )

    def log(self) -> None:
        """Do nothing; called by vLLM."""

    def log_engine_initialized(self) -> None:
        """Do nothing; called by vLLM."""

    def record_sleep_state(self, *_: Any) -> None:
        """Do nothing; called by vLLM."""

    def record_admission_rejection(self, reason: str) -> None:
        """Do nothing; called by vLLM."""


def watch(llm: ChatSSR) -> StepLog:
    """Start a model's engine if need be, and count its steps from here on.

    Args:
        llm: A model whose `engine_kwargs` have those of `DETAILS`.

    Returns:
        A log; its `total` has `num_steps` and `num_scheduled_tokens` so far.

    Raises:
        SettingsError: The engine is not in this process, or does not tell of its steps.

    Example:
        ```python
        from langchain_ssr.bench.steps import DETAILS, watch

        watched = ChatSSR(model="demo", max_tokens=200, engine_kwargs=DETAILS)
        log = watch(watched)
        watched.invoke("Hi")
        print(log.total.num_steps, log.total.num_scheduled_tokens)
        ```
    """
    if llm.base_url or not DETAILS.items() <= dict(llm.engine_kwargs or {}).items():
        raise SettingsError(
            f"steps are counted on an engine in this process, started with {DETAILS}"
        )
    log = StepLog()
    llm._embedded.engine().add_stat_logger(log)  # noqa: SLF001 - no public way
    return log
