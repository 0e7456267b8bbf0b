"""A kernel that vLLM's CPU build lacks: without it, sampled answers would be wrong.

To verify proposals of requests that sample, vLLM repeats each request's temperature and
top-p for its proposed tokens. On the CPU, vLLM 0.32 writes the result into a copy
and goes on with uninitialized memory (`_expand_kernel_impl` converts its output
to int64 and drops it). One sampled request spoils the whole batch, drafts included. So
this implementation is registered in its place, with vLLM's own registry for kernels.
"""

from __future__ import annotations

import torch

EXPAND = "vllm.v1.sample.rejection_sampler.expand_kernel"


def expand(  # noqa: PLR0917 - the kernel's signature
    output: torch.Tensor,
    values: torch.Tensor,
    cu_num_tokens: torch.Tensor,
    replace_from: float,
    replace_to: float,
    MAX_NUM_TOKENS: int | None = None,  # noqa: ARG001, N803
) -> None:
    """Repeat each request's value for each of its tokens, in place.

    Args:
        output: Shape `[num_tokens]`, of any dtype.
        values: Shape `[batch_size]`.
        cu_num_tokens: Shape `[batch_size]`, cumulative number of tokens.
        replace_from: A value to be replaced.
        replace_to: What it is replaced by.
        MAX_NUM_TOKENS: A limit of the Triton kernel, not needed here.
    """
    counts = torch.diff(cu_num_tokens.long(), prepend=cu_num_tokens.new_zeros(1).long())
    replaced = torch.where(
        values == replace_from, values.new_full((), replace_to), values
    )
    output.copy_(replaced.repeat_interleave(counts).to(output.dtype))


def register() -> None:
    """Register the kernel where vLLM runs on a CPU without Triton."""
    from vllm.platforms import current_platform
    from vllm.triton_utils import HAS_TRITON
    from vllm.triton_utils.dispatcher import register_kernels

    if current_platform.is_cpu() and not HAS_TRITON:
        register_kernels({EXPAND: expand})
