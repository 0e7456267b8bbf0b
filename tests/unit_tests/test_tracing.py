"""What LangSmith gets to see, with its tracer and without its network."""

from __future__ import annotations

from unittest.mock import MagicMock
from uuid import uuid4

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForLLMRun
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers import LangChainTracer
from langsmith import Client, RunTree, traceable, tracing_context

from langchain_ssr import ChatSSR, SpeculationStats, get_speculation_callback, tracing
from langchain_ssr.settings import CallSettings
from langchain_ssr.tracing import (
    results_metadata,
    settings_metadata,
    trace_results,
    trace_stream_results,
)
from tests.unit_tests.ssr_backend import SSRBackend, use
from tests.unit_tests.test_callbacks import WAYS, ask
from tests.unit_tests.test_totals import message, stats


@pytest.fixture
def backend(monkeypatch) -> SSRBackend:
    return use(monkeypatch)


@pytest.fixture
def llm(backend) -> ChatSSR:
    return ChatSSR(model="smollm2")


@pytest.fixture
def client() -> MagicMock:
    return MagicMock(spec=Client)


def runs(client: MagicMock) -> list[dict]:
    """The metadata of the model's runs, in the order of their ends."""
    ended = [call.kwargs for call in client.update_run.call_args_list]
    return [run["extra"]["metadata"] for run in ended if run["name"] == "ChatSSR"]


def results(client: MagicMock) -> list[dict]:
    known = results_metadata(stats(1))
    return [{k: v for k, v in run.items() if k in known} for run in runs(client)]


def test_metadata_is_flat_and_has_no_empty_values():
    told = results_metadata(stats(1))
    assert told == {
        "ssr_mode": "ssr",
        "ssr_reason": "busy",
        "ssr_num_reasoning_tokens": 8,
        "ssr_num_answer_tokens": 15,
        "ssr_num_reasoning_steps": 8,
        "ssr_num_answer_steps": 4,
        "ssr_num_saved_steps": 11,
        "ssr_num_drafts": 2,
        "ssr_num_spec_steps": 3,
        "ssr_num_draft_tokens": 21,
        "ssr_num_accepted_draft_tokens": 11,
        "ssr_tokens_per_reasoning_step": 1.0,
        "ssr_tokens_per_answer_step": 15 / 4,
        "ssr_draft_acceptance_rate": 11 / 21,
        "ssr_mean_acceptance_length": 1 + 11 / 3,
        "ssr_answer_time_ms": 2.5,
    }
    assert "ssr_reason" not in results_metadata(SpeculationStats())


def test_settings_are_flat_too():
    settings = CallSettings(
        draft_budget=[1, 2], sources=["prompt"], temperature=1, prediction="secret"
    )
    assert settings_metadata(settings) == {
        "ssr_speculation": True,
        "ssr_draft_budget": "[1, 2]",
        "ssr_iterative": True,
        "ssr_max_drafts": 8,
        "ssr_speculate_reasoning": True,
        "ssr_sources": "['prompt']",
        "ssr_num_speculative_tokens": 32,
    }


def test_a_run_has_the_settings_of_its_call(backend, client):
    llm = ChatSSR(model="smollm2", draft_budget=64, model_kwargs={"max_drafts": 3})
    config = {"callbacks": [LangChainTracer(client=client)]}
    llm.bind(iterative=False).invoke("hi", config)
    begun = client.create_run.call_args.kwargs["extra"]["metadata"]
    assert begun["ls_provider"] == "langchain-ssr"
    settings = {name: value for name, value in begun.items() if name[:4] == "ssr_"}
    assert settings == {
        "ssr_speculation": True,
        "ssr_draft_budget": 64,
        "ssr_iterative": False,
        "ssr_max_drafts": 3,
        "ssr_speculate_reasoning": True,
        "ssr_num_speculative_tokens": 32,
    }


