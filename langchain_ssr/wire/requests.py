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

from langchain_ssr.content_blocks import REASONING_KEY
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import CallSettings, SpeculationSettings
from langchain_ssr.wire.content import calls_of, content_of, reasoning_of, text_of

__all__ = [
    "REASONING_KEY",
    "build_request",
    "messages_to_wire",
    "reasoning_of",
    "speculation_of",
    "speculation_to_wire",
    "text_of",
]

_MERGED = ("vllm_xargs", "chat_template_kwargs")
"""Fields to which `extra_body` adds; it replaces all others."""
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


def messages_to_wire(
    messages: Sequence[BaseMessage], *, media: bool = False
) -> list[dict[str, Any]]:
    """Convert a conversation.

    Reasoning goes back only for assistant messages after the last human message (a
    tool loop still in progress), as the chat templates of reasoning models expect.
    System messages become one at the beginning, for many templates take no other.

    Args:
        messages: LangChain messages, oldest first.
        media: Whether the model takes images and the like.

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
    wire = [
        _ai_to_wire(message, keep_reasoning=i > last_human)
        if isinstance(message, AIMessage)
        else {**_head(message), "content": content_of(message, media=media)}
        for i, message in enumerate(messages)
    ]
    return _system_first(wire)


def _is_user(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) or (
        isinstance(message, ChatMessage) and message.role == "user"
    )


def _head(message: BaseMessage) -> dict[str, Any]:
    """Convert all but the content of a message that is not the model's."""
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id}
    if isinstance(message, FunctionMessage):
        return {"role": "tool", "tool_call_id": message.name}
    if isinstance(message, SystemMessage):
        return {"role": message.additional_kwargs.get("__openai_role__", "system")}
    if isinstance(message, HumanMessage):
        return {"role": "user", **({"name": message.name} if message.name else {})}
    if isinstance(message, ChatMessage):
        return {"role": message.role}
    raise SettingsError(
        f"messages: {type(message).__name__} is no message that a chat model takes"
    )


def _system_first(wire: list[dict[str, Any]]) -> list[dict[str, Any]]:
    system = [message for message in wire if message["role"] == "system"]
    if not system or (len(system) == 1 and system[0] is wire[0]):
        return wire
    if not all(isinstance(message["content"], str) for message in system):
        raise SettingsError("messages: a system message must be text")
    content = "\n\n".join(message["content"] for message in system)
    others = [message for message in wire if message["role"] != "system"]
    return [{"role": "system", "content": content}, *others]


def _ai_to_wire(message: AIMessage, *, keep_reasoning: bool) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "assistant", "content": text_of(message.content)}
    if calls := calls_of(message):
        wire["tool_calls"] = [_call_to_wire(call, i) for i, call in enumerate(calls)]
        wire["content"] = wire["content"] or None
    if keep_reasoning and (reasoning := reasoning_of(message)):
        wire["reasoning"] = reasoning
    return wire


def _call_to_wire(call: Mapping[str, Any], index: int) -> dict[str, Any]:
    arguments = call["args"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False)
    return {
        "id": call.get("id") or f"call_{index}",  # vLLM wants one
        "type": "function",
        "function": {"name": call["name"] or "", "arguments": arguments},
    }


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


def speculation_of(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read the speculation settings of a request again.

    Args:
        request: As `build_request` makes it, or with settings of the user's own. The
            engine says what is wrong with those; here they count as none.
    """
    try:
        settings = json.loads(request.get("vllm_xargs", {}).get("ssr", "{}"))
    except (TypeError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def build_request(
    model: str,
    messages: Sequence[BaseMessage],
    settings: CallSettings,
    *,
    stream: bool,
    media: bool = False,
    **fields: Any,
) -> dict[str, Any]:
    """Build a chat-completions request.

    Args:
        model: The served model's name.
        messages: The conversation.
        settings: The call's settings.
        stream: Ask for a stream that ends in a usage chunk.
        media: Whether the model takes images and the like.
        **fields: Further fields (`tools`, `tool_choice`, `response_format`, ...);
            what is `None` is left out.

    Returns:
        The request's JSON object.

    Raises:
        SettingsError: As `messages_to_wire`.
    """
    wire = messages_to_wire(messages, media=media)
    request: dict[str, Any] = {"model": model, "messages": wire}
    for name in _SAME_NAME:
        request[name] = getattr(settings, name)
    if settings.top_logprobs is not None:
        request["logprobs"] = True
    request["max_completion_tokens"] = settings.max_tokens
    request["thinking_token_budget"] = settings.thinking_budget
    request["n"] = settings.n if settings.n > 1 else None
    template = dict(settings.chat_template_kwargs)
    thinks = settings.enable_thinking
    if thinks == "auto":  # vLLM lets this switch win over an effort of "none"
        thinks = True if settings.reasoning_effort is None else None
    if thinks is not None:
        template.setdefault("enable_thinking", thinks)
    tools = fields.get("tools") or []
    if any(_is_marked(tool) for tool in tools):
        template.setdefault("tools", [tool_for_template(tool) for tool in tools])
    request["chat_template_kwargs"] = template or None
    if stream:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    request |= fields
    for name, value in settings.extra_body.items():
        ours = request.get(name) if name in _MERGED else None
        merges = isinstance(ours, Mapping) and isinstance(value, Mapping)
        request[name] = {**(ours or {}), **value} if merges else value
    return {name: value for name, value in request.items() if value is not None}


def _is_marked(tool: Mapping[str, Any]) -> bool:
    function = tool.get("function")
    return isinstance(function, Mapping) and function.get("strict") is not None


def tool_for_template(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Write a tool as vLLM shows it to the chat template, but without `strict`.

    `strict` is a word to the grammar, not to the model. In the prompt it would change
    the system part, and the cached prefix of an agent's conversation would be lost
    where one call is forced and the next is not.
    """
    given = tool["function"]
    function = {name: given.get(name) for name in ("name", "description", "parameters")}
    return {"type": "function", "function": function}
