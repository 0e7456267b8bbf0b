"""The backend that answers from an engine in this process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import queue
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import Any

from langchain_ssr import errors, models
from langchain_ssr.backends import launch
from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.hub import check_hub
from langchain_ssr.backends.registry import EngineRegistry
from langchain_ssr.backends.vllm_engine import EmbeddedEngine, engine_died

REGISTRY: EngineRegistry[EmbeddedEngine] = EngineRegistry()


class EmbeddedBackend:
    """Answers on the engine of this process that fits the settings.

    Args:
        model: The user's name of the model.
        engine_kwargs: The user's engine arguments.
        timeout: Seconds to wait for an answer or for a stream's next chunk.
        holder: The chat model that asks; counted as a user of the engine.
        num_speculative_tokens: Most proposed tokens in a step; `None` for a plain
            engine.
    """

    def __init__(
        self,
        model: str,
        engine_kwargs: Mapping[str, Any],
        timeout: float | None,
        holder: object,
        num_speculative_tokens: int | None = None,
    ) -> None:
        """Create a handle; the engine starts with the first request."""
        self._model = model
        self._engine_kwargs = engine_kwargs
        self._timeout = timeout
        self._holder = holder
        self._num_speculative_tokens = num_speculative_tokens

    @property
    def key(self) -> str:
        """Settings that make engines equal."""
        settings = [self._model, self._engine_kwargs, self._num_speculative_tokens]
        return json.dumps(settings, sort_keys=True)

    def _acquire(self) -> concurrent.futures.Future[EmbeddedEngine]:
        def start() -> EmbeddedEngine:
            vllm = launch.installed_vllm()
            spec = models.resolve(self._model)
            if spec.is_on_hub:
                check_hub(spec.path, self._engine_kwargs.get("revision"))
            arguments = launch.engine_arguments(
                spec,
                self._model,
                self._engine_kwargs,
                vllm.device,
                self._num_speculative_tokens,
            )
            return EmbeddedEngine.start(arguments, vllm)

        return REGISTRY.acquire(self.key, start, self._holder)

    def engine(self) -> EmbeddedEngine:
        """Return the running engine, started if need be."""
        return self._acquire().result()

    async def aengine(self) -> EmbeddedEngine:
        """Return the running engine, started if need be."""
        return await asyncio.wrap_future(self._acquire())

    def running(self) -> EmbeddedEngine | None:
        """Return the engine if it runs already."""
        return REGISTRY.peek(self.key)

    def close(self) -> None:
        """Give the engine up; it ends when no other chat model uses it."""
        REGISTRY.release(self.key, self._holder)

    def complete(self, request: JSON) -> JSON:
        """Return the whole response."""
        engine = self.engine()
        future = engine.submit(engine.complete(request))
        try:
            return future.result(self._timeout)
        except concurrent.futures.CancelledError:
            raise engine_died() from None
        except concurrent.futures.TimeoutError:
            raise self._too_late() from None
        finally:
            future.cancel()  # Ctrl-C or time-out: the request ends

    async def acomplete(self, request: JSON) -> JSON:
        """Return the whole response."""
        engine = await self.aengine()
        future = asyncio.wrap_future(engine.submit(engine.complete(request)))
        try:
            return await asyncio.wait_for(future, self._timeout)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            raise engine_died() from None
        except TimeoutError:
            raise self._too_late() from None

    def stream(self, request: JSON) -> Generator[JSON]:
        """Yield the response's chunks."""
        engine = self.engine()
        chunks: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        pump = engine.submit(_pump(engine.stream(request), chunks.put))
        try:
            while True:
                try:
                    item = chunks.get(timeout=self._timeout)
                except queue.Empty:
                    raise self._too_late() from None
                if item is None:
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            pump.cancel()

    async def astream(self, request: JSON) -> AsyncGenerator[JSON]:
        """Yield the response's chunks."""
        engine = await self.aengine()
        chunks: asyncio.Queue[_Item] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(item: _Item) -> None:
            with contextlib.suppress(RuntimeError):  # the caller's loop has ended
                loop.call_soon_threadsafe(chunks.put_nowait, item)

        pump = engine.submit(_pump(engine.stream(request), put))
        try:
            while True:
                try:
                    item = await asyncio.wait_for(chunks.get(), self._timeout)
                except TimeoutError:
                    raise self._too_late() from None
                if item is None:
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            pump.cancel()

    def _too_late(self) -> errors.RequestTimeoutError:
        return errors.RequestTimeoutError(
            f"No output within timeout={self._timeout} seconds; the request was ended"
        )


_Item = JSON | BaseException | None
"""A chunk, the error that ended the stream, or `None` for its end."""


async def _pump(stream: AsyncGenerator[JSON], put: Callable[[_Item], None]) -> None:
    """Hand a stream's chunks to another thread; always tells its end."""
    try:
        async with contextlib.aclosing(stream):
            async for chunk in stream:
                put(chunk)
    except asyncio.CancelledError:
        put(engine_died())
        raise
    except BaseException as error:  # noqa: BLE001 - the reader raises it
        put(error)
    else:
        put(None)
