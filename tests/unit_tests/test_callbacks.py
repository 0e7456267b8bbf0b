"""The callback handler: what counts, how often, and where; and its hooks."""

from __future__ import annotations

import logging
import threading

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.prompts import ChatPromptTemplate

from langchain_ssr import (
    ChatSSR,
    SpeculationCallbackHandler,
    SpeculationTotals,
    get_speculation_callback,
)
from tests.unit_tests.ssr_backend import DRAFTS, SSRBackend, use
from tests.unit_tests.test_totals import message, stats

PROMPT = ChatPromptTemplate.from_messages([("user", "{text}")])


@pytest.fixture
def backend(monkeypatch) -> SSRBackend:
    return use(monkeypatch)


@pytest.fixture
def llm(backend) -> ChatSSR:
    return ChatSSR(model="smollm2")


def totals(*numbers: int) -> SpeculationTotals:
    """What the backend's responses with these numbers add up to."""
    return SpeculationTotals().plus(stats(number) for number in numbers)


async def ask(llm, how: str):
    """Call a model in one of the four ways; return its message."""
    if how == "invoke":
        return llm.invoke("hi")
    if how == "ainvoke":
        return await llm.ainvoke("hi")
    chunks = (
        list(llm.stream("hi"))
        if how == "stream"
        else [chunk async for chunk in llm.astream("hi")]
    )
    return sum(chunks[1:], chunks[0])


WAYS = ["invoke", "ainvoke", "stream", "astream"]


# --- what counts ------------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_a_call_counts_once_whether_by_context_or_config(llm, how):
    by_config = SpeculationCallbackHandler()
    with get_speculation_callback() as by_context:
        await ask(llm.with_config(callbacks=[by_config, by_context]), how)
    assert by_config.total == by_context.total == totals(0)


@pytest.mark.parametrize("how", WAYS)
async def test_the_total_is_the_sum_of_the_messages(llm, how):
    with get_speculation_callback() as callback:
        messages = [await ask(llm, how) for _ in range(3)]
    assert callback.total == SpeculationTotals.of_messages(messages) == totals(0, 1, 2)


async def test_event_streams_count(llm):
    with get_speculation_callback() as callback:
        _ = llm.stream_events("hi", version="v3").output
        assert callback.total == totals(0)
        await (await llm.astream_events("hi", version="v3"))
        assert callback.total == totals(0, 1)
        async for _ in llm.astream_events("hi", version="v2"):
            pass
    assert callback.total == totals(0, 1, 2)


def test_models_are_told_apart(backend):
    with get_speculation_callback() as callback:
        for name in ("smollm2", "Qwen3-4B", "smollm2"):
            ChatSSR(model=name).invoke("hi")
    assert callback.by_model == {"smollm2": totals(0, 2), "Qwen3-4B": totals(1)}
    assert callback.total == totals(0, 1, 2)
    assert str(totals(0, 1, 2)) in repr(callback)


def test_several_choices_are_one_response(llm):
    with get_speculation_callback() as callback:
        result = llm.generate([[HumanMessage("hi")]], n=3)
    assert len(result.generations[0]) == 3
    assert callback.total == totals(0)


async def test_every_prompt_of_a_call_counts(llm):
    prompts = [[HumanMessage(text)] for text in "abc"]
    with get_speculation_callback() as callback:
        llm.generate(prompts)
        assert callback.total == totals(0, 1, 2)
        await llm.agenerate(prompts)
    assert callback.total == totals(*range(6))


def test_every_generation_of_a_result_counts():
    pairs = [[message(0), message(0)], [message(0)], [message(1), message(2)], []]
    result = LLMResult(
        generations=[[ChatGeneration(message=m) for m in pair] for pair in pairs]
    )
    callback = SpeculationCallbackHandler()
    callback.on_llm_end(result)
    assert callback.total == totals(0, 0, 1, 2)


