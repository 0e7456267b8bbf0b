"""Thinking budgets that stay with their requests, whatever row of the batch they have.

vLLM keeps the thinking budgets of a batch by row, and in 0.32 loses track of them in
three ways. All change the answers of requests that happen to share the batch.
"""

from __future__ import annotations

import dataclasses

import torch
from vllm.v1.sample.logits_processor.interface import BatchUpdate, MoveDirectionality
from vllm.v1.sample.thinking_budget_state import ThinkingBudgetStateHolder


class ThinkingBudgets(ThinkingBudgetStateHolder):
    """The thinking budgets of a batch's rows."""

    in_spec_mode: bool

    def sync_batch(self, batch_update: BatchUpdate | None) -> None:
        """Follow the batch's changes.

        A request may move into the row of one that ended or was preempted while it
        was thinking. Without a budget of its own it inherited that row's budget.
        """
        if not self.is_enabled or not batch_update:
            return
        super().sync_batch(dataclasses.replace(batch_update, moved=()))
        for move in batch_update.moved:
            _, target, direction = move
            if direction == MoveDirectionality.UNIDIRECTIONAL:
                self._state.pop(target, None)
            super().sync_batch(
                dataclasses.replace(batch_update, removed=(), added=(), moved=(move,))
            )

    def update_state(
        self,
        output_token_ids: list[list[int]],
        spec_token_ids: list[list[int]] | None,
        repeat_indices: torch.Tensor | None = None,
    ) -> None:
        """Begin a step.

        Args:
            output_token_ids: What each request has said, by row.
            spec_token_ids: The proposals, by row.
            repeat_indices: The row of each of `output_token_ids`; None if in order.

        In a step with proposals vLLM notes that a row's bonus token was forced, so as
        not to force a proposed token, too. The note outlived the step: a request whose
        prompt (or, after a preemption, whose answer) is computed in chunks is sampled
        after each of them, in vain but for the last, and was not forced there.
        """
        for state in self._state.values():
            state["bonus_token_forced"] = False
        super().update_state(output_token_ids, spec_token_ids, repeat_indices)

    def apply_to_logits(
        self,
        logits: torch.Tensor,
        predict_bonus_token: bool,
        spec_token_ids: list[list[int]] | None,
    ) -> torch.Tensor:
        """Force the ends of exhausted budgets.

        Args:
            logits: Shape `[num_rows, vocab_size]`: in a step without proposals one row
                for each request, otherwise one for each bonus or proposed token.
            predict_bonus_token: Whether the rows are those of bonus tokens.
            spec_token_ids: The proposals, by request.

        Returns:
            The logits, changed in place. In a step without proposals vLLM took the
            rows for those of proposed tokens: none for each request, so all that was
            forced landed in the first row.
        """
        speculates = self.in_spec_mode
        self.in_spec_mode = predict_bonus_token or any(spec_token_ids or ())
        try:
            return super().apply_to_logits(logits, predict_bonus_token, spec_token_ids)
        finally:
            self.in_spec_mode = speculates
