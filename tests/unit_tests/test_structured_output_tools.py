"""Tools beside the schema of a structured output."""

from __future__ import annotations

import json

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from tests.unit_tests.fake_backend import called
from tests.unit_tests.test_structured_output import (
    METHODS,
    TEXT,
    Person,
    PersonDict,
    answer,
    every_version,
    request,
)


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_tools_can_stand_beside_a_schema(backend, method):
    wire = request(backend, method=method, tools=[add], tool_choice="auto")
    [tool] = wire["tools"]
    assert tool["function"]["name"] == "add"
    assert tool["function"]["strict"] is True  # or vLLM's grammar allows no call
    assert tool["function"]["parameters"]["required"] == ["a"]
    assert wire["tool_choice"] == "auto"
    assert wire["response_format"]["type"] in ("json_schema", "json_object")


def test_strict_is_for_the_tools_too(backend):
    wire = request(backend, tools=[add], strict=True)
    assert wire["tools"][0]["function"]["parameters"]["required"] == ["a", "b"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tools", [[], None])
def test_no_tools_are_none(backend, method, tools):
    names = [
        tool["function"]["name"]
        for tool in request(backend, method=method, tools=tools).get("tools", [])
    ]
    assert names == (["Person"] if method == "function_calling" else [])


def test_tools_beside_a_forced_call_are_refused():
    llm = ChatSSR(model="Qwen3-4B")
    with pytest.raises(SettingsError, match=r"tools: .*method='json_schema'"):
        llm.with_structured_output(Person, method="function_calling", tools=[add])


@every_version
@pytest.mark.parametrize("schema", [Person, PersonDict])
async def test_call_of_a_tool_is_no_object(backend, version, schema):
    backend.answer("tool_calls", reasoning="hm", tool_calls=[called("add", '{"a": 1}')])
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(schema, tools=[add])
    assert runnable.invoke("x") is None
    assert await runnable.ainvoke("x") is None
    assert list(runnable.stream("x")) == []
    beside = llm.with_structured_output(schema, tools=[add], include_raw=True)
    [streamed] = beside.stream("x")
    for result in (beside.invoke("x"), await beside.ainvoke("x"), streamed):
        assert (result["parsed"], result["parsing_error"]) == (None, None)
        assert result["raw"].tool_calls[0]["args"] == {"a": 1}


@every_version
@pytest.mark.parametrize("schema", [Person, PersonDict])
def test_object_is_parsed_where_tools_could_be_called(backend, version, schema):
    answer(backend, "json_schema", schema, TEXT)
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(schema, tools=[add])
    assert dict(runnable.invoke("x")) == json.loads(TEXT)
    assert dict(list(runnable.stream("x"))[-1]) == json.loads(TEXT)
