"""Speculation in agents: settings for each step, totals in the state."""

from __future__ import annotations

import subprocess
import sys

import pytest
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from langchain_ssr import (
    ChatSSR,
    SpeculationStats,
    SpeculationTotals,
    get_speculation_callback,
)
from langchain_ssr.errors import SettingsError
from tests.unit_tests.ssr_backend import SSRBackend, answer, use
from tests.unit_tests.test_totals import stats

agents = pytest.importorskip("langchain.agents")
middlewares = pytest.importorskip("langchain.agents.middleware")
from langchain_ssr.middleware import SpeculationMiddleware  # noqa: E402

QUESTION = {"messages": [("user", "Weather and time in Oslo?")]}


@tool
def weather(city: str) -> str:
    """Say what the weather is like."""
    return f"rain in {city}"


@tool
def clock(city: str) -> str:
    """Say what time it is."""
    return f"noon in {city}"


TOOLS = [weather, clock]


@pytest.fixture
def backend(monkeypatch) -> SSRBackend:
    oslo = {"city": "Oslo"}
    return use(
        monkeypatch,
        answer("", ("weather", oslo)),
        answer("", ("clock", oslo)),
        answer("Rain at noon."),
    )


@pytest.fixture
def llm(backend) -> ChatSSR:
    return ChatSSR(model="smollm2")


def totals(*numbers: int) -> dict:
    return SpeculationTotals().plus(stats(number) for number in numbers).to_dict()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_state_has_the_sum_of_the_messages(llm, asynchronous):
    agent = agents.create_agent(llm, TOOLS, middleware=[SpeculationMiddleware()])
    with get_speculation_callback() as callback:
        state = (
            await agent.ainvoke(QUESTION) if asynchronous else agent.invoke(QUESTION)
        )
    told = [
        message.response_metadata["speculation"]
        for message in state["messages"]
        if isinstance(message, AIMessage)
    ]
    assert len(told) == 3
    total = state["speculation"]
    assert total == totals(0, 1, 2) == callback.total.to_dict()
    for name in ("num_answer_tokens", "num_answer_steps", "num_saved_steps"):
        assert total[name] == sum(one[name] for one in told)
    whole = SpeculationTotals().plus(map(SpeculationStats.model_validate, told))
    assert SpeculationTotals.model_validate(total) == whole


def test_a_checkpointer_keeps_the_totals_of_a_thread(llm):
    memory = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver()
    agent = agents.create_agent(
        llm, TOOLS, middleware=[SpeculationMiddleware()], checkpointer=memory
    )
    one = {"configurable": {"thread_id": "1"}}
    assert agent.invoke(QUESTION, one)["speculation"] == totals(0, 1, 2)
    assert agent.invoke(QUESTION, one)["speculation"] == totals(0, 1, 2, 3)
    other = {"configurable": {"thread_id": "2"}}
    assert agent.invoke(QUESTION, other)["speculation"] == totals(4)


def test_the_totals_are_no_input(llm):
    agent = agents.create_agent(llm, middleware=[SpeculationMiddleware()])
    state = agent.invoke({**QUESTION, "speculation": {"num_responses": 99}})
    assert state["speculation"] == totals(0)
    assert "speculation" not in agent.get_input_jsonschema()["properties"]
    assert "speculation" in agent.get_output_jsonschema()["properties"]


def test_the_same_settings_for_every_step(llm, backend):
    middleware = SpeculationMiddleware({"draft_budget": 64, "temperature": 0.5})
    agents.create_agent(llm, TOOLS, middleware=[middleware]).invoke(QUESTION)
    assert backend.settings == [{"draft_budget": 64}] * 3
    assert [request["temperature"] for request in backend.requests] == [0.5] * 3


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_settings_from_the_step_and_the_state(llm, backend, asynchronous):
    seen = []

    def settings(step, state):
        seen.append((step, len(state["messages"])))
        return {"max_drafts": step + 1} if step < 2 else None

    agent = agents.create_agent(
        llm, TOOLS, middleware=[SpeculationMiddleware(settings)]
    )
    state = await agent.ainvoke(QUESTION) if asynchronous else agent.invoke(QUESTION)
    assert seen == [(0, 1), (1, 3), (2, 5)]
    assert backend.settings == [{"max_drafts": 1}, {"max_drafts": 2}, {}]
    agent.invoke({"messages": [*state["messages"], HumanMessage("again")]})
    assert seen[3] == (0, 7)


def test_settings_win_over_those_of_an_outer_middleware(llm, backend):
    @middlewares.wrap_model_call
    def outer(request, handler):
        settings = {"max_drafts": 5, "temperature": 0.25}
        return handler(request.override(model_settings=settings))

    inner = SpeculationMiddleware({"max_drafts": 2})
    agents.create_agent(llm, middleware=[outer, inner]).invoke(QUESTION)
    assert backend.settings == [{"max_drafts": 2}]
    assert backend.requests[0]["temperature"] == 0.25


def test_other_models_get_no_settings_and_count_nothing(backend):
    class Other(FakeMessagesListChatModel):
        def _generate(self, *args, **kwargs):
            assert "draft_budget" not in kwargs
            return super()._generate(*args, **kwargs)

    model = Other(responses=[AIMessage("hi")])
    middleware = SpeculationMiddleware({"draft_budget": 64})
    state = agents.create_agent(model, middleware=[middleware]).invoke(QUESTION)
    assert state["messages"][-1].text == "hi"
    assert not state.get("speculation")


def test_a_call_that_is_tried_again_counts_once(llm, backend, monkeypatch):
    complete, tries = SSRBackend.complete, []

    def fail_once(self, request):
        tries.append(request)
        if len(tries) == 1:
            raise OSError
        return complete(self, request)

    monkeypatch.setattr(SSRBackend, "complete", fail_once)
    retry = middlewares.ModelRetryMiddleware(max_retries=1, initial_delay=0)
    agent = agents.create_agent(llm, TOOLS, middleware=[SpeculationMiddleware(), retry])
    assert agent.invoke(QUESTION)["speculation"] == totals(0, 1, 2)
    assert len(tries) == 4


def test_streams_of_the_agent_show_the_totals(llm):
    agent = agents.create_agent(llm, TOOLS, middleware=[SpeculationMiddleware()])
    values = list(agent.stream(QUESTION, stream_mode="values"))
    assert values[-1]["speculation"] == totals(0, 1, 2)
    seen = [state["speculation"]["num_responses"] for state in values[1:]]
    assert seen == sorted(seen)


@pytest.mark.parametrize("bad", [{"draft_budgets": 1}, {"draft_budget": 0}])
def test_bad_settings_are_refused_at_once(bad):
    with pytest.raises(SettingsError, match="draft_budget"):
        SpeculationMiddleware(bad)


def test_without_langchain_the_message_names_the_command():
    code = """
import sys
sys.modules["langchain.agents.middleware.types"] = None
import langchain_ssr
from langchain_ssr import *
try:
    langchain_ssr.SpeculationMiddleware
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "pip install 'langchain" in done.stdout


def test_it_can_be_imported_from_the_package():
    import langchain_ssr

    assert langchain_ssr.SpeculationMiddleware is SpeculationMiddleware
