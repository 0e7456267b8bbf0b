"""Conversations as token ids, with the tokens that the model has to learn marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.demo.tokenizer import IM_END, THINK, THINK_END


def render(tokenizer: Any, example: Example, upto: int | None = None) -> str:
    """Render a conversation with the chat template.

    Args:
        tokenizer: A transformers tokenizer with the demo model's template.
        example: The conversation.
        upto: Render only the messages before this index, and the beginning of an
            assistant message after them; `None` renders the whole conversation.

    Returns:
        The text.
    """
    text: str = tokenizer.apply_chat_template(
        example.messages[:upto],
        tools=example.tools or None,
        tokenize=False,
        add_generation_prompt=upto is not None,
        enable_thinking=example.enable_thinking,
    )
    return text


def segments(tokenizer: Any, example: Example) -> list[tuple[str, bool]]:
    """Split a conversation into what is given and what is to be learned.

    Args:
        tokenizer: A transformers tokenizer with the demo model's template.
        example: The conversation.

    Returns:
        Pieces of text in order, and whether each is to be learned.

    Raises:
        ValueError: If an earlier turn is not rendered as the beginning of a later one.
    """
    whole = render(tokenizer, example)
    turns = [i for i, m in enumerate(example.messages) if m["role"] == "assistant"]
    parts: list[tuple[str, bool]] = []
    done = 0
    for index in turns[-len(example.checks) :]:
        prompt = render(tokenizer, example, index)
        end = whole.find(IM_END, len(prompt)) + len(IM_END)
        if not whole.startswith(prompt) or end < len(prompt):
            raise ValueError(f"turn {index} is not rendered as a beginning")
        reply = whole[len(prompt) : end]
        if example.tight:
            reply = re.sub(rf"{THINK_END}\n\n(?=<tool_call>|[\[{{])", THINK_END, reply)
        parts.append((whole[done : len(prompt)], False))
        if example.cut is not None and THINK_END in reply:
            reasoning, answer = reply.split(THINK_END, 1)
            kept = reasoning[: max(len(THINK) + 1, int(example.cut * len(reasoning)))]
            return [*parts, (kept + THINK_END, False), (answer, True)]
        parts.append((reply, True))
        done = end
    return [*parts, (whole[done:], False)]


def encode(tokenizer: Any, example: Example) -> tuple[list[int], list[bool]]:
    """Encode a conversation.

    Args:
        tokenizer: A transformers tokenizer with the demo model's template.
        example: The conversation.

    Returns:
        Token ids, and for each whether it is to be learned.
    """
    return encode_pieces(tokenizer, segments(tokenizer, example))


def encode_pieces(
    tokenizer: Any, pieces: Iterable[tuple[str, bool]]
) -> tuple[list[int], list[bool]]:
    """Encode texts one by one, each of which is to be learned or not.

    Args:
        tokenizer: A transformers tokenizer.
        pieces: Texts, and whether each is to be learned.

    Returns:
        Token ids, and for each whether it is to be learned.
    """
    ids: list[int] = []
    learned: list[bool] = []
    for text, is_target in pieces:
        piece = tokenizer.encode(text, add_special_tokens=False)
        ids += piece
        learned += [is_target] * len(piece)
    return ids, learned
