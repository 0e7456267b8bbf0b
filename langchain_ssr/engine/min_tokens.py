"""Least lengths (`min_tokens`) of requests, at the tokens after proposals.

Until a request has its least length, tokens that would end it are masked. vLLM 0.32
takes the length for this from before the step. At the bonus token, which follows a
proposal that is accepted whole, that is too short: a request that reaches its least
length within the proposal could not end there, and went on where it would have ended
without speculation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TypeGuard

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor, LogitsProcessors
from vllm.v1.sample.logits_processor.builtin import MinTokensLogitsProcessor
from vllm.v1.sample.metadata import SamplingMetadata


class MinTokens(MinTokensLogitsProcessor):
    """The least lengths of a batch in one step that verifies proposals."""

    def __init__(
        self, batch: MinTokensLogitsProcessor, num_draft_tokens: Sequence[int]
    ) -> None:
        """Take a batch's least lengths as they are.

        Args:
            batch: vLLM's own processor, which knows the requests.
            num_draft_tokens: The length of each request's proposal, by row.
        """
        self.device = batch.device
        self.min_toks = batch.min_toks
        self.neg_inf_tensor = batch.neg_inf_tensor
        short = [
            (row, list(tokens), structured)
            for row, (least, output, tokens, structured) in batch.min_toks.items()
            if len(output) + num_draft_tokens[row] < least
        ]
        self.logits_slice = self._pairs(
            (r, t) for r, tokens, _ in short for t in tokens
        )
        self.restore_logits_slice = self._pairs(
            (r, t) for r, tokens, structured in short if structured for t in tokens
        )

    def _pairs(
        self, pairs: Iterable[tuple[int, int]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows and token ids as two tensors of one length."""
        rows, tokens = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
        return (
            self._device_tensor(list(rows), torch.int32),
            self._device_tensor(list(tokens), torch.int32),
        )


def at_bonus_tokens(
    sampling_metadata: SamplingMetadata, num_draft_tokens: Sequence[int]
) -> SamplingMetadata:
    """Return a step's sampling parameters, with least lengths that count proposals.

    Args:
        sampling_metadata: The requests' sampling parameters.
        num_draft_tokens: The length of each request's proposal, by row.
    """
    processors = list(sampling_metadata.logitsprocs.all)
    if not any(_masks(processor) for processor in processors):
        return sampling_metadata
    counted = [
        MinTokens(processor, num_draft_tokens) if _masks(processor) else processor
        for processor in processors
    ]
    return dataclasses.replace(sampling_metadata, logitsprocs=LogitsProcessors(counted))


def _masks(processor: LogitsProcessor) -> TypeGuard[MinTokensLogitsProcessor]:
    return isinstance(processor, MinTokensLogitsProcessor) and bool(processor.min_toks)