@pytest.mark.parametrize(
    ("disable", "constructor", "call", "expected"),
    [
        ("0", {}, {}, True),
        ("1", {}, {}, False),
        ("0", {}, {"speculation": False}, False),
        ("0", {"speculation": False}, {"speculation": True}, False),
        ("1", {"model_kwargs": {"speculation": True}}, {}, False),
        ("1", {"base_url": "http://localhost:1/v1"}, {}, False),
    ],
)
def test_a_run_says_whether_it_speculates(
    monkeypatch, disable, constructor, call, expected
):
    monkeypatch.setenv("SSR_DISABLE", disable)
    params = ChatSSR(model="smollm2", **constructor)._get_ls_params(**call)
    assert params["ssr_speculation"] is expected


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_call_has_its_results(llm, client, how):
    tracer = LangChainTracer(client=client)
    await ask(llm.with_config(callbacks=[tracer]), how)
    with get_speculation_callback(on_draft=lambda _: None):  # answered by a stream
        await ask(llm.with_config(callbacks=[tracer]), how)
    with tracing_context(enabled=True, client=client):
        await ask(llm, how)
    told = [results_metadata(stats(number)) for number in range(3)]
    assert results(client) == told
    assert runs(client)[0]["usage_metadata"]["output_tokens"] == 22


async def test_prompts_of_one_call_keep_their_results_apart(llm, client):
    prompts = [[HumanMessage(text)] for text in "abc"]
    callbacks = [LangChainTracer(client=client)]
    llm.generate(prompts, callbacks=callbacks)
    await llm.agenerate(prompts, callbacks=callbacks)
    assert results(client) == [results_metadata(stats(n)) for n in range(6)]


@pytest.mark.parametrize("how", WAYS)
async def test_a_run_in_a_chain_has_its_results(llm, client, how):
    chain = RunnableLambda(lambda x: x) | llm
    await ask(chain.with_config(callbacks=[LangChainTracer(client=client)]), how)
    assert results(client) == [results_metadata(stats(0))]
    others = [
        call.kwargs["extra"].get("metadata", {})
        for call in client.update_run.call_args_list
        if call.kwargs["name"] != "ChatSSR"
    ]
    assert len(others) == 2
    assert not any("ssr_mode" in metadata for metadata in others)


@pytest.mark.parametrize("how", WAYS)
async def test_a_run_in_a_traced_function_has_its_results(llm, client, how):
    @traceable
    async def work():
        await ask(llm, how)
        await ask(llm, how)

    with tracing_context(enabled=True, client=client):
        await work()
    assert results(client) == [results_metadata(stats(n)) for n in range(2)]


async def test_an_agents_runs_have_their_results(llm, client):
    agent = pytest.importorskip("langchain.agents").create_agent(llm)
    config = {"callbacks": [LangChainTracer(client=client)]}
    question = {"messages": [("user", "hi")]}
    agent.invoke(question, config)
    list(agent.stream(question, config, stream_mode="messages"))
    async for _ in agent.astream(question, config, stream_mode="messages"):
        pass
    assert results(client) == [results_metadata(stats(n)) for n in range(3)]


def test_streams_that_take_turns_keep_their_results_apart(llm, client):
    @traceable
    def work():
        one, other = llm.stream("hi"), llm.stream("hi")
        next(one)
        next(other)
        list(other)  # while both run
        list(one)  # alone

    with tracing_context(enabled=True, client=client):
        work()
    assert results(client) == [results_metadata(stats(n)) for n in (1, 0)]


def test_models_of_others_do_not_stand_in_a_streams_way(llm, client):
    @traceable
    def work():
        other = FakeListChatModel(responses=["hello"]).stream("hi")
        next(other)
        list(llm.stream("hi"))
        list(other)

    with tracing_context(enabled=True, client=client):
        work()
    assert results(client) == [results_metadata(stats(0))]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("how", ["stream", "astream"])
