"""Asks a chat model for one turn of a conversation."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages

from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.wire.requests import REASONING_KEY, text_of


async def ask(llm: ChatSSR, example: Example, turn: int) -> AIMessage:
    """Let a model answer one turn.

    Args:
        llm: The model.
        example: The conversation.
        turn: Which of the turns to be learned, from 0.
    """
    answer = await llm.ainvoke(
        history(example, turn),
        tools=example.tools,
        enable_thinking=example.enable_thinking,
    )
    if not isinstance(answer, AIMessage):
        raise TypeError(f"a chat model answered with {type(answer).__name__}")
    return answer


def history(example: Example, turn: int) -> list[BaseMessage]:
    """Return the messages before a turn, earlier turns as the corpus has them.

    Args:
        example: The conversation.
        turn: Which of the turns to be learned, from 0.
    """
    places = [i for i, m in enumerate(example.messages) if m["role"] == "assistant"]
    end = places[len(places) - len(example.checks) + turn]
    return convert_to_messages([_with_json(m) for m in example.messages[:end]])


def _with_json(message: dict[str, Any]) -> dict[str, Any]:
    """Write the arguments of a message's calls as JSON, as the API has them."""
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        arguments = json.dumps(function["arguments"], ensure_ascii=False)
        calls.append({**call, "function": {**function, "arguments": arguments}})
    return {**message, "tool_calls": calls}


def message_of(answer: AIMessage) -> dict[str, Any]:
    """Convert an answer back to a chat-completions message, as judges take it."""
    calls = [(c["name"], json.dumps(c["args"])) for c in answer.tool_calls]
    calls += [(c["name"] or "", c["args"] or "") for c in answer.invalid_tool_calls]
    return {
        "role": "assistant",
        "reasoning": answer.additional_kwargs.get(REASONING_KEY),
        "content": text_of(answer.content),
        "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ],
    }
