"""Asks an engine for one answer and takes the time.

Everything that starts an engine is in `open_engine`; the rest takes any `Asker`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import AIMessageChunk, convert_to_messages

from langchain_ssr.bench.items import Item
from langchain_ssr.bench.modes import Engine
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.content_blocks import REASONING_KEY


@dataclass(frozen=True)
class Answer:
    """An answer and when its parts came, in seconds since the request.

    Attributes:
        message: The whole message, with usage and statistics.
        first_reasoning: The first reasoning token; None if there was none.
        first_answer: The first token after the reasoning, text or call.
        total: The end of the stream.
    """

    message: AIMessageChunk
    first_reasoning: float | None
    first_answer: float | None
    total: float


class Asker(Protocol):
    """An engine that can be asked."""

    def ask(self, item: Item, settings: Mapping[str, Any]) -> Answer:
        """Answer a request.

        Args:
            item: The request.
            settings: All settings of the call.
        """

    def info(self) -> dict[str, Any]:
        """Describe the engine, in JSON data."""


_REPORT = {"ssr": '{"speculation": false}'}
OpenEngine = Callable[[Engine], AbstractContextManager[Asker]]
"""Starts an engine, and ends it with the context."""


class ChatAsker:
    """Asks a chat model.

    Args:
        llm: The model.
        counts: Whether its engine counts steps without SSR (`modes.COUNTING`).
    """

    def __init__(self, llm: ChatSSR, *, counts: bool = False) -> None:
        """Take a model."""
        self._llm = llm
        self._counts = counts

    def ask(self, item: Item, settings: Mapping[str, Any]) -> Answer:
        """Stream an answer; see `Asker`."""
        call = dict(settings)
        if self._counts:  # a model without SSR does not ask for a report by itself
            body = call.get("extra_body", {})
            call["extra_body"] = {**body, "vllm_xargs": dict(_REPORT)}
        if item.tools:
            call["tools"] = [dict(tool) for tool in item.tools]
        messages = convert_to_messages([dict(message) for message in item.messages])
        chunks: list[AIMessageChunk] = []
        first_reasoning: float | None = None
        first_answer: float | None = None
        start = time.perf_counter()
        for chunk in self._llm.stream(messages, **call):
            now = time.perf_counter() - start
            if first_reasoning is None and chunk.additional_kwargs.get(REASONING_KEY):
                first_reasoning = now
            if first_answer is None and (chunk.text or chunk.tool_call_chunks):
                first_answer = now
            chunks.append(chunk)
        total = time.perf_counter() - start
        return Answer(merged(chunks), first_reasoning, first_answer, total)

    def info(self) -> dict[str, Any]:
        """Describe the engine, without the place of the model's files."""
        told = self._llm.engine_info()
        if told["device"] == "cuda":
            # vLLM asks the driver; torch would take the GPU into this process.
            from vllm.platforms import current_platform

            told = {**told, "gpu": current_platform.get_device_name()}
        return {name: value for name, value in told.items() if name != "path"}


def merged(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    """Put a stream's chunks together, after the clock has stopped."""
    whole, *others = chunks
    if others:
        whole = whole + others
    return whole


def engines_of(model: str, engine_kwargs: Mapping[str, Any]) -> OpenEngine:
    """Return what starts the engines of a run.

    Args:
        model: The model.
        engine_kwargs: Arguments of `vllm serve` for all of them.
    """

    @contextlib.contextmanager
    def open_engine(engine: Engine) -> Iterator[Asker]:
        with ChatSSR(
            model=model,
            speculation=engine.speculation,
            engine_kwargs={**engine_kwargs, **engine.arguments()},
        ) as llm:
            llm.warmup()
            yield ChatAsker(llm, counts=not engine.speculation)

    return open_engine
