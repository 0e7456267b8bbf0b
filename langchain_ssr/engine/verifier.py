"""Verification of proposals, and steps that have none."""

from __future__ import annotations

import torch
from vllm.v1.outputs import SamplerOutput
from vllm.v1.sample.metadata import SamplingMetadata
from vllm.v1.sample.rejection_sampler import RejectionSampler
from vllm.v1.spec_decode.metadata import SpecDecodeMetadata

from langchain_ssr.engine.min_tokens import at_bonus_tokens


class Verifier(RejectionSampler):
    """vLLM's rejection sampler; a step without proposals is sampled as usual.

    With speculation on, vLLM 0.32 sends every step through the rejection sampler, which
    then samples nothing from no logits. On a CPU without Triton that ends the engine
    as soon as one request of the step uses top-k (the maximum of an empty tensor).
    In a step with proposals `MinTokens` takes the place of vLLM's own least lengths.
    """

    def forward(
        self,
        metadata: SpecDecodeMetadata,
        draft_probs: torch.Tensor | None,
        logits: torch.Tensor,
        sampling_metadata: SamplingMetadata,
    ) -> SamplerOutput:
        """Accept or reject the proposals of one step.

        Args:
            metadata: How many tokens each request proposed, and which.
            draft_probs: Not used: a proposal has no probabilities.
            logits: Shape `[num_proposed_tokens + batch_size, vocab_size]`.
            sampling_metadata: The requests' sampling parameters.

        Returns:
            The new tokens of each request.
        """
        if any(lengths := metadata.num_draft_tokens):
            sampling_metadata = at_bonus_tokens(sampling_metadata, lengths)
            return super().forward(metadata, draft_probs, logits, sampling_metadata)
        return self.sampler(logits=logits, sampling_metadata=sampling_metadata)
