"""What SSR cannot be combined with: refused before anything starts, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_ssr.errors import SettingsError

SET_BY_SSR = frozenset(
    {
        "scheduler_cls",
        "worker_cls",
        "speculative_config",
        "spec_method",
        "spec_model",
        "spec_tokens",
    }
)
"""Arguments of vLLM that put SSR into it, or another way to speculate."""

_ONE_ONLY: Mapping[str, str] = {
    "pipeline_parallel_size": (
        "with pipeline parallelism several steps are in flight at once, and SSR "
        "decides between two steps what to draft and to propose. Use tensor or data "
        "parallelism"
    ),
    "prefill_context_parallel_size": (
        "prefill context parallelism needs vLLM's V2 model runner, and a proposer of "
        "one's own needs V1"
    ),
}
"""Sizes that must be 1, and why."""
_NEVER: Mapping[str, str] = {
    "async_scheduling": (
        "vLLM 0.32 does not schedule asynchronously with a proposer of one's own"
    ),
    "diffusion_config": "a diffusion model has no decode steps to save",
    "grpc": "the gRPC server has no place for settings of a request",
}
"""Arguments that must be left out, or false, and why."""


def refuse(arguments: Mapping[str, Any], *, flags: bool = False) -> None:
    """Refuse arguments of vLLM with which SSR cannot work.

    Args:
        arguments: The user's arguments of `vllm serve`, by name with underscores; the
            values as they are, or as they stand on a command line.
        flags: Whether they came from a command line, for the message.

    Raises:
        SettingsError: If one of them cannot be combined with SSR; says why.
    """
    for name, value in arguments.items():
        reason = _reason(name, value)
        if reason is None:
            continue
        if flags:
            where, without = f"--{name.replace('_', '-')}", "a plain `vllm serve`"
        else:
            where, without = f"engine_kwargs: {name!r}", "ChatSSR(speculation=False)"
        raise SettingsError(
            f"{where} {reason}. For an engine without SSR use {without}."
        )


def _reason(name: str, value: Any) -> str | None:
    if name in SET_BY_SSR:
        return "is set by SSR"
    if name in _ONE_ONLY and str(value) not in ("1", "None"):
        return f"must be 1 (is {value}): {_ONE_ONLY[name]}"
    if name in _NEVER and value not in (None, False):
        return f"cannot be used: {_NEVER[name]}"
    if name == "runner" and value == "pooling":
        return "must not be 'pooling': there is nothing to decode"
    return None
