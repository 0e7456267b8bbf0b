"""Which engines the requests are sent to: settings of vLLM, by shape of the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.exactness.asking import AT_ONCE, Case
from tests.exactness.equality import PLAIN
from tests.exactness.material import MAX_MODEL_LEN

SEATS = 32
"""Requests that an engine runs at once, unless it says otherwise (`FLOAT32`)."""
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
        preempts: Whether its cache is too short for the requests under way.
    """

    num_speculative_tokens: int
    engine_kwargs: Mapping[str, Any] = field(default_factory=dict)
    at_once: int = AT_ONCE
    resets: bool = False
    lora: bool = False
    every: int = 1
    preempts: bool = False

    @property
    def has_seats(self) -> bool:
        """Whether drafts find a place: fewer requests than vLLM runs at once."""
        return self.at_once < self.engine_kwargs.get("max_num_seqs", SEATS)

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
_FEW = {"num_gpu_blocks_override": 20, "max_num_seqs": 6, "max_model_len": 384}
_NO_CACHE = {"enable_prefix_caching": False}
_ONE_TOKEN = Engine(1, {**_NO_CACHE, "max_num_seqs": 6}, every=2)
_FEW_BLOCKS = Engine(32, _FEW, every=2, preempts=True)
_FEW_BLOCKS_NO_CACHE = Engine(32, {**_FEW, **_NO_CACHE}, every=2, preempts=True)
_TINY_CHUNKS = Engine(
    32, {"max_num_batched_tokens": 40, "max_num_seqs": 8, **PLAIN}, every=2
)
# More blocks, for layers with a sliding window keep their own.
_FEW_BLOCKS_TINY_CHUNKS = Engine(
    16,
    {
        "num_gpu_blocks_override": 28,
        "max_num_batched_tokens": 48,
        "max_num_seqs": 8,
        "max_model_len": 384,
        **PLAIN,
    },
    every=2,
)


def _with_drafts(engine: Engine, at_once: int, every: int) -> Engine:
    """Send so few requests at once that there are seats and blocks for drafts."""
    return dataclasses.replace(engine, at_once=at_once, every=every, preempts=False)


ENGINES: Mapping[str, Engine] = {
    "roomy": Engine(128, PLAIN),
    "one at a time": Engine(128, PLAIN, at_once=1, every=8),
    "resets": Engine(128, PLAIN, resets=True),
    "no prefix cache": Engine(32, {**_NO_CACHE, **PLAIN}, every=2),
    "no prefix cache, K=1": _ONE_TOKEN,
    "no prefix cache, K=1, three": _with_drafts(_ONE_TOKEN, 3, 4),
    "few blocks": _FEW_BLOCKS,
    "few blocks, alone": _with_drafts(_FEW_BLOCKS, 1, 6),
    "few blocks, no prefix cache": _FEW_BLOCKS_NO_CACHE,
    "few blocks, no prefix cache, alone": _with_drafts(_FEW_BLOCKS_NO_CACHE, 1, 6),
    "tiny chunks": _TINY_CHUNKS,
    "tiny chunks, three": _with_drafts(_TINY_CHUNKS, 3, 2),
    "few blocks, tiny chunks": _FEW_BLOCKS_TINY_CHUNKS,
    "few blocks, tiny chunks, alone": _with_drafts(_FEW_BLOCKS_TINY_CHUNKS, 1, 6),
    "LoRA": Engine(64, lora=True, every=6),
}
"""By name. Equal settings one after the other share a running engine."""

_SHARED = ("roomy", "one at a time", "resets")
_SLIDING = ("few blocks, tiny chunks", "few blocks, tiny chunks, alone")
GRID: Mapping[str, tuple[str, ...]] = {
    "qwen3": (
        *_SHARED,
        "no prefix cache, K=1",
        "no prefix cache, K=1, three",
        "few blocks",
        "few blocks, alone",
        "few blocks, no prefix cache",
        "few blocks, no prefix cache, alone",
        "tiny chunks",
        "tiny chunks, three",
        "LoRA",
    ),
    "gemma4": (*_SHARED, *_SLIDING, "no prefix cache"),
    "mistral": (*_SHARED, *_SLIDING),
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
