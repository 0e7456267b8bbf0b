"""`bind_tools`: what can be bound, what can be chosen, and what vLLM is asked for."""

from __future__ import annotations

from typing import Annotated, TypedDict

import pytest
from langchain_core.tools import Tool, tool
from pydantic import BaseModel, Field

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.tokens import template_arguments
from langchain_ssr.tools import convert_choice, convert_tools, enforce_schemas


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


class Add(BaseModel):
    """Add two numbers."""

    a: int = Field(description="the first")
    b: int = 0


class AddDict(TypedDict):
    """Add two numbers."""

    a: Annotated[int, ..., "the first"]


@tool
def add_tool(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


SCHEMA = {
    "title": "add_schema",
    "description": "Add two numbers.",
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
}
OPENAI = {"type": "function", "function": {"name": "add_openai", "parameters": {}}}
ANTHROPIC = {"name": "add_anthropic", "input_schema": SCHEMA}


@pytest.fixture
def llm(backend):
    return ChatSSR(model="Qwen3-4B")


def names(request: dict) -> list[str]:
    return [one["function"]["name"] for one in request["tools"]]


# --- what can be bound ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (add, "add"),
        (Add, "Add"),
        (AddDict, "AddDict"),
        (add_tool, "add_tool"),
        (SCHEMA, "add_schema"),
        (OPENAI, "add_openai"),
        (ANTHROPIC, "add_anthropic"),
    ],
    ids=["function", "pydantic", "TypedDict", "tool", "JSON", "OpenAI", "Anthropic"],
)
def test_tool_reaches_the_request(llm, backend, given, name):
    llm.bind_tools([given]).invoke("hi")
    [wire] = backend.request["tools"]
    assert wire["type"] == "function"
    assert wire["function"]["name"] == name
    assert "strict" not in wire["function"]
    assert "tool_choice" not in backend.request
    if given is not OPENAI:
        assert wire["function"]["parameters"]["properties"]["a"]["type"] == "integer"


def test_several_tools_keep_their_order(llm, backend):
    llm.bind_tools([Add, add, OPENAI]).invoke("hi")
    assert names(backend.request) == ["Add", "add", "add_openai"]


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_no_tools_leave_no_field(llm, backend, choice):
    llm.bind_tools([], tool_choice=choice, parallel_tool_calls=False).invoke("hi")
    for field in ("tools", "tool_choice", "parallel_tool_calls"):
        assert field not in backend.request


@pytest.mark.parametrize(
    "given",
    [
        {"type": "web_search"},
        Tool("t", str, "a custom one", metadata={"type": "custom_tool"}),
    ],
)
def test_tool_that_is_no_function_is_refused(llm, given):
    with pytest.raises(SettingsError, match="must be a function"):
        llm.bind_tools([given])


def test_schema_without_a_title_is_refused(llm):
    with pytest.raises(ValueError, match="title"):
        llm.bind_tools([{"type": "object", "properties": {}}])


def test_strict_makes_every_argument_required(llm, backend):
    llm.bind_tools([add], strict=True).invoke("hi")
    function = backend.request["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["required"] == ["a", "b"]
    assert function["parameters"]["additionalProperties"] is False


@pytest.mark.parametrize("parallel", [True, False])
def test_parallel_tool_calls_are_passed_on(llm, backend, parallel):
    llm.bind_tools([add], parallel_tool_calls=parallel).invoke("hi")
    assert backend.request["parallel_tool_calls"] is parallel
    llm.bind_tools([add]).invoke("hi")
    assert "parallel_tool_calls" not in backend.request


def test_settings_can_be_bound_beside_tools(llm, backend):
    llm.bind_tools([add], temperature=0.5, stop=["x"]).invoke("hi")
    assert (backend.request["temperature"], backend.request["stop"]) == (0.5, ["x"])
    with pytest.raises(SettingsError, match="'temperature'"):
        llm.bind_tools([add], temprature=0.5).invoke("hi")


# --- what can be chosen --------------------------------------------------------------

NAMED = {"type": "function", "function": {"name": "add"}}


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("required", "required"),
        (True, "required"),
        ("add", NAMED),
        (NAMED, NAMED),
        ({"type": "tool", "name": "add"}, NAMED),
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
    ],
)
def test_choice(llm, backend, choice, wire):
    llm.bind_tools([add, Add], tool_choice=choice).invoke("hi")
    assert backend.request["tool_choice"] == wire


