"""A model's exact probabilities, from its own forward pass without vLLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ROUNDING = 1e-4
"""Two float32 engines differ by less than this in a logit or in a probability."""
_BATCH = 256


@dataclass(frozen=True)
class Sampling:
    """The parameters that shape a distribution, as in a request.

    Attributes:
        allowed: `allowed_token_ids`.
        temperature: Above 0.
        top_k: Most likely tokens to sample from; None for all.
        top_p: Their probability is to reach this; None for 1.
    """

    allowed: tuple[int, ...]
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None


def constrain(logits: Array, sampling: Sampling) -> tuple[Array, NDArray[np.bool_]]:
    """Return what is sampled from, in vLLM's order: temperature, top-k, top-p.

    Args:
        logits: The model's, of the allowed tokens; shape `[n, num_allowed]`.
        sampling: The parameters.

    Returns:
        Probabilities of the same shape; and for each of the n whether top-k and top-p
        clearly say which tokens they leave. Where rounding could decide, nobody knows
        the exact probabilities.
    """
    order = np.argsort(-logits, axis=1, kind="stable")
    scaled = np.take_along_axis(logits, order, axis=1) / sampling.temperature
    clear = np.ones(len(logits), dtype=bool)
    size = logits.shape[1]
    if sampling.top_k is not None and sampling.top_k < size:
        last = sampling.top_k - 1
        clear &= scaled[:, last] - scaled[:, last + 1] > _ROUNDING
        scaled[:, last + 1 :] = -np.inf
    probabilities = _softmax(scaled)
    if sampling.top_p is not None:
        # A token stays if those before it do not reach top_p.
        before = np.cumsum(probabilities, axis=1) - probabilities
        clear &= (np.abs(before - sampling.top_p) > _ROUNDING).all(axis=1)
        scaled[before >= sampling.top_p] = -np.inf
        probabilities = _softmax(scaled)
    result = np.empty_like(probabilities)
    np.put_along_axis(result, order, probabilities, axis=1)
    return result, clear


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class Reference:
    """A model in float32, run by transformers.

    Args:
        folder: Where the model is.
    """

    def __init__(self, folder: Path) -> None:
        """Load the model."""
        import torch
        import transformers

        self._torch = torch
        self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()

    def logits(
        self, texts: Sequence[Sequence[int]], num_last: int, tokens: Sequence[int]
    ) -> Array:
        """Return the logits from which the last tokens of texts were sampled.

        Args:
            texts: Token ids, of equal length.
            num_last: How many tokens at the end of each.
            tokens: The token ids whose logits are wanted.

        Returns:
            Shape `[num_texts, num_last, num_tokens]`.
        """
        parts = [np.empty((0, num_last, len(tokens)))]
        threads = self._torch.get_num_threads()
        self._torch.set_num_threads(1)  # the engine is waiting busily beside it
        for start in range(0, len(texts), _BATCH):
            batch = self._torch.tensor(list(map(list, texts[start : start + _BATCH])))
            with self._torch.inference_mode():
                logits = self._model(batch[:, :-1], logits_to_keep=num_last).logits
            parts.append(logits[:, :, list(tokens)].double().numpy())
        self._torch.set_num_threads(threads)
        return np.concatenate(parts)
