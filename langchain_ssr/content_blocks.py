"""Content blocks (LangChain v1) of this package's messages, whole and streamed.

langchain-core can derive blocks by itself, but not while it streams:

- It counts blocks from 0 and takes a tool call's own number for its place among them.
  So the arguments of call 0 are added to block 0, which is the reasoning.
- A chunk that holds text and a piece of a call, as speculation's bursts do, gets the
  piece completed to a whole call.
- In event streams text that follows reasoning within one chunk, and text that comes
  alone, become two blocks.

Here every block has an index of its own: one for the reasoning, one for the text, and
one for each call. Importing the module registers the translation.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.block_translators import register_translator
from langchain_core.messages.content import ContentBlock

PROVIDER = "langchain-ssr"
"""`model_provider` in the `response_metadata` of every message."""
REASONING_KEY = "reasoning_content"
"""Where reasoning is in `additional_kwargs`."""


def translate_content(message: AIMessage) -> list[ContentBlock]:
    """Derive the blocks of a whole message.

    Args:
        message: A message whose content is a string.

    Raises:
        NotImplementedError: If the content is blocks already, which langchain-core
            reads by itself.
    """
    return [*_texts(message), *_whole_calls(message), *_invalid_calls(message)]


def translate_content_chunk(chunk: AIMessageChunk) -> list[ContentBlock]:
    """Derive the blocks of a chunk, or of the sum of a stream's chunks.

    Args:
        chunk: A chunk whose content is a string.

    Raises:
        NotImplementedError: As `translate_content`.
    """
    blocks = _texts(chunk)
    for block in blocks:
        block["index"] = f"lc_{block['type']}"
    pieces: list[Any] = chunk.tool_call_chunks
    if chunk.chunk_position == "last":
        blocks += [*_whole_calls(chunk), *_invalid_calls(chunk)]
        # The last chunk may end a call that was cut; only first pieces have a name.
        pieces = [piece for piece in pieces if not piece["name"]]
    blocks += [
        {
            "type": "tool_call_chunk",
            "id": piece["id"],
            "name": piece["name"],
            "args": piece["args"],
            "index": f"lc_tool_call_{piece['index']}",
        }
        for piece in pieces
    ]
    return blocks


def _texts(message: AIMessage) -> list[Any]:
    if not isinstance(message.content, str):
        raise NotImplementedError
    texts = {
        "reasoning": message.additional_kwargs.get(REASONING_KEY),
        "text": message.content,
        "refusal": message.additional_kwargs.get("refusal"),
    }
    return [{"type": kind, kind: text} for kind, text in texts.items() if text]


def _whole_calls(message: AIMessage) -> list[Any]:
    return [
        {"type": "tool_call", **{key: call[key] for key in ("id", "name", "args")}}
        for call in message.tool_calls
    ]


def _invalid_calls(message: AIMessage) -> list[Any]:
    return [
        {**call, "type": "invalid_tool_call"}
        for call in message.invalid_tool_calls
        if call["name"]  # without one it is the last piece of a stream's call
    ]


register_translator(PROVIDER, translate_content, translate_content_chunk)
