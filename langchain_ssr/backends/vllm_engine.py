"""A running vLLM: an event loop in a thread of its own, and vLLM's serving layer.

Requests pass through the `OpenAIServingChat` of `vllm serve`, without HTTP: it does
templates, parsing, grammars, logprobs and usage. vLLM runs its core in a process.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import json
import signal
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from langchain_core.exceptions import ModelError

from langchain_ssr import errors
from langchain_ssr.backends import heartbeat, launch
from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.neighbours import Presence
from langchain_ssr.backends.start_errors import LOOK_HERE, start_error
from langchain_ssr.backends.vllm_api import import_vllm, parse_request
from langchain_ssr.progress import Progress

T = TypeVar("T")
CLOSE_SECONDS = 20.0
"""Longest wait for an engine's end."""
SHUTDOWN_GRACE = 1.0
"""Seconds that vLLM gives its process to end by itself."""


class EmbeddedEngine:
    """A running vLLM engine. `start` makes one; `close` ends it."""

    def __init__(self, arguments: Mapping[str, Any], vllm: launch.VLLM) -> None:
        """Prepare an engine; nothing runs yet."""
        self._arguments = arguments
        self._vllm = vllm
        self._loop = asyncio.new_event_loop()
        self._engine: Any = None
        self._serving: Any = None
        self._presence: Presence | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._closed = False
        self._lock = threading.Lock()
        self.start_seconds = 0.0
        self._thread = threading.Thread(
            target=self._run_loop, name="ssr-engine-loop", daemon=True
        )

    @classmethod
    def start(cls, arguments: Mapping[str, Any], vllm: launch.VLLM) -> EmbeddedEngine:
        """Start an engine and wait until it takes requests.

        Args:
            arguments: Arguments of `vllm serve`.
            vllm: The installed vLLM.

        Raises:
            ModelLoadError: If the model cannot be found or loaded.
            EngineStartError: If vLLM cannot start for another reason.
            EngineNotInstalledError: If vLLM cannot be imported.
        """
        self = cls(arguments, vllm)
        self._presence = Presence(str(arguments["model"]))
        self._thread.start()
        title = f"langchain-ssr: starting vLLM for {arguments['served_model_name']}"
        try:
            with Progress(title) as progress:
                self._submit(self._start(progress)).result()
                self.start_seconds = progress.seconds
        except BaseException:
            self.close()
            raise
        return self

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run a coroutine on the engine's loop.

        Raises:
            EngineDiedError: If the engine is closed: nothing would run there.
        """
        with self._lock:
            if not self._closed:  # else `close` sees to it that this ends
                return self._submit(coroutine)
        coroutine.close()
        raise engine_died()

    def _submit(
        self, coroutine: Coroutine[Any, Any, T]
    ) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _start(self, progress: Progress) -> None:
        with launch.launch_environment(self._vllm.device):
            # The engine's process inherits this thread's mask: Ctrl-C in a terminal
            # ends the caller's request and leaves the engine running. The tracker
            # goes first, for its start resets the mask.
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            progress.phase("importing vLLM")
            api = import_vllm()
            progress.phase("loading the model")
            try:
                read = api.arguments
                args = read.parse(launch.to_flags(self._arguments))
                if launch.speculates(self._arguments) and read.is_hybrid(args):
                    self._arguments = launch.hybrid_arguments(
                        self._arguments, self._vllm.device
                    )
                    args = read.parse(launch.to_flags(self._arguments))
                self._engine = api.build(args)
                self._serving = await api.serve(self._engine, args)
                self._heartbeat = asyncio.create_task(heartbeat.watch(self._engine))
            except Exception as error:
                raise start_error(error, self._arguments["model"]) from error

    @property
    def alive(self) -> bool:
        """Whether the engine can take requests."""
        return not (self._closed or self._engine is None or self._engine.errored)

    async def complete(self, request: JSON) -> JSON:
        """Answer a request; runs on the engine's loop."""
        from vllm.entrypoints.serve.engine.protocol import ErrorResponse

        with self._typed_errors():
            parsed = parse_request(request)
            response = await self._serving.create_chat_completion(parsed)
        task = asyncio.current_task()
        if task and task.cancelling():  # vLLM answers a cancelled request, too
            raise asyncio.CancelledError
        if isinstance(response, ErrorResponse):
            raise self._error(response.error.model_dump())
        answer: JSON = response.model_dump(mode="json", exclude_none=True)
        return answer

    async def stream(self, request: JSON) -> AsyncGenerator[JSON]:
        """Answer a request in chunks; runs on the engine's loop."""
        from vllm.entrypoints.serve.engine.protocol import ErrorResponse

        with self._typed_errors():
            parsed = parse_request(request)
            response = await self._serving.create_chat_completion(parsed)
            if isinstance(response, ErrorResponse):
                raise self._error(response.error.model_dump())
            async with contextlib.aclosing(response) as events:
                async for event in events:
                    data = event.removeprefix("data: ").strip()
                    if data == "[DONE]":
                        return
                    chunk = json.loads(data)
                    if "error" in chunk:
                        if not self.alive:
                            raise engine_died()
                        raise self._error(chunk["error"])
                    yield chunk

    @contextlib.contextmanager
    def _typed_errors(self) -> Generator[None]:
        from vllm.entrypoints.serve.exception_handling.error_response import (
            create_error_response,
        )
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            yield
        except ModelError:
            raise
        except EngineDeadError as error:
            raise engine_died() from error
        except Exception as error:
            if not self.alive:
                raise engine_died() from error
            described = create_error_response(error).error.model_dump()
            raise self._error(described) from error

    def _error(self, error: Mapping[str, Any]) -> ModelError:
        config = self._engine.vllm_config.model_config
        return errors.from_wire(error, config.max_model_len)

    def info(self) -> dict[str, Any]:
        """Describe the engine; sizes in tokens and bytes."""
        config = self._engine.vllm_config
        cache = config.cache_config
        return {
            "model": self._arguments["served_model_name"],
            "path": self._arguments["model"],
            "vllm_version": self._vllm.version,
            "device": self._vllm.device,
            "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "max_model_len": config.model_config.max_model_len,
            "max_num_seqs": config.scheduler_config.max_num_seqs,
            "block_size": cache.block_size,
            "num_kv_blocks": cache.num_gpu_blocks,
            "kv_cache_bytes": cache.kv_cache_memory_bytes,
            "reasoning_parser": self._arguments.get("reasoning_parser"),
            "tool_call_parser": self._arguments.get("tool_call_parser"),
            "speculation": config.speculative_config is not None,
            "start_seconds": round(self.start_seconds, 1),
        }

    def num_unfinished_requests(self) -> int:
        """Return the number of requests that vLLM's front end still serves."""
        return int(self._engine.output_processor.get_num_unfinished_requests())

    def add_stat_logger(self, logger: Any) -> None:
        """Let a stat logger (vLLM's `StatLoggerBase`) hear of each step from now on."""
        self._engine.logger_manager.stat_loggers.append(logger)

    async def reset_prefix_cache(self) -> bool:
        """Empty the prefix cache; `False` if any cache block is in use."""
        return bool(await self._engine.reset_prefix_cache())

    def close(self) -> None:
        """End the engine's process and its loop; requests in flight fail.

        Ctrl-C ends the wait for it, and nothing is left half done.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        end = threading.Thread(target=self._end, name="ssr-engine-end")
        try:
            end.start()
        except RuntimeError:  # Python itself ends
            self._end()
        else:
            end.join()

    def _end(self) -> None:
        if self._presence is not None:
            self._presence.end()
        if self._engine is not None:
            with contextlib.suppress(concurrent.futures.TimeoutError, RuntimeError):
                self._submit(self._shutdown()).result(CLOSE_SECONDS)
            # Done. `__del__` calls it again, perhaps at exit, where it would fail.
            self._engine.shutdown = lambda: None
            self._engine = self._serving = None
            gc.collect()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)
        if not self._loop.is_running():
            self._loop.close()

    async def _shutdown(self) -> None:
        self._engine.shutdown(timeout=SHUTDOWN_GRACE)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()


def engine_died() -> errors.EngineDiedError:
    """Make the error for an engine that ended in mid-request."""
    return errors.EngineDiedError(
        "The vLLM engine ended while it served this request. The next call starts a "
        f"new one. If it happens again: {LOOK_HERE}"
    )
