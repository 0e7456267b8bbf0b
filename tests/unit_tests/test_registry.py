"""The registry of engines, with engines that only count."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from langchain_ssr.backends import registry as registry_module
from langchain_ssr.backends.registry import EngineRegistry

WAIT = 5.0


class Engine:
    def __init__(self) -> None:
        self.alive = True
        self.closed = threading.Event()

    def close(self) -> None:
        self.alive = False
        self.closed.set()


class Holder:
    pass


class Factory:
    """Starts engines and watches how many starts run at once."""

    def __init__(self, seconds: float = 0.0, gate: threading.Event | None = None):
        self.engines: list[Engine] = []
        self.running = self.most_at_once = 0
        self.entered = threading.Event()
        self._seconds, self._gate, self._lock = seconds, gate, threading.Lock()

    def __call__(self) -> Engine:
        with self._lock:
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
        self.entered.set()
        time.sleep(self._seconds)
        if self._gate:
            assert self._gate.wait(WAIT)
        engine = Engine()
        with self._lock:
            self.running -= 1
            self.engines.append(engine)
        return engine


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(registry_module.atexit, "register", lambda _: None)
    return EngineRegistry()


# --- start ---------------------------------------------------------------------------


@pytest.mark.kind(25)
def test_equal_key_starts_once_under_threads(registry):
    start, holder = Factory(0.05), Holder()
    barrier = threading.Barrier(8)

    def ask(_: int) -> Engine:
        barrier.wait(WAIT)
        return registry.acquire("key", start, holder).result(WAIT)

    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(ask, range(8)))
    assert len(start.engines) == 1
    assert all(engine is start.engines[0] for engine in engines)


def test_different_keys_start_one_after_the_other(registry):
    start, holder = Factory(0.02), Holder()
    futures = [registry.acquire(key, start, holder) for key in range(5)]
    engines = {id(future.result(WAIT)) for future in futures}
    assert len(engines) == 5
    assert start.most_at_once == 1


def test_running_engine_is_given_at_once(registry):
    start, holder = Factory(), Holder()
    engine = registry.acquire("key", start, holder).result(WAIT)
    again = registry.acquire("key", start, Holder())
    assert again.done()
    assert again.result() is engine


def test_failed_start_reaches_every_waiter_and_the_next_tries_again(registry):
    gate, holder = threading.Event(), Holder()
    error = RuntimeError("no memory")

    def fail() -> Engine:
        assert gate.wait(WAIT)
        raise error

    waiters = [registry.acquire("key", fail, holder) for _ in range(3)]
    gate.set()
    assert [waiter.exception(WAIT) for waiter in waiters] == [error] * 3
    engine = registry.acquire("key", Factory(), holder).result(WAIT)
    assert engine.alive


def test_failed_start_lets_the_next_key_start(registry):
    def fail() -> Engine:
        raise KeyboardInterrupt

    holder = Holder()
    failed = registry.acquire("bad", fail, holder)
    assert isinstance(failed.exception(WAIT), KeyboardInterrupt)
    assert registry.acquire("good", Factory(), holder).result(WAIT).alive


def test_waiting_cannot_be_cancelled_for_the_others(registry):
    gate = threading.Event()
    future = registry.acquire("key", Factory(gate=gate), Holder())
    assert not future.cancel()
    gate.set()
    assert future.result(WAIT).alive


def test_dead_engine_is_closed_and_replaced(registry):
    start, holder = Factory(), Holder()
    dead = registry.acquire("key", start, holder).result(WAIT)
    dead.alive = False
    engine = registry.acquire("key", start, holder).result(WAIT)
    assert engine is not dead
    assert engine.alive
    assert dead.closed.wait(WAIT)
    assert not engine.closed.is_set()


# --- release -------------------------------------------------------------------------


@pytest.mark.kind(25)
def test_last_holder_closes(registry):
    start, one, other = Factory(), Holder(), Holder()
    engine = registry.acquire("key", start, one).result(WAIT)
    registry.acquire("key", start, other)
    for _ in range(2):  # the second time it is a stranger
        registry.release("key", one)
        assert not engine.closed.is_set()
    registry.release("key", other)
    assert engine.closed.is_set()
    assert registry.peek("key") is None


def test_holder_that_asked_twice_counts_once(registry):
    start, holder = Factory(), Holder()
    engine = registry.acquire("key", start, holder).result(WAIT)
    registry.acquire("key", start, holder)
    registry.release("key", holder)
    assert engine.closed.is_set()


def test_stranger_releases_nothing(registry):
    holder = Holder()
    engine = registry.acquire("key", Factory(), holder).result(WAIT)
    registry.release("key", Holder())
    registry.release("other key", holder)
    assert not engine.closed.is_set()
    assert registry.peek("key") is engine


def test_engine_that_only_copies_used_is_closed(registry):
    """`configurable_fields` asks through a copy that is gone after the call."""
    engine = registry.acquire("key", Factory(), Holder()).result(WAIT)
    registry.release("key", Holder())
    assert engine.closed.is_set()


def test_holder_that_is_gone_is_not_counted(registry):
    start, gone, here = Factory(), Holder(), Holder()
    engine = registry.acquire("key", start, gone).result(WAIT)
    registry.acquire("key", start, here)
    gone.cycle = gone  # only the garbage collector frees it
    del gone
    registry.release("key", here)
    assert engine.closed.is_set()


@pytest.mark.kind(25)
def test_engine_starts_again_after_its_end(registry):
    start, holder = Factory(), Holder()
    first = registry.acquire("key", start, holder).result(WAIT)
    registry.release("key", holder)
    second = registry.acquire("key", start, holder).result(WAIT)
    assert second is not first
    assert second.alive


def test_release_during_the_start_closes_the_engine(registry):
    gate, holder = threading.Event(), Holder()
    start = Factory(gate=gate)
    future = registry.acquire("key", start, holder)
    assert start.entered.wait(WAIT)
    registry.release("key", holder)
    gate.set()
    assert future.result(WAIT).closed.wait(WAIT)


def test_release_at_the_very_end_of_the_start_closes_the_engine(registry, monkeypatch):
    holder, set_result = Holder(), Future.set_result

    def release_first(future: Future, engine: Engine) -> None:
        other = threading.Thread(target=registry.release, args=("key", holder))
        other.start()
        other.join(0.2)  # it may have to wait until the result is set
        set_result(future, engine)

    monkeypatch.setattr(Future, "set_result", release_first)
    engine = registry.acquire("key", Factory(), holder).result(WAIT)
    assert engine.closed.wait(1)


# --- the rest ------------------------------------------------------------------------


def test_close_all_closes_running_and_starting_engines(registry):
    gate, holder = threading.Event(), Holder()
    running = registry.acquire("running", Factory(), holder).result(WAIT)
    start = Factory(gate=gate)
    starting = registry.acquire("starting", start, holder)
    assert start.entered.wait(WAIT)
    registry.close_all()
    assert running.closed.is_set()
    gate.set()
    assert starting.result(WAIT).closed.wait(WAIT)


def test_engines_are_closed_at_exit_and_registered_once(monkeypatch):
    hooks = []
    monkeypatch.setattr(registry_module.atexit, "register", hooks.append)
    registry, holder = EngineRegistry(), Holder()
    for key in ("a", "b"):
        registry.acquire(key, Factory(), holder).result(WAIT)
    assert hooks == [registry.close_all]


def test_peek_starts_nothing_and_shows_only_what_runs(registry):
    gate, holder = threading.Event(), Holder()
    assert registry.peek("key") is None
    future = registry.acquire("key", Factory(gate=gate), holder)
    assert registry.peek("key") is None
    gate.set()
    engine = future.result(WAIT)
    assert registry.peek("key") is engine
    engine.alive = False
    assert registry.peek("key") is None
