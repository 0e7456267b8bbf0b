"""The text of each span of an output, for who wants to see where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_ssr.engine.draft_text import Tokenizer

_BROKEN = "\ufffd"


def span_texts(
    spans: Sequence[Sequence[Any]],
    token_ids: Sequence[int],
    text: str,
    tokenizer: Tokenizer,
) -> list[str]:
    """Cut an output's text where its spans end.

    A character whose bytes are in two spans belongs to the later one. Only the tokens
    since the last whole character are decoded, after the ones before them, on which
    blanks may depend.

    Args:
        spans: `[source, number of tokens]`, in order.
        token_ids: The output's tokens; a stop may have cut some of the last span.
        text: The output's text as the engine gave it. A stop string is no part of it.
        tokenizer: The model's tokenizer.

    Returns:
        A text for each span. Together they are the output without special tokens.
    """
    texts: list[str] = []
    before = begin = end = shown = 0
    for number, (_, count) in enumerate(spans, 1):
        end = min(end + count, len(token_ids))
        known = tokenizer.decode(token_ids[before:begin], skip_special_tokens=True)
        whole = tokenizer.decode(token_ids[before:end], skip_special_tokens=True)
        clean = whole if number == len(spans) else whole.rstrip(_BROKEN)
        texts.append(clean[len(known) + shown :])
        shown += len(texts[-1])
        if clean == whole:
            before, begin, shown = begin, end, 0
    return _without_stop(texts, text)


def _without_stop(texts: list[str], text: str) -> list[str]:
    """Leave out what follows the engine's text, if that can be compared."""
    if not "".join(texts).startswith(text):
        return texts
    kept, left = [], len(text)
    for one in texts:
        kept.append(one[:left])
        left -= len(kept[-1])
    return kept
