"""LangChain messages and settings -> chat-completions JSON.

Requests follow OpenAI's chat-completions API with vLLM's extensions (`reasoning`,
`thinking_token_budget`, `chat_template_kwargs`, ...).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import CallSettings, SpeculationSettings

REASONING_KEY = "reasoning_content"

_SAME_NAME = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "stop",
    "seed",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
)
"""Call settings that the API knows by the same name."""


def messages_to_wire(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Convert a conversation.

    Reasoning goes back only for assistant messages after the last human message (a
    tool loop still in progress), as the chat templates of reasoning models expect.

    Args:
        messages: LangChain messages, oldest first.

    Returns:
        The request's `messages`.

    Raises:
        SettingsError: If there is no message, or one of a kind that no model takes.
    """
    if not messages:
        raise SettingsError("messages: a chat model needs at least one message")
    last_human = max(
        (i for i, message in enumerate(messages) if _is_user(message)),
        default=-1,
    )
    return [
        _message_to_wire(message, keep_reasoning=i > last_human)
        for i, message in enumerate(messages)
    ]


def _is_user(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) or (
        isinstance(message, ChatMessage) and message.role == "user"
    )


def _message_to_wire(message: BaseMessage, *, keep_reasoning: bool) -> dict[str, Any]:
    if isinstance(message, AIMessage):
        return _ai_to_wire(message, keep_reasoning=keep_reasoning)
    if isinstance(message, ToolMessage):
        return {
            "role": "tool",
            "tool_call_id": message.tool_call_id,
            "content": text_of(message.content),
        }
    if isinstance(message, FunctionMessage):
        return {
            "role": "tool",
            "tool_call_id": message.name,
            "content": text_of(message.content),
        }
    if isinstance(message, SystemMessage):
        role = message.additional_kwargs.get("__openai_role__", "system")
        return {"role": role, "content": text_of(message.content)}
    if isinstance(message, HumanMessage):
        wire = {"role": "user", "content": _user_content(message.content)}
        return {**wire, "name": message.name} if message.name else wire
    if isinstance(message, ChatMessage):
        return {"role": message.role, "content": text_of(message.content)}
    raise SettingsError(
        f"messages: {type(message).__name__} is no message that a chat model takes"
    )


def _ai_to_wire(message: AIMessage, *, keep_reasoning: bool) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "assistant", "content": text_of(message.content)}
    if message.tool_calls or message.invalid_tool_calls:
        wire["tool_calls"] = [
            *map(_call_to_wire, message.tool_calls),
            *map(_call_to_wire, message.invalid_tool_calls),
        ]
        wire["content"] = wire["content"] or None
    if keep_reasoning and (reasoning := reasoning_of(message)):
        wire["reasoning"] = reasoning
    return wire


def _call_to_wire(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call["args"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False)
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
    }


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


def _user_content(
    content: str | Sequence[str | Mapping[str, Any]],
) -> str | list[dict[str, Any]]:
    """Convert a human message's content; text stays a string wherever it can."""
    if isinstance(content, str):
        return content
    blocks = [
        {"type": "text", "text": block} if isinstance(block, str) else dict(block)
        for block in content
    ]
    if all(block.get("type") == "text" for block in blocks):
        return "".join(str(block.get("text", "")) for block in blocks)
    return [_block_to_wire(block) for block in blocks]


def _block_to_wire(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and "url" in block:
        return {"type": "image_url", "image_url": {"url": block["url"]}}
    if block.get("type") == "image" and "base64" in block:
        url = f"data:{block.get('mime_type', 'image/png')};base64,{block['base64']}"
        return {"type": "image_url", "image_url": {"url": url}}
    return block


def reasoning_of(message: AIMessage) -> str:
    """Return a message's reasoning, from `additional_kwargs` or v1 blocks."""
    if reasoning := message.additional_kwargs.get(REASONING_KEY):
        return str(reasoning)
    if isinstance(message.content, str):
        return ""
    return "".join(
        str(block.get("reasoning", ""))
        for block in message.content
        if isinstance(block, dict) and block.get("type") == "reasoning"
    )


def speculation_to_wire(settings: SpeculationSettings) -> dict[str, str]:
    """Write speculation settings as vLLM's extra arguments take them: one string.

    Args:
        settings: The settings in force; only what is not the default is sent.
    """
    given = settings.model_dump(
        mode="json",
        include=set(SpeculationSettings.model_fields),
        exclude_defaults=True,
    )
    return {"ssr": json.dumps(given)}


def build_request(
    model: str,
    messages: Sequence[BaseMessage],
    settings: CallSettings,
    *,
    stream: bool,
    **fields: Any,
) -> dict[str, Any]:
    """Build a chat-completions request.

    Args:
        model: The served model's name.
        messages: The conversation.
        settings: The call's settings.
        stream: Ask for a stream that ends in a usage chunk.
        **fields: Further fields (`tools`, `tool_choice`, `response_format`, ...);
            what is `None` is left out.

    Returns:
        The request's JSON object.

    Raises:
        SettingsError: As `messages_to_wire`.
    """
    request: dict[str, Any] = {"model": model, "messages": messages_to_wire(messages)}
    for name in _SAME_NAME:
        request[name] = getattr(settings, name)
    if settings.top_logprobs is not None:
        request["logprobs"] = True
    request["max_completion_tokens"] = settings.max_tokens
    request["thinking_token_budget"] = settings.thinking_budget
    request["n"] = settings.n if settings.n > 1 else None
    template = dict(settings.chat_template_kwargs)
    if settings.enable_thinking is not None:
        template.setdefault("enable_thinking", settings.enable_thinking)
    request["chat_template_kwargs"] = template or None
    if stream:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    request |= fields
    request |= settings.extra_body
    return {name: value for name, value in request.items() if value is not None}
