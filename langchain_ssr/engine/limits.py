"""How many tokens may be proposed for a request in this step."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def max_proposal(
    *,
    num_speculative_tokens: int,
    num_tokens: int,
    num_output_tokens: int,
    max_tokens: int,
    max_model_len: int,
    token_budget: int,
) -> int:
    """Return the longest proposal, in tokens, never less than 0.

    A step yields the accepted tokens and one of its own, and both must fit.

    Args:
        num_speculative_tokens: The engine's limit.
        num_tokens: Prompt and output so far.
        num_output_tokens: Output so far.
        max_tokens: The request's longest output.
        max_model_len: The context.
        token_budget: Tokens that the step can still compute for proposals.
    """
    return max(
        0,
        min(
            num_speculative_tokens,
            max_tokens - num_output_tokens - 1,
            max_model_len - num_tokens - 1,
            token_budget,
        ),
    )


def cut(tokens: Sequence[int], stop_ids: Collection[int], vocab_size: int) -> list[int]:
    """Cut a proposal after the first token that stops, and before a foreign one."""
    if not tokens:
        return []
    inside = min(tokens) >= 0 and max(tokens) < vocab_size
    if inside and not any(stop in tokens for stop in stop_ids):
        return list(map(int, tokens))
    kept: list[int] = []
    for token in tokens:
        if not 0 <= token < vocab_size:
            break
        kept.append(int(token))
        if token in stop_ids:
            break
    return kept
