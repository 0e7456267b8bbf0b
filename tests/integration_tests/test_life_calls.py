"""However a call is made, and however it ends, it leaves nothing in the engine."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import time
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import ConfigurableField

from langchain_ssr import ChatSSR
from tests.integration_tests.test_life import (
    QUIET_SECONDS,
    assert_idle,
    assert_one_engine,
    engine_of_model,
    num_served,
)

pytestmark = pytest.mark.engine

PROMPT = "hello there"
LONG: dict[str, Any] = {
    "enable_thinking": True,
    "draft_budget": 8,
    "num_speculative_tokens": 1,  # many chunks
    "max_tokens": 1500,
    "thinking_budget": 1000,
    "extra_body": {"ignore_eos": True},
}


# --- loops and threads ----------------------------------------------------------------


def said(message: AIMessage) -> str:
    """All that a model wrote; there is some, or comparing it would mean nothing."""
    text = message.additional_kwargs.get("reasoning_content", "") + message.text
    assert text
    return text


def streamed(llm: ChatSSR, prompt: str) -> str:
    return said(reduce(add, llm.stream(prompt)))


@pytest.mark.kind(21)
def test_two_event_loops_one_after_the_other(tiny: ChatSSR) -> None:
    async def ask() -> tuple[str, str]:
        parts = [part async for part in tiny.astream(PROMPT)]
        return said(await tiny.ainvoke(PROMPT)), said(reduce(add, parts))

    first, second = asyncio.run(ask()), asyncio.run(ask())
    assert first == second
    assert first[0] == first[1]
    assert_idle(tiny)


@pytest.mark.kind(21)
def test_threads_of_every_kind_at_once(tiny: ChatSSR) -> None:
    answers: dict[int, str] = {}
    expected = said(tiny.invoke(PROMPT))
    ways: tuple[Callable[[], str], ...] = (
        lambda: said(tiny.invoke(PROMPT)),
        lambda: streamed(tiny, PROMPT),
        lambda: said(asyncio.run(tiny.ainvoke(PROMPT))),
        lambda: said(tiny.batch([PROMPT] * 2)[1]),
    )

    def ask(number: int) -> None:
        answers[number] = ways[number % len(ways)]()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == dict.fromkeys(range(8), expected)
    assert_idle(tiny)


# --- batches --------------------------------------------------------------------------


async def batch(llm: ChatSSR, prompts: list[str]) -> list[AIMessage]:
    return await asyncio.to_thread(llm.batch, prompts)


async def abatch(llm: ChatSSR, prompts: list[str]) -> list[AIMessage]:
    return await llm.abatch(prompts)


@pytest.mark.kind(24)
@pytest.mark.parametrize("way", [batch, abatch])
async def test_a_batch_of_32_keeps_the_order_on_one_engine(
    tiny: ChatSSR, way: Callable[..., Any]
) -> None:
    engine = engine_of_model(tiny)
    answers = await way(tiny, ["x" * (1 + number) for number in range(32)])
    lengths = [answer.usage_metadata["input_tokens"] for answer in answers]
    assert lengths == list(range(lengths[0], lengths[0] + 32))
    assert all(map(said, answers))
    assert_one_engine(tiny)
    assert engine_of_model(tiny) == engine
    await asyncio.to_thread(assert_idle, tiny)


def wait_until_served(llm: ChatSSR, requests: int) -> None:
    deadline = time.monotonic() + QUIET_SECONDS
    while num_served(llm) < requests:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.kind(22)
async def test_a_batch_that_is_cancelled_ends_every_request(tiny: ChatSSR) -> None:
    task = asyncio.create_task(tiny.abatch([PROMPT] * 8, **LONG))
    await asyncio.to_thread(wait_until_served, tiny, 8)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(assert_idle, tiny)


# --- calls that end early -------------------------------------------------------------


@pytest.mark.kind(22)
@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_leaving_a_loop_over_a_stream_ends_the_request(
    tiny: ChatSSR, chunks: int
) -> None:
    for number, _ in enumerate(tiny.stream(PROMPT, **LONG), 1):
        if number == chunks:
            break
    assert_idle(tiny)


@pytest.mark.kind(22)
@pytest.mark.parametrize("chunks", [1, 2, 5])
async def test_leaving_a_loop_over_an_asynchronous_stream_ends_the_request(
    tiny: ChatSSR, chunks: int
) -> None:
    number = 0
    async for _ in tiny.astream(PROMPT, **LONG):
        number += 1
        if number == chunks:
            break
    await asyncio.to_thread(assert_idle, tiny)


@pytest.mark.kind(22)
def test_an_error_in_a_loop_over_a_stream_ends_the_request(tiny: ChatSSR) -> None:
    def fail() -> None:
        for _ in tiny.stream(PROMPT, **LONG):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert_idle(tiny)


def test_a_stream_that_is_never_read_starts_nothing(tiny: ChatSSR) -> None:
    stream = tiny.stream(PROMPT, **LONG)
    assert num_served(tiny) == 0
    del stream
    assert_idle(tiny)


@pytest.mark.kind(22)
async def test_waiting_no_longer_ends_the_request(tiny: ChatSSR) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(tiny.ainvoke(PROMPT, **LONG), 0.5)
    await asyncio.to_thread(assert_idle, tiny)


# --- copies ---------------------------------------------------------------------------


def deep_copy(llm: ChatSSR) -> ChatSSR:
    return copy.deepcopy(llm)


def unpickled(llm: ChatSSR) -> ChatSSR:
    return pickle.loads(pickle.dumps(llm))  # noqa: S301


def model_copy(llm: ChatSSR) -> ChatSSR:
    return llm.model_copy(update={"max_tokens": 3})


def configured(llm: ChatSSR) -> Any:
    fields = llm.configurable_fields(max_tokens=ConfigurableField(id="max_tokens"))
    return fields.with_config(configurable={"max_tokens": 3})


@pytest.mark.kind(26)
@pytest.mark.parametrize("make", [deep_copy, unpickled, model_copy, configured])
def test_a_copy_shares_the_engine_also_in_mid_stream(
    tiny: ChatSSR, make: Callable[[ChatSSR], Any]
) -> None:
    engine = engine_of_model(tiny)
    stream = tiny.stream(PROMPT, **LONG)
    next(stream)
    answer = make(tiny).invoke(PROMPT)
    limit = 3 if make in (model_copy, configured) else tiny.max_tokens
    assert answer.usage_metadata["output_tokens"] == limit
    assert next(stream) is not None
    stream.close()
    assert engine_of_model(tiny) == engine
    assert_one_engine(tiny)
    assert_idle(tiny)
