"""Engines start once, end cleanly, and come back after an accident."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import REGISTRY
from langchain_ssr.backends.vllm_engine import EmbeddedEngine
from langchain_ssr.errors import (
    EngineDiedError,
    EngineStartError,
    ModelLoadError,
    SettingsError,
)
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import assert_served_none, num_requests

pytestmark = pytest.mark.engine

QUIET_SECONDS = 20


def running(llm: ChatSSR) -> EmbeddedEngine:
    engine = llm._embedded.running()
    assert engine is not None
    return engine


def server_of(llm: ChatSSR) -> str | None:
    """Return the root of a model's server; None for an engine in this process."""
    return llm.base_url and llm.base_url.removesuffix("/v1")


def engine_of_model(llm: ChatSSR) -> object:
    """Return what answers: the engine of this process, or a server by its address."""
    return server_of(llm) or running(llm)


def assert_one_engine(llm: ChatSSR) -> None:
    """No engine was started in this process beside the one that answers."""
    assert len(REGISTRY._entries) == (0 if llm.base_url else 1)


def num_served(llm: ChatSSR) -> int:
    """Return how many requests the model's engine serves."""
    if url := server_of(llm):
        return num_requests(url)
    return running(llm).num_unfinished_requests()


def engine_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if _is_engine(child)]


def _is_engine(process: psutil.Process) -> bool:
    try:
        return "EngineCore" in process.name()
    except psutil.NoSuchProcess:  # it has ended since
        return False


def assert_idle(llm: ChatSSR) -> None:
    """No request is left, and no cache block is in use."""
    if url := server_of(llm):
        assert_served_none(url, QUIET_SECONDS)
        return
    engine = running(llm)
    deadline = time.monotonic() + QUIET_SECONDS
    while engine.num_unfinished_requests() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert engine.num_unfinished_requests() == 0
    while not engine.submit(engine.reset_prefix_cache()).result(QUIET_SECONDS):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.embedded
def test_engine_info_describes_the_engine(tiny: ChatSSR) -> None:
    info = tiny.engine_info()
    assert info["max_model_len"] == 2048
    assert info["dtype"] == "float32"
    assert info["device"] == "cpu"
    assert info["reasoning_parser"] == "qwen3"
    assert info["tool_call_parser"] == "hermes"
    assert info["num_kv_blocks"] > 100
    assert info["speculation"] is True


@pytest.mark.kind(22)
@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_leaving_a_stream_early_ends_the_request(tiny: ChatSSR, chunks: int) -> None:
    stream = tiny.stream("hello", max_tokens=1500)
    for _ in range(chunks):
        next(stream)
    stream.close()
    assert_idle(tiny)


@pytest.mark.kind(22)
@pytest.mark.parametrize("chunks", [1, 2, 5])
async def test_cancelling_a_task_ends_the_request(tiny: ChatSSR, chunks: int) -> None:
    seen = asyncio.Event()

    async def read() -> None:
        count = 0
        async for _ in tiny.astream("hello", max_tokens=1500):
            count += 1
            if count == chunks:
                seen.set()

    task = asyncio.create_task(read())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(assert_idle, tiny)


@pytest.mark.kind(22)
async def test_cancelling_ainvoke_ends_the_request(tiny: ChatSSR) -> None:
    long = {"max_tokens": 1900, "extra_body": {"ignore_eos": True}}
    task = asyncio.create_task(tiny.ainvoke("hello", speculation=False, **long))
    while not await asyncio.to_thread(num_served, tiny):
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(assert_idle, tiny)


@pytest.mark.kind(22)
def test_cancelled_requests_leave_no_draft_behind(tiny: ChatSSR) -> None:
    settings = {
        "enable_thinking": True,
        "draft_budget": 8,
        "num_speculative_tokens": 1,  # many chunks
        "max_tokens": 1500,
        "thinking_budget": 1000,
        "extra_body": {"ignore_eos": True},
    }

    async def leave(after: int) -> None:
        stream = tiny.astream("hello there", **settings)
        for _ in range(after):
            await anext(stream)
        await stream.aclose()

    async def leave_all() -> None:
        await asyncio.gather(*(leave(after) for after in (1, 5, 12, 25, 40, 60)))

    asyncio.run(leave_all())
    assert_idle(tiny)


@pytest.mark.embedded
def test_a_killed_engine_is_reported_and_replaced(pool: EnginePool) -> None:
    llm = pool.model("qwen3")
    before = running(llm)
    stream = llm.stream("hello", max_tokens=1500)
    next(stream)
    for process in engine_processes():
        os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(EngineDiedError) as caught:
        for _ in stream:
            pass
    assert caught.value.is_retryable
    assert llm.invoke("hello").usage_metadata["output_tokens"] == 24
    assert running(llm) is not before
    assert_idle(llm)


@pytest.mark.kind(25)
def test_a_closed_model_leaves_the_others_their_engine(tiny: ChatSSR) -> None:
    first, second = tiny.model_copy(), tiny.model_copy()
    said = first.invoke("hi")
    engine = engine_of_model(second)
    stream = second.stream("hi")
    next(stream)
    first.close()
    assert next(stream) is not None
    stream.close()
    again = second.invoke("hi")
    assert again.additional_kwargs == said.additional_kwargs
    assert again.content == said.content
    assert engine_of_model(second) == engine
    assert_one_engine(second)
    assert_idle(second)


@pytest.mark.embedded
@pytest.mark.kind(25)
def test_close_frees_the_engine_once_nobody_uses_it(pool: EnginePool) -> None:
    first = pool.model("qwen3")
    second = first.model_copy()
    first.invoke("hi", max_tokens=1)
    second.invoke("hi", max_tokens=1)
    engine = running(first)
    second.close()
    assert engine.alive
    assert_idle(first)
    first.close()
    pool._running.close()
    assert not engine.alive
    assert not engine_processes()


@pytest.mark.embedded
@pytest.mark.kind(25)
async def test_the_engine_ends_with_the_outermost_context(pool: EnginePool) -> None:
    pool.close()
    settings = pool.settings("qwen3")
    with ChatSSR(**settings) as outer:
        first = await outer.ainvoke("hi", max_tokens=1)
        engine = running(outer)
        async with ChatSSR(**settings) as inner:
            again = await inner.ainvoke("hi", max_tokens=1)
            assert running(inner) is engine
        assert again.content == first.content
        assert engine.alive
        assert engine_processes()
        stream = outer.stream("hi", max_tokens=1500, extra_body={"ignore_eos": True})
        next(stream)
    assert not engine.alive
    assert not engine_processes()
    with pytest.raises(EngineDiedError):  # and not for ever without a word
        list(stream)


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"model": "./no/such/folder"}, ModelLoadError, "no model"),
        ({"model": "smolm2"}, ModelLoadError, "smollm2"),
        (
            {"model": "smollm2", "engine_kwargs": {"max_model_length": 5}},
            SettingsError,
            "max-model-length",
        ),
        (
            {"model": "smollm2", "engine_kwargs": {"max_model_len": 10**9}},
            EngineStartError,
            "8192",
        ),
    ],
    ids=["folder", "name", "engine argument", "context"],
)
def test_what_cannot_start_says_why(
    settings: dict, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ChatSSR(**settings).invoke("hi")
    assert not REGISTRY._entries


@pytest.mark.embedded
def test_a_truncated_model_says_so(tmp_path: Path) -> None:
    whole = tiny_models.make(tmp_path / "whole", "qwen3")
    broken = tiny_models.corrupt(whole, tmp_path / "broken")
    with pytest.raises(ModelLoadError, match="truncated"):
        ChatSSR(model=str(broken)).invoke("hi")
