"""Makes the child request that drafts an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.request import Request

from langchain_ssr.engine.lifecycle import Markers

if TYPE_CHECKING:
    from langchain_ssr.settings import SpeculationSettings

WORST_PRIORITY = 2**62
"""vLLM serves small numbers first: a draft comes after every real request."""
_SEED_STEP = 0x9E3779B97F4A7C15
"""Odd constant (the golden ratio in 64 bits) that spreads derived seeds."""


def child_prompt(parent: Request, markers: Markers) -> list[int]:
    """Return the parent's tokens so far with its reasoning closed."""
    close = markers.end if parent.use_structured_output else markers.close
    return [*parent.all_token_ids, *close]


def max_child_tokens(
    parent: Request, num_prompt: int, max_model_len: int, wanted: int | None
) -> int:
    """Return how long a draft may be, in tokens; less than 1 if it cannot be.

    A draft longer than what is left of the parent's output would be of no use, and
    one that does not fit the context would end the worker.
    """
    room = min(
        parent.max_tokens - parent.num_output_tokens, max_model_len - num_prompt - 1
    )
    return room if wanted is None else min(room, wanted)


def make_child(
    parent: Request,
    child_id: str,
    prompt: list[int],
    *,
    max_tokens: int,
    settings: SpeculationSettings,
    index: int,
) -> Request:
    """Make the request that drafts.

    Args:
        parent: The request that thinks.
        child_id: The child's request id.
        prompt: Its token ids, from `child_prompt`.
        max_tokens: The longest draft.
        settings: The parent's speculation settings.
        index: The draft's number.
    """
    child = Request(
        request_id=child_id,
        prompt_token_ids=prompt,
        sampling_params=_sampling_params(parent, max_tokens, settings, index),
        pooling_params=None,
        client_index=parent.client_index,
        lora_request=parent.lora_request,
        cache_salt=parent.cache_salt,
        priority=WORST_PRIORITY,
        reasoning_ended=True,
    )
    # The parent's blocks have the same hashes: only what is new is hashed.
    child._block_hasher = parent._block_hasher  # noqa: SLF001 - vLLM's own field
    child.block_hashes = list(parent.block_hashes)
    child.update_block_hashes()
    return child


def _sampling_params(
    parent: Request, max_tokens: int, settings: SpeculationSettings, index: int
) -> SamplingParams:
    """Build the child's parameters anew: nothing of the parent's output handling.

    The seed is derived, never copied, so that the parent's random stream stays
    independent of its drafts.
    """
    of = parent.sampling_params
    temperature = settings.draft_temperature
    seed = None if of.seed is None else (of.seed + (index + 1) * _SEED_STEP) % 2**63
    params = SamplingParams(
        temperature=of.temperature if temperature is None else temperature,
        top_p=of.top_p,
        top_k=of.top_k,
        presence_penalty=of.presence_penalty,
        frequency_penalty=of.frequency_penalty,
        repetition_penalty=of.repetition_penalty,
        seed=seed,
        max_tokens=max_tokens,
        stop_token_ids=list(of.stop_token_ids or ()),
        ignore_eos=of.ignore_eos,
        allowed_token_ids=of.allowed_token_ids,
        structured_outputs=of.structured_outputs,
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )
    if not of.ignore_eos:
        params._eos_token_id = of.eos_token_id  # noqa: SLF001 - as vLLM sets it
    params._all_stop_token_ids.update(of.all_stop_token_ids)  # noqa: SLF001
    params._bad_words_token_ids = of._bad_words_token_ids  # noqa: SLF001
    return params
