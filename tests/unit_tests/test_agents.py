"""Agents of the package `langchain`, with a backend that answers from memory."""

from __future__ import annotations

import copy

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from langchain_ssr import ChatSSR
from tests.unit_tests.fake_backend import HEAD, USAGE, called, letters

agents = pytest.importorskip("langchain.agents")
structured = pytest.importorskip("langchain.agents.structured_output")


class Weather(BaseModel):
    """The weather somewhere."""

    city: str
    degrees: int


@tool
def degrees_in(city: str) -> int:
    """Return the temperature in a city."""
    return {"Oslo": 5, "Rome": 25}[city]


TEXT = '{"city": "Oslo", "degrees": 5}'
CALL = {"reasoning": "look", "tool_calls": [called("degrees_in", '{"city": "Oslo"}')]}
ANSWER = {"reasoning": "5, then", "content": TEXT}


@pytest.fixture
def scripted(backend, monkeypatch):
    """Let the backend say one message after the other."""

    def script(*messages: dict) -> None:
        said = iter(messages)

        def head() -> dict:  # the id tells an agent's messages apart
            return {**HEAD, "id": f"r{len(backend.requests)}"}

        def finish_of(message: dict) -> str:
            return "tool_calls" if message.get("tool_calls") else "stop"

        def complete(request: dict) -> dict:
            backend.requests.append(copy.deepcopy(request))
            message = next(said)
            finish = finish_of(message)
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return copy.deepcopy({**head(), "choices": [choice], "usage": USAGE})

        def stream(request: dict):
            backend.requests.append(copy.deepcopy(request))
            message = next(said)
            for chunk in copy.deepcopy(letters(message, finish_of(message))):
                yield {**chunk, **head()}

        monkeypatch.setattr(backend, "complete", complete)
        monkeypatch.setattr(backend, "stream", stream)

    return script


@pytest.fixture
def llm(backend):
    return ChatSSR(model="Qwen3-4B")


QUESTION = {"messages": [HumanMessage("How warm is it in Oslo?")]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.kind(12)
def test_agent_calls_its_tool_and_answers(llm, backend, scripted, stream):
    scripted(CALL, ANSWER)
    agent = agents.create_agent(llm, [degrees_in])
    if stream:
        *_, (_, state) = agent.stream(QUESTION, stream_mode=["messages", "values"])
    else:
        state = agent.invoke(QUESTION)
    _, call, result, answer = state["messages"]
    assert call.tool_calls[0]["args"] == {"city": "Oslo"}
    assert isinstance(result, ToolMessage)
    assert (type(answer), answer.content) == (AIMessage, TEXT)
    first, second = backend.requests
    assert "tool_choice" not in first
    wire = second["messages"]
    assert wire[: len(first["messages"])] == first["messages"]  # the prefix is kept
    assert wire[1]["reasoning"] == "look"
    assert wire[2] == {"role": "tool", "tool_call_id": "c0", "content": "5"}


@pytest.mark.kind(12)
def test_reasoning_of_the_turn_before_is_left_out(llm, backend, scripted):
    scripted(CALL, ANSWER, ANSWER)
    agent = agents.create_agent(llm, [degrees_in])
    state = agent.invoke(QUESTION)
    agent.invoke({"messages": [*state["messages"], HumanMessage("And now?")]})
    assert all("reasoning" not in message for message in backend.request["messages"])


def test_agent_without_tools(llm, backend, scripted):
    scripted(ANSWER)
    agents.create_agent(llm, []).invoke(QUESTION)
    assert "tools" not in backend.request


@pytest.mark.parametrize("tools", [[], [degrees_in]])
def test_response_format_takes_the_native_way(llm, backend, scripted, tools):
    scripted(*([CALL] if tools else []), ANSWER)
    agent = agents.create_agent(llm, tools, response_format=Weather)
    state = agent.invoke(QUESTION)
    assert state["structured_response"] == Weather(city="Oslo", degrees=5)
    for request in backend.requests:
        assert request["response_format"]["json_schema"]["name"] == "Weather"
        functions = [one["function"] for one in request.get("tools", [])]
        assert [one["name"] for one in functions] == [one.name for one in tools]
        # Otherwise vLLM's grammar would allow the answer only, and no call.
        assert all(one["strict"] for one in functions)


def test_model_without_a_grammar_for_calls_answers_by_a_tool(backend, scripted):
    scripted({"tool_calls": [called("Weather", TEXT)]})
    llm = ChatSSR(model="Gemma-4-E4B-IT")
    agent = agents.create_agent(llm, [degrees_in], response_format=Weather)
    state = agent.invoke(QUESTION)
    assert state["structured_response"] == Weather(city="Oslo", degrees=5)
    assert "response_format" not in backend.request
    assert backend.request["tool_choice"] == "required"


def test_strategy_of_the_user_counts(llm, backend, scripted):
    scripted({"tool_calls": [called("Weather", TEXT)]})
    strategy = structured.ToolStrategy(Weather)
    state = agents.create_agent(llm, [], response_format=strategy).invoke(QUESTION)
    assert state["structured_response"] == Weather(city="Oslo", degrees=5)
    assert "response_format" not in backend.request


def test_call_that_was_cut_is_not_run(llm, backend, scripted):
    ran = []

    @tool
    def delete(path: str, *, recursive: bool) -> None:
        """Delete a file."""
        ran.append(path)

    cut = called("delete", '{"path": "/", "recursive": tr')
    for streaming in (False, True):
        scripted({"tool_calls": [cut]})
        model = ChatSSR(model="Qwen3-4B", streaming=streaming)
        state = agents.create_agent(model, [delete]).invoke(QUESTION)
        assert state["messages"][-1].invalid_tool_calls[0]["name"] == "delete"
    assert ran == []


def test_v1_content_goes_round(backend, scripted):
    scripted(CALL, ANSWER)
    llm = ChatSSR(model="Qwen3-4B", output_version="v1", streaming=True)
    agent = agents.create_agent(llm, [degrees_in], response_format=Weather)
    state = agent.invoke(QUESTION)
    kinds = [block["type"] for block in state["messages"][-1].content]
    assert kinds == ["reasoning", "text"]
    assert state["structured_response"] == Weather(city="Oslo", degrees=5)
    assert backend.request["messages"][1]["reasoning"] == "look"
