"""The worker-side proposer that vLLM requires; the scheduler proposes instead."""

from __future__ import annotations

from typing import Any


class NullProposer:
    """Proposes nothing.

    vLLM's `custom_class` method creates it in the worker with the engine's
    configuration and asks it after each step.
    """

    def __init__(self, vllm_config: Any) -> None:
        """Accept the configuration, as vLLM's interface has it."""

    def load_model(self, *args: Any, **kwargs: Any) -> None:
        """Load nothing."""

    def propose(
        self,
        sampled_token_ids: list[list[int]],
        *args: Any,  # noqa: ARG002 - vLLM's interface
        **kwargs: Any,  # noqa: ARG002
    ) -> list[list[int]]:
        """Return an empty proposal for each request of the batch."""
        return [[] for _ in sampled_token_ids]
