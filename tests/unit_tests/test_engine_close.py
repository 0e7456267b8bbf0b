"""An engine ends whole: whoever comes too late is told, and Ctrl-C leaves nothing."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from langchain_ssr.backends.vllm_engine import EmbeddedEngine
from langchain_ssr.errors import EngineDiedError


@pytest.fixture
def sigint():
    """Ctrl-C interrupts, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def engine():
    engine = EmbeddedEngine({"model": "m"}, SimpleNamespace())
    engine._engine = SimpleNamespace(shutdown=lambda **_: None, errored=False)
    engine._thread.start()
    yield engine
    engine.close()


async def answer() -> str:
    return "yes"


async def never() -> None:
    await asyncio.Event().wait()


def test_a_call_after_the_end_is_refused_and_leaves_no_coroutine(engine):
    assert engine.submit(answer()).result(5) == "yes"
    engine.close()
    late = answer()
    with pytest.raises(EngineDiedError):
        engine.submit(late)
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED
    assert not engine.alive


def test_calls_that_meet_the_end_are_refused_or_cancelled(engine):
    """None waits for ever, and none gets an error of asyncio's."""
    told, go = [], threading.Event()

    def call() -> None:
        go.wait()
        while True:
            try:
                engine.submit(never()).result(10)
            except BaseException as error:  # noqa: BLE001 - it is looked at below
                told.append(type(error).__name__)
                if isinstance(error, EngineDiedError | TimeoutError | RuntimeError):
                    return

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    go.set()
    engine.close()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert set(told) <= {"CancelledError", "EngineDiedError"}
    assert told.count("EngineDiedError") == len(threads)


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_while_it_ends_leaves_nothing_half_done(engine):
    asked = threading.Event()

    def shutdown(timeout: float) -> None:
        asked.set()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.2)

    engine._engine.shutdown = shutdown
    with pytest.raises(KeyboardInterrupt):
        engine.close()
    assert asked.is_set()
    deadline = time.monotonic() + 10
    while not engine._loop.is_closed():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not engine._thread.is_alive()
    assert engine._engine is None