@pytest.mark.parametrize("choice", ["any", True, "add"])
def test_choice_of_a_call_is_as_one_that_is_bound(llm, backend, choice):
    llm.bind_tools([add], tool_choice=choice).invoke("x")
    bound = backend.request["tool_choice"]
    llm.bind_tools([add]).invoke("x", tool_choice=choice)
    assert backend.request["tool_choice"] == bound
    with pytest.raises(SettingsError, match="there is no tool 'sub'"):
        llm.bind_tools([add]).invoke("x", tool_choice="sub")


@pytest.mark.parametrize("choice", [None, False])
def test_no_choice_is_left_to_the_engine(llm, backend, choice):
    llm.bind_tools([add], tool_choice=choice).invoke("hi")
    assert "tool_choice" not in backend.request


def test_tool_of_a_name_that_chooses_wins():
    tools = convert_tools([{**SCHEMA, "title": "any"}])
    assert convert_choice("any", tools)["function"] == {"name": "any"}


@pytest.mark.parametrize(
    "choice",
    [
        "ad",
        {"type": "function", "function": {"name": "ad"}},
        {"type": "tool", "name": "ad"},
    ],
)
def test_unknown_name_is_refused_with_a_suggestion(llm, choice):
    with pytest.raises(SettingsError, match=r"no tool 'ad'.*Add.*mean 'add'"):
        llm.bind_tools([add, Add], tool_choice=choice)


@pytest.mark.parametrize("choice", [5, {}, {"function": {}}])
def test_choice_that_is_none_is_refused(llm, choice):
    with pytest.raises(SettingsError, match="tool_choice: there is no tool"):
        llm.bind_tools([add], tool_choice=choice)


@pytest.mark.parametrize("choice", ["any", "required", True])
def test_call_among_no_tools_is_refused(llm, choice):
    with pytest.raises(SettingsError, match="no tool is bound"):
        llm.bind_tools([], tool_choice=choice)


# --- what vLLM has to enforce --------------------------------------------------------


def function_of(backend) -> dict:
    return backend.request["tools"][0]["function"]


@pytest.mark.parametrize("choice", ["any", "add"])
@pytest.mark.kind(9)
def test_forced_call_keeps_to_the_schema_as_it_is(llm, backend, choice):
    llm.bind_tools([add], tool_choice=choice).invoke("hi")
    assert function_of(backend)["strict"] is True
    assert function_of(backend)["parameters"]["required"] == ["a"]


@pytest.mark.kind(12)
def test_prompt_does_not_tell_whether_a_call_is_forced(llm, backend):
    prompts = []
    for choice in ("any", "auto"):
        llm.bind_tools([add], tool_choice=choice).invoke("hi")
        prompts.append(template_arguments(backend.request)["tools"])
    assert prompts[0] == prompts[1]
    llm.bind_tools([add], tool_choice="any").invoke("hi")
    assert backend.request["chat_template_kwargs"]["tools"] == prompts[1]


@pytest.mark.parametrize("kind", ["json_schema", "json_object"])
def test_tool_can_be_called_beside_a_response_format(llm, backend, kind):
    form = {"type": kind, "json_schema": {"name": "x", "schema": {}}}
    llm.bind_tools([add], response_format=form).invoke("hi")
    assert function_of(backend)["strict"] is True
    assert backend.request["response_format"] == form


@pytest.mark.parametrize(
    "fields", [{}, {"tool_choice": "auto"}, {"response_format": {"type": "text"}}]
)
def test_free_choice_is_not_enforced(llm, backend, fields):
    llm.bind_tools([add], **fields).invoke("hi")
    assert "strict" not in function_of(backend)


@pytest.mark.parametrize("strict", [True, False])
def test_tool_that_says_what_it_is_is_left_alone(strict):
    own = {"type": "function", "function": {"name": "f", "strict": strict}}
    fields = {"tools": [own], "tool_choice": "required"}
    assert enforce_schemas(fields) == fields


def test_tools_that_were_bound_are_left_as_they_are(backend):
    own = {"type": "function", "function": {"name": "f", "parameters": {}}}
    ChatSSR(model="Qwen3-4B").bind(tools=[own], tool_choice="required").invoke("hi")
    assert "strict" not in own["function"]
    assert function_of(backend)["strict"] is True


def test_what_is_no_tool_is_left_to_the_engine():
    fields = {"tools": [add, {"type": "x"}], "tool_choice": "required"}
    assert enforce_schemas(fields) == fields
