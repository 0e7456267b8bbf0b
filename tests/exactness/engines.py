"""Which engines the requests are sent to: settings of vLLM, by shape of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.exactness.asking import AT_ONCE, Case
from tests.exactness.cases import MAX_MODEL_LEN
from tests.exactness.equality import PLAIN

ADAPTER = "adapter"
"""The name under which an engine with LoRA serves the adapter."""
TEMPLATE = 110
"""Tokens that the template of a tiny model adds to a prompt, or more."""
BATCHED = 2 * AT_ONCE * MAX_MODEL_LEN
"""As many tokens in a step cut no prompt into chunks: all requests and their drafts."""


@dataclass(frozen=True)
class Engine:
    """An engine with SSR, and how requests are sent to it.

    Attributes:
        num_speculative_tokens: The engine's K.
        engine_kwargs: Settings of vLLM.
        at_once: How many requests are under way.
        resets: Whether the prefix cache is emptied all the time; that also preempts
            all requests.
        lora: Whether every other request uses an adapter.
        every: One of how many cases is sent.
    """

    num_speculative_tokens: int
    engine_kwargs: Mapping[str, Any] = field(default_factory=dict)
    at_once: int = AT_ONCE
    resets: bool = False
    lora: bool = False
    every: int = 1

    @property
    def compares_logprobs(self) -> bool:
        """Whether its logprobs mean the same as those of the plain engine."""
        return PLAIN.items() <= self.engine_kwargs.items()

    def takes(self, case: Case) -> bool:
        """Whether a request fits the engine's context."""
        settings = case.settings
        length = self.engine_kwargs.get("max_model_len", MAX_MODEL_LEN)
        if length == MAX_MODEL_LEN:
            return True
        if "tools" in settings or settings["max_tokens"] is None:
            return False
        return len(case.prompt) + TEMPLATE + settings["max_tokens"] <= length


BASE = {"max_model_len": MAX_MODEL_LEN, "max_num_batched_tokens": BATCHED}
STOCK = Engine(0)
"""vLLM itself."""
ENGINES: Mapping[str, Engine] = {
    "roomy": Engine(128),
    "one at a time": Engine(128, at_once=1, every=8),
    "resets": Engine(128, resets=True),
    "no prefix cache, K=1": Engine(
        1, {"enable_prefix_caching": False, "max_num_seqs": 6}, every=2
    ),
    "a dozen blocks": Engine(
        32,
        {"num_gpu_blocks_override": 14, "max_num_seqs": 6, "max_model_len": 384},
        every=2,
    ),
    "tiny chunks": Engine(
        32, {"max_num_batched_tokens": 40, "max_num_seqs": 8, **PLAIN}, every=2
    ),
    "a dozen blocks, no prefix cache": Engine(
        32,
        {
            "num_gpu_blocks_override": 14,
            "max_num_seqs": 6,
            "max_model_len": 384,
            "enable_prefix_caching": False,
        },
        every=2,
    ),
    # Twice as many blocks, for layers with a sliding window keep their own.
    "few blocks, tiny chunks": Engine(
        16,
        {
            "num_gpu_blocks_override": 28,
            "max_num_batched_tokens": 48,
            "max_num_seqs": 8,
            "max_model_len": 384,
        },
        every=2,
    ),
    "LoRA": Engine(64, lora=True, every=6),
}
"""By name. Equal settings one after the other share a running engine."""

_SHARED = ("roomy", "one at a time", "resets")
GRID: Mapping[str, tuple[str, ...]] = {
    "qwen3": (
        *_SHARED,
        "no prefix cache, K=1",
        "a dozen blocks",
        "a dozen blocks, no prefix cache",
        "tiny chunks",
        "LoRA",
    ),
    "gemma4": (*_SHARED, "few blocks, tiny chunks"),
    "mistral": (*_SHARED, "few blocks, tiny chunks"),
    "llama": _SHARED,
    "qwen2": _SHARED,
    "smollm2": ("roomy",),
    "demo": ("roomy", "resets"),
}
"""The engines of each shape."""
MOST = {"smollm2": 32, "demo": 60}
"""Most requests of a shape, where the model is slow."""
PARSERS: Mapping[str, Mapping[str, str]] = {
    "llama": {"reasoning_parser": "qwen3", "tool_call_parser": "hermes"},
    "mistral": {"tool_call_parser": "hermes"},
}
"""Parsers of tiny models that differ from those of the models they are shaped like."""