async def test_a_stream_at_top_level_has_its_results(llm, client, how, own):
    tracer = LangChainTracer(client=client)
    asked = llm.model_copy(update={"callbacks": [tracer]}) if own else llm
    config = {"tags": ["mine"], "metadata": {"user": "Ann"}, "run_id": uuid4()}
    await ask(asked.with_config(callbacks=None if own else [tracer], **config), how)
    assert results(client) == [results_metadata(stats(0))]
    [run] = runs(client)
    assert run["user"] == "Ann"
    begun, ended = client.create_run.call_args.kwargs, client.update_run.call_args
    assert begun["id"] == config["run_id"]
    assert begun["tags"] == ["mine"]
    output = ended.kwargs["outputs"]["generations"][0][0]["message"]["kwargs"]
    assert output["response_metadata"]["speculation"] == stats(0).to_dict()


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("how", ["stream", "astream"])
async def test_a_stream_within_a_tracing_context_is_one_run(llm, client, how, own):
    if own:
        callbacks = [LangChainTracer(client=client)]
        llm = llm.model_copy(update={"callbacks": callbacks})
    with tracing_context(enabled=True, client=client, metadata={"user": "Ann"}):
        await ask(llm, how)
    assert client.create_run.call_count == client.update_run.call_count == 1
    assert results(client) == [results_metadata(stats(0))]
    assert runs(client)[0]["user"] == "Ann"


@pytest.mark.parametrize("how", ["stream", "astream"])
async def test_a_traced_stream_calls_each_handler_once(llm, client, how):
    class Counts(BaseCallbackHandler):
        begun = ended = 0

        def on_chat_model_start(self, *_, **__):
            self.begun += 1

        def on_llm_end(self, *_, **__):
            self.ended += 1

    mine, own = Counts(), Counts()
    asked = llm.model_copy(update={"callbacks": [own]})
    callbacks = [LangChainTracer(client=client), mine]
    await ask(asked.with_config(callbacks=callbacks), how)
    assert [(h.begun, h.ended) for h in (mine, own)] == [(1, 1)] * 2
    assert client.create_run.call_count == 1


def test_a_failed_run_has_no_results(llm, client, monkeypatch):
    def fail(self, request):
        raise OSError

    monkeypatch.setattr(SSRBackend, "complete", fail)
    with pytest.raises(OSError):
        llm.invoke("hi", {"callbacks": [LangChainTracer(client=client)]})
    assert results(client) == [{}]


@pytest.fixture
def warnings(caplog):
    """The warnings of tracing, which are said once in a process."""
    tracing._report_failure.cache_clear()
    yield lambda: [r for r in caplog.records if r.name == tracing.__name__]
    tracing._report_failure.cache_clear()


@pytest.mark.parametrize("how", WAYS)
async def test_a_changed_run_loses_no_answer(llm, client, monkeypatch, warnings, how):
    def fail(run, messages):
        raise AttributeError("'RunTree' object has no attribute 'extra'")

    answers = []

    @traceable
    async def work():
        answers.extend([await ask(llm, how), await ask(llm, how)])

    monkeypatch.setattr(tracing, "_add_results", fail)
    with tracing_context(enabled=True, client=client):
        await work()
    assert [answer.content for answer in answers] == ["Hello"] * 2
    assert results(client) == [{}, {}]
    [warning] = warnings()
    assert "no attribute 'extra'" in str(warning.exc_info[1])


@pytest.mark.parametrize(
    "name",
    [
        "langchain_core.tracers.langchain.LangChainTracer",
        "langsmith.run_helpers.get_current_run_tree",
    ],
)
def test_a_name_that_moved_is_reported_and_harmless(monkeypatch, warnings, name):
    manager = CallbackManagerForLLMRun(
        run_id=uuid4(), handlers=[BaseCallbackHandler()], inheritable_handlers=[]
    )
    result = ChatResult(generations=[ChatGeneration(message=message())])
    monkeypatch.delattr(name)
    for _ in range(2):
        trace_results(manager, result)
        trace_stream_results(message())
    [warning] = warnings()
    assert warning.exc_info[0] is ImportError


def test_metadata_that_runs_share_is_left_alone(client):
    shared = {"mine": 1}
    one, other = (RunTree(name="x", ls_client=client) for _ in range(2))
    one.extra["metadata"] = other.extra["metadata"] = shared
    tracer = LangChainTracer(client=client)
    tracer.run_map[str(one.id)] = one
    manager = CallbackManagerForLLMRun(
        run_id=one.id, handlers=[tracer], inheritable_handlers=[]
    )
    trace_results(manager, ChatResult(generations=[ChatGeneration(message=message())]))
    assert one.metadata == {"mine": 1, **results_metadata(stats(0))}
    assert other.metadata == {"mine": 1}
