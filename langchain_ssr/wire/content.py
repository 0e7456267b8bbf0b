"""Content of messages -> content of a chat-completions request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    convert_to_openai_data_block,
)

from langchain_ssr.content_blocks import REASONING_KEY
from langchain_ssr.errors import SettingsError

_WIRE_MEDIA = ("image_url", "input_audio", "audio_url", "video_url")
"""Blocks of the API itself."""
_CORE_MEDIA = ("image", "audio", "file", "video")
"""LangChain's blocks."""


def content_of(message: BaseMessage, *, media: bool) -> str | list[dict[str, Any]]:
    """Convert what a user, a system or a tool says.

    Args:
        message: Text, or a list of text and content blocks.
        media: Whether the model takes images and the like.

    Returns:
        The text as a string, or parts if there is more than text.

    Raises:
        SettingsError: If a block is of a kind that the model does not take.
    """
    if isinstance(message.content, str):
        return message.content
    parts = [_part(block, media=media) for block in message.content]
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _part(block: str | Mapping[str, Any], *, media: bool) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    kind = str(block.get("type", "text"))
    if kind in ("text", "text-plain") and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    if kind not in (*_WIRE_MEDIA, *_CORE_MEDIA):
        raise SettingsError(f"messages: a content block of type {kind!r} is unknown")
    if not media:
        raise SettingsError(
            f"messages: the model takes text only, but a content block is of type "
            f"{kind!r}. For a model that takes more, pass "
            "engine_kwargs={'language_model_only': False}."
        )
    if kind in _WIRE_MEDIA:
        return dict(block)
    if kind == "video" and "url" in block:
        return {"type": "video_url", "video_url": {"url": block["url"]}}
    try:
        return convert_to_openai_data_block({"mime_type": "image/png", **block})
    except ValueError as error:
        raise SettingsError(f"messages: a block of type {kind!r}: {error}") from None


def text_of(content: str | Sequence[str | Mapping[str, Any]]) -> str:
    """Join the text of a message's content; blocks of other kinds are left out.

    Args:
        content: A string, or a list of strings and content blocks.
    """
    if isinstance(content, str):
        return content
    return "".join(
        block if isinstance(block, str) else str(block.get("text", ""))
        for block in content
        if isinstance(block, str) or block.get("type") == "text"
    )


def reasoning_of(message: AIMessage) -> str:
    """Return a message's reasoning, wherever its provider has put it.

    langchain-core looks beside the content only for messages of some providers.
    """
    in_content = "".join(
        block.get("reasoning", "")
        for block in message.content_blocks
        if block["type"] == "reasoning"
    )
    beside = message.additional_kwargs.get(REASONING_KEY)
    return in_content or (beside if isinstance(beside, str) else "")


def calls_of(message: AIMessage) -> list[Mapping[str, Any]]:
    """Return a message's tool calls, also those that are in its content only."""
    calls: list[Mapping[str, Any]] = [*message.tool_calls, *message.invalid_tool_calls]
    known = {call.get("id") for call in calls}
    in_content = [
        block
        for block in message.content_blocks
        if block["type"] == "tool_call" and block.get("id") not in known
    ]
    return [*calls, *in_content]
