"""Random streams of requests whose prompts are computed in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


@contextmanager
def resting(batch: Any, is_discarded: NDArray[np.bool_]) -> Iterator[None]:
    """Keep the seeded generators of requests whose samples are discarded out of a step.

    vLLM samples a token after each chunk of a prompt and discards all but the last. So
    that a seed gives the same tokens however many chunks there were, it turns the
    generator back, which PyTorch's CPU generators cannot do: they raise, and in vLLM
    0.32 that ends the engine.

    Args:
        batch: The model runner's `InputBatch`.
        is_discarded: Whether a row's sample is discarded, shape `[max_num_seqs]`.
    """
    generators: dict[int, Any] = batch.generators
    kept = {row: generators[row] for row in generators if is_discarded[row]}
    for row in kept:
        del generators[row]
    try:
        yield
    finally:
        generators.update(kept)
