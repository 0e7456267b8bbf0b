"""The embedded backend beside an engine that ends while it is asked."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import EmbeddedBackend
from langchain_ssr.errors import EngineDiedError


class FakeEngine:
    """An engine's loop in a thread. It never answers, and ends as vLLM's does."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.asked = threading.Event()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def submit(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    async def complete(self, request):
        self.asked.set()
        await asyncio.Event().wait()

    async def end(self):
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()


@pytest.fixture
def engine(monkeypatch):
    engine = FakeEngine()
    future = concurrent.futures.Future()
    future.set_result(engine)
    monkeypatch.setattr(EmbeddedBackend, "_acquire", lambda _: future)
    yield engine
    engine.loop.call_soon_threadsafe(engine.loop.stop)
    engine.thread.join(5)


async def begin(engine):
    task = asyncio.create_task(ChatSSR(model="demo").ainvoke("hi"))
    await asyncio.to_thread(engine.asked.wait, 5)
    return task


async def test_an_engine_that_is_closed_meanwhile_is_an_engine_that_died(engine):
    task = await begin(engine)
    engine.submit(engine.end()).result(5)
    with pytest.raises(EngineDiedError):
        await task


async def test_who_is_cancelled_is_cancelled(engine):
    task = await begin(engine)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
