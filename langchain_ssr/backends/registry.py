"""One engine for equal settings: a process-wide registry with reference counts.

Chat models hold no engine. They ask the registry for the one that fits their settings
at each call, so copies, pickles and per-call reconfigurations of a model cost nothing
and share it. An engine lives until nobody who used it is left open (`release`), or the
interpreter exits.
"""

from __future__ import annotations

import atexit
import gc
import threading
import weakref
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """An engine, as the registry sees it."""

    @property
    def alive(self) -> bool:
        """Whether it can take requests."""

    def close(self) -> None:
        """Stop it and free its memory."""


EngineT = TypeVar("EngineT", bound=Closable)


class _Entry(Generic[EngineT]):
    def __init__(self) -> None:
        self.future: Future[EngineT] = Future()
        self.future.set_running_or_notify_cancel()  # waiters cannot cancel it
        self.holders: weakref.WeakValueDictionary[int, Any] = (
            weakref.WeakValueDictionary()
        )


class EngineRegistry(Generic[EngineT]):
    """Starts engines once for each key, one at a time, and closes them."""

    def __init__(self) -> None:
        """Create an empty registry; it closes its engines at interpreter exit."""
        self._entries: dict[Hashable, _Entry[EngineT]] = {}
        self._lock = threading.Lock()
        self._start_lock = threading.Lock()
        self._exit_hook = False

    def acquire(
        self, key: Hashable, start: Callable[[], EngineT], holder: object
    ) -> Future[EngineT]:
        """Return the engine for `key`, started now if there is none alive.

        Args:
            key: Settings that make engines equal.
            start: Starts the engine. It runs in a thread of its own.
            holder: Who uses it; held weakly, counted until `release`.

        Returns:
            A future with the running engine, or the error of its start. It cannot be
            cancelled: others may wait for the same engine.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and _is_dead(entry.future):
                del self._entries[key]
                threading.Thread(
                    target=entry.future.result().close, daemon=True
                ).start()
                entry = None
            if entry is None:
                entry = self._entries[key] = _Entry()
                thread = threading.Thread(
                    target=self._start,
                    args=(key, entry, start),
                    name="ssr-engine-start",
                    daemon=True,
                )
                try:
                    thread.start()
                except BaseException:  # Ctrl-C: nobody would end the others' wait
                    del self._entries[key]
                    raise
            entry.holders[id(holder)] = holder
            return entry.future

    def _start(
        self, key: Hashable, entry: _Entry[EngineT], start: Callable[[], EngineT]
    ) -> None:
        try:
            with self._start_lock:  # two starts at once slow each other down
                engine = start()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self._forget(key, entry)
            entry.future.set_exception(error)
            return
        with self._lock:
            if not self._exit_hook:
                # After vLLM's import, so that it runs before vLLM's own exit hooks.
                atexit.register(self.close_all)
                self._exit_hook = True
            wanted = self._entries.get(key) is entry
            entry.future.set_result(engine)  # in one step, or `release` misses it
        if not wanted:  # closed while it started
            engine.close()

    def _forget(self, key: Hashable, entry: _Entry[EngineT]) -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]

    def peek(self, key: Hashable) -> EngineT | None:
        """Return the running engine for `key` without starting one."""
        with self._lock:
            entry = self._entries.get(key)
        if entry is None or not entry.future.done() or _is_dead(entry.future):
            return None
        return entry.future.result()

    def release(self, key: Hashable, holder: object) -> None:
        """Give up an engine; it is closed if nobody who used it is left.

        Args:
            key: Settings that make engines equal.
            holder: Who used it, by itself or through copies made for a call.
        """
        unused = None
        try:
            with self._lock:
                entry = self._entries.get(key)
                if entry is None:
                    return
                entry.holders.pop(id(holder), None)
                if entry.holders:
                    gc.collect()  # holders that are garbage already do not count
                if entry.holders:
                    return
                unused = self._entries.pop(key)
        finally:  # also on Ctrl-C, for nobody else knows it any more
            if unused is not None:
                _close(unused.future)

    def close_all(self) -> None:
        """Close every engine."""
        with self._lock:
            entries = list(self._entries.values())
            self._entries.clear()
        for entry in entries:
            _close(entry.future)


def _close(future: Future[Any]) -> None:
    if future.done() and future.exception() is None:
        future.result().close()


def _is_dead(future: Future[Any]) -> bool:
    return future.done() and not future.exception() and not future.result().alive
