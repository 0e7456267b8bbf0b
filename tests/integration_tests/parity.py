"""The ways of calling a chat model, and what must not depend on them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from langchain_ssr import ChatSSR, get_speculation_callback
from langchain_ssr.stats import Timing

Call = tuple[ChatSSR, Sequence[BaseMessage], Mapping[str, Any]]
"""A model, a conversation, and the call's arguments."""
TIMES = {*Timing.model_fields, "duration_ms", "t_ms"}
"""Names of measured values, never equal."""
IDS = {"id", "index"}
"""Names of what numbers answers, calls and blocks; streams number blocks, too."""


def bound(call: Call) -> tuple[Runnable, list[BaseMessage]]:
    llm, messages, arguments = call
    return llm.bind(**arguments), list(messages)


async def invoke(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    return await asyncio.to_thread(runnable.invoke, messages)


async def ainvoke(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    return await runnable.ainvoke(messages)


async def stream(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    return reduce(add, await asyncio.to_thread(lambda: list(runnable.stream(messages))))


async def astream(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    return reduce(add, [chunk async for chunk in runnable.astream(messages)])


async def streaming(call: Call) -> AIMessage:
    """`invoke` of a model that is told to stream."""
    llm, *rest = call
    return await invoke((llm.model_copy(update={"streaming": True}), *rest))


async def watched(call: Call) -> AIMessage:
    """`invoke` where somebody looks at early drafts."""
    with get_speculation_callback(on_draft=lambda _: None):
        return await invoke(call)


async def awatched(call: Call) -> AIMessage:
    """`ainvoke` where somebody looks at early drafts."""
    with get_speculation_callback(on_draft=lambda _: None):
        return await ainvoke(call)


async def batch(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    (message,) = await asyncio.to_thread(runnable.batch, [messages])
    return message


async def abatch(call: Call) -> AIMessage:
    runnable, messages = bound(call)
    (message,) = await runnable.abatch([messages])
    return message


Way = Callable[[Call], Awaitable[AIMessage]]
EACH: tuple[Way, ...] = (ainvoke, stream, astream)
"""To be compared with `invoke`, for every case."""
FURTHER: tuple[Way, ...] = (streaming, watched, awatched, batch, abatch)
"""To be compared with `invoke`, for a few cases."""


def without(value: Any, names: set[str]) -> Any:
    """Return a copy of nested data without the entries of these names."""
    if isinstance(value, Mapping):
        return {k: without(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, (list, tuple)):
        return [without(item, names) for item in value]
    return copy.copy(value)


def essence(message: AIMessage) -> dict[str, Any]:
    """Return everything of a message but ids and times.

    Nor does it hold what is wrong with an invalid call: langchain-core leaves that out
    of the calls that it puts together from a stream's chunks.
    """
    return {
        "content": without(message.content, IDS),
        "additional_kwargs": message.additional_kwargs,
        "tool_calls": without(message.tool_calls, IDS),
        "invalid_tool_calls": without(message.invalid_tool_calls, {*IDS, "error"}),
        "content_blocks": without(message.content_blocks, {*IDS, "error"}),
        "response_metadata": {
            name: value if name == "logprobs" else without(value, TIMES)
            for name, value in message.response_metadata.items()
            if name != "id"
        },
        "usage": message.usage_metadata,
    }


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Say where nested data differs, one line for each place."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = sorted({*one, *other}, key=str)
        pairs = [(f"{where}.{n}", one.get(n), other.get(n)) for n in names]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [
            (f"{where}[{i}]", *both)
            for i, both in enumerate(zip(one, other, strict=True))
        ]
    else:
        return [] if one == other else [f"{where}: {one!r} != {other!r}"]
    return [line for place, a, b in pairs for line in differences(a, b, place)]
