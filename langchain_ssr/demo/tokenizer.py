"""The demo model's tokenizer: byte-level BPE with Qwen's special tokens.

Letters, single digits, underscores, white space and punctuation are kept apart before
merging. So a name is the same tokens after a quote, a dot or a space, and copying it
from a request is copying tokens, which a small model can learn.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable
from typing import Any

IM_START, IM_END = "<|im_start|>", "<|im_end|>"
THINK, THINK_END = "<think>", "</think>"
SPECIAL_TOKENS = ("<|endoftext|>", IM_START, IM_END)
"""Tokens that are not text; a decoder may skip them."""
MARKERS = (
    THINK,
    THINK_END,
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
    "</tools>",
)
"""Tokens that parsers look for in the text, one token each."""
_PIECES = r"[A-Za-z]+|[0-9]|_|\n *| +|[^\sA-Za-z0-9_]+|\s"


def chat_template() -> str:
    """Return the Jinja template of the demo model."""
    folder = importlib.resources.files(__package__) / "model"
    return (folder / "chat_template.jinja").read_text(encoding="utf-8")


def wrap(core: Any, context: int) -> Any:
    """Wrap a trained BPE model for transformers.

    Args:
        core: A `tokenizers.Tokenizer`.
        context: The most tokens that the model takes.

    Returns:
        A `PreTrainedTokenizerFast` with the demo model's chat template.
    """
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=IM_END,
        pad_token=SPECIAL_TOKENS[0],
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = chat_template()
    return tokenizer


def train(texts: Iterable[str], vocab_size: int) -> Any:
    """Train the BPE merges.

    Args:
        texts: Rendered conversations.
        vocab_size: Number of tokens, special ones and the 256 bytes included.

    Returns:
        A `tokenizers.Tokenizer`.
    """
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    added = [AddedToken(token, special=True) for token in SPECIAL_TOKENS]
    added += [AddedToken(token, special=False) for token in MARKERS]
    core.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=added,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            min_frequency=8,
            show_progress=False,
        ),
    )
    return core
