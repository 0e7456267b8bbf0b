"""Where a speculation callback counts: contexts, runs, threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import pickle
import threading

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers import context

from langchain_ssr import (
    ChatSSR,
    SpeculationCallbackHandler,
    SpeculationTotals,
    get_speculation_callback,
)
from tests.unit_tests.ssr_backend import SSRBackend, use
from tests.unit_tests.test_callbacks import PROMPT, WAYS, ask, totals


@pytest.fixture
def backend(monkeypatch) -> SSRBackend:
    return use(monkeypatch)


@pytest.fixture
def llm(backend) -> ChatSSR:
    return ChatSSR(model="smollm2")


def test_nothing_counts_before_and_after_the_context(llm):
    llm.invoke("hi")
    with get_speculation_callback() as callback:
        llm.invoke("hi")
    llm.invoke("hi")
    assert callback.total == totals(1)


def test_the_context_ends_with_an_error(llm):
    with pytest.raises(OSError), get_speculation_callback() as callback:
        raise OSError
    llm.invoke("hi")
    assert callback.total == SpeculationTotals()


def test_the_hook_list_of_core_does_not_grow(llm):
    before = len(context._configure_hooks)
    for _ in range(3):
        with get_speculation_callback():
            llm.invoke("hi")
    assert len(context._configure_hooks) == before


def test_an_outer_context_counts_what_an_inner_one_counts(llm):
    with get_speculation_callback() as outer:
        llm.invoke("hi")
        with get_speculation_callback() as inner:
            llm.invoke("hi")
        llm.invoke("hi")
    assert inner.total == totals(1)
    assert outer.total == totals(0, 1, 2)


@pytest.mark.parametrize("how", WAYS)
async def test_a_context_inside_a_step_of_a_chain(llm, how):
    """The outer handler hears of the call from the chain and from the inner one."""
    inner = []

    async def step(text):
        with get_speculation_callback() as callback:
            await ask(llm, how)
        inner.append(callback.total)

    with get_speculation_callback() as outer:
        await (RunnableLambda(lambda x: x) | step).ainvoke("hi")
    assert inner == [totals(0)]
    assert outer.total == totals(0)


def test_a_run_carries_the_handler_into_threads_without_a_context(llm):
    def step(text, config):
        thread = threading.Thread(target=llm.invoke, args=(text, config))
        thread.start()
        thread.join()

    with get_speculation_callback() as callback:
        RunnableLambda(step).invoke("hi")
    assert callback.total == totals(0)


async def test_chains_and_batches(llm):
    chain = PROMPT | llm
    with get_speculation_callback() as callback:
        chain.invoke({"text": "a"})
        chain.batch([{"text": "a"}] * 5)
        await chain.abatch([{"text": "a"}] * 5)
    assert callback.total == totals(*range(11))


def test_threads_that_share_a_handler(llm):
    callback = SpeculationCallbackHandler()
    config = {"callbacks": [callback]}

    def work():
        for _ in range(10):
            llm.invoke("hi", config=config)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert callback.total == totals(*range(80))


def test_threads_have_contexts_of_their_own(llm):
    counted = {}
    barrier = threading.Barrier(4)

    def work(number):
        with get_speculation_callback() as mine:
            barrier.wait()
            for _ in range(number):
                llm.invoke("hi")
            barrier.wait()
        counted[number] = mine.total.num_responses

    with get_speculation_callback() as outer:
        copies = [contextvars.copy_context() for _ in range(4)]
        threads = [
            threading.Thread(target=copy.run, args=(work, number))
            for number, copy in enumerate(copies)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counted == {0: 0, 1: 1, 2: 2, 3: 3}
    assert outer.total == totals(*range(6))


async def test_tasks_have_contexts_of_their_own(llm):
    async def work(number):
        with get_speculation_callback() as mine:
            await asyncio.gather(*[llm.ainvoke("hi") for _ in range(number)])
            await asyncio.sleep(0)
            async for _ in llm.astream("hi"):
                await asyncio.sleep(0)
        return mine.total.num_responses

    with get_speculation_callback() as outer:
        assert await asyncio.gather(*[work(n) for n in range(4)]) == [1, 2, 3, 4]
    assert outer.total == totals(*range(10))


# --- leaving -------------------------------------------------------------------------


def test_a_generator_that_is_left_early_closes_its_context(llm):
    """It is closed in another context than it ran in, and nobody hears an error."""
    found = []

    async def answers():
        with get_speculation_callback() as callback:
            while True:
                yield await llm.ainvoke("hi")
                found.append(callback.total)

    async def leave():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, details: found.append(details))
        async for _ in answers():
            break
        await loop.shutdown_asyncgens()

    asyncio.run(leave())
    assert found == []


def test_a_handler_can_be_copied_and_counts_on(llm):
    handler = SpeculationCallbackHandler()
    llm.invoke("hi", config={"callbacks": [handler]})
    others = (pickle.loads(pickle.dumps(handler)), copy.deepcopy(handler))  # noqa: S301
    for number, other in enumerate(others, 1):
        assert other.total == totals(0)
        llm.invoke("hi", config={"callbacks": [other]})
        assert other.total == totals(0, number)
    assert handler.total == totals(0)
