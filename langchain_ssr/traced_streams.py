"""Streams whose runs have statistics, as those of whole answers do."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig

from langchain_ssr.tool_binder import ToolBinder
from langchain_ssr.tracing import StreamRun


class TracedStreams(ToolBinder):
    """A chat model whose `stream` and `astream` tell tracers what speculation did."""

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002 - the signature is LangChain's
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """Stream an answer, as LangChain does, with statistics on its run.

        Args:
            input: A conversation, a prompt or a text.
            config: As for any runnable.
            stop: Strings that end the answer.
            **kwargs: Settings of the call.

        Yields:
            Pieces of the answer; the last has usage and statistics.

        Example:
            ```python
            for chunk in llm.stream("Hi"):
                print(chunk.text, end="")
            ```
        """
        run = StreamRun(config, self.callbacks, CallbackManager)
        chunks = super().stream(input, run.config, stop=stop, **kwargs)
        with contextlib.closing(cast("Generator[AIMessageChunk]", chunks)) as pieces:
            for piece in pieces:
                run.add(piece)
                yield piece

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream an answer; see `stream`.

        Example:
            ```python
            async for chunk in llm.astream("Hi"):
                print(chunk.text, end="")
            ```
        """
        run = StreamRun(config, self.callbacks, AsyncCallbackManager)
        chunks = super().astream(input, run.config, stop=stop, **kwargs)
        pieces = cast("AsyncGenerator[AIMessageChunk]", chunks)
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                run.add(piece)
                yield piece