async def test_cache_hits_do_not_count(backend):
    llm = ChatSSR(model="smollm2", cache=InMemoryCache())
    verified = []
    with get_speculation_callback(on_verify=verified.append) as callback:
        first = llm.invoke("hi")
        hit = llm.invoke("hi")
        await llm.ainvoke("hi")
    assert len(backend.requests) == 1
    told = [m.response_metadata["speculation"] for m in (first, hit)]
    assert told[0] == told[1]
    assert callback.total == totals(0)
    assert verified == [stats(0)]


async def test_a_failed_call_counts_nothing_and_the_next_one_does(llm, monkeypatch):
    def fail(self, request):
        raise OSError

    with get_speculation_callback() as callback:
        with monkeypatch.context() as broken:
            broken.setattr(SSRBackend, "complete", fail)
            broken.setattr(SSRBackend, "_chunks", fail)
            for how in WAYS:
                with pytest.raises(OSError):
                    await ask(llm, how)
        llm.invoke("hi")
    assert callback.total == totals(0)


async def test_a_stream_that_is_left_counts_nothing(llm, backend):
    with get_speculation_callback(on_draft=lambda _: None) as callback:
        for _ in llm.stream("hi"):
            break
        stream = llm.astream("hi")
        await anext(stream)
        await stream.aclose()
    assert backend.open_streams == 0
    assert callback.total == SpeculationTotals()


def test_a_stream_counts_where_it_began(llm):
    with get_speculation_callback() as callback:
        stream = llm.stream("hi")
        next(stream)
    list(stream)
    assert callback.total == totals(0)


def test_models_of_others_are_ignored():
    from langchain_core.language_models import FakeListChatModel

    with get_speculation_callback() as callback:
        FakeListChatModel(responses=["hi"]).invoke("hi")
    assert callback.total == SpeculationTotals()


# --- hooks ------------------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_hooks_are_called_in_order(llm, how):
    seen = []
    with get_speculation_callback(on_draft=seen.append, on_verify=seen.append):
        await ask(llm, how)
    assert seen == [*DRAFTS, stats(0)]


def test_hooks_of_both_contexts_are_called(llm):
    outer, inner = [], []
    with get_speculation_callback(on_draft=outer.append, on_verify=outer.append):
        with get_speculation_callback(on_draft=inner.append, on_verify=inner.append):
            llm.invoke("hi")
        llm.invoke("hi")
    assert inner == [*DRAFTS, stats(0)]
    assert outer == [*DRAFTS, stats(0), *DRAFTS, stats(1)]


@pytest.mark.parametrize("how", WAYS)
async def test_a_hook_that_raises_harms_nothing(llm, how, caplog):
    calls = []

    def broken(news):
        calls.append(news)
        raise RuntimeError("mine")

    with get_speculation_callback(on_draft=broken, on_verify=broken) as callback:
        first = await ask(llm, how)
        await ask(llm, how)
    assert first.text == "Hello"
    assert calls == [DRAFTS[0], stats(0)]
    assert callback.total == totals(0, 1)
    warnings = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert [r.message.split()[0] for r in warnings] == ["on_draft", "on_verify"]


def test_a_hook_may_call_the_model(llm):
    texts = []

    def once(draft):
        if not texts:
            texts.append(draft.text)
            texts.append(llm.invoke("hi").text)

    with get_speculation_callback(on_draft=once) as callback:
        llm.invoke("hi")
    assert texts == ["He", "Hello"]
    assert callback.total == totals(0, 1)


@pytest.mark.parametrize("how", WAYS)
async def test_hooks_run_where_the_model_is_called(llm, how):
    threads = set()

    def hook(news):
        threads.add(threading.get_ident())

    with get_speculation_callback(on_draft=hook, on_verify=hook):
        await ask(llm, how)
    assert threads == {threading.get_ident()}


def test_asynchronous_hooks_are_refused():
    async def hook(news):
        """Never called."""

    with pytest.raises(TypeError, match="hook is asynchronous"):
        SpeculationCallbackHandler(on_verify=hook)
