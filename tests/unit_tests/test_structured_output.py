"""`with_structured_output`: requests, objects, streams, and answers that were cut."""

from __future__ import annotations

import json
from typing import TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import ModelRefusalError
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_json_schema
from pydantic import BaseModel
from pydantic.v1 import BaseModel as BaseModelV1

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.structured_output import response_format
from tests.unit_tests.fake_backend import called


class Person(BaseModel):
    """A person."""

    name: str
    age: int = 0


class PersonV1(BaseModelV1):
    """A person."""

    name: str
    age: int = 0


class PersonDict(TypedDict):
    """A person."""

    name: str
    age: int


SCHEMA = {
    "title": "PersonSchema",
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
METHODS = ["json_schema", "function_calling", "json_mode"]
WITH_A_SCHEMA = METHODS[:2]
TEXT = '{"name": "Ann", "age": 34}'
every_method = pytest.mark.parametrize("method", METHODS)
every_version = pytest.mark.parametrize("version", ["v0", "v1"])
every_schema = pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (Person, Person(name="Ann", age=34)),
        (PersonV1, PersonV1(name="Ann", age=34)),
        (PersonDict, json.loads(TEXT)),
        (SCHEMA, json.loads(TEXT)),
    ],
    ids=["pydantic", "pydantic v1", "TypedDict", "JSON schema"],
)


@pytest.fixture
def llm(backend):
    return ChatSSR(model="Qwen3-4B")


def answer(backend, method: str, schema, text: str, finish: str = "stop") -> None:
    """Let the model think, and then say `text` as the method wants it."""
    if method == "function_calling":
        name = schema["title"] if schema is SCHEMA else schema.__name__
        backend.answer(finish, reasoning="hm", tool_calls=[called(name, text)])
    else:
        backend.answer(finish, reasoning="hm", content=f"\n\n{text}")


# --- what is asked for ---------------------------------------------------------------


def request(backend, schema: type | dict | None = Person, **options) -> dict:
    """Return what is asked for."""
    llm = ChatSSR(model="Qwen3-4B")
    llm.with_structured_output(schema, include_raw=True, **options).invoke("x")
    return backend.request


def test_json_schema_is_the_default(backend):
    form = request(backend)["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["name"] == "Person"
    assert form["json_schema"]["description"] == "A person."
    assert form["json_schema"]["schema"]["required"] == ["name"]
    assert "strict" not in form["json_schema"]
    assert "tools" not in backend.request


def test_function_calling_forces_one_call_of_the_function(backend):
    [tool] = request(backend, method="function_calling")["tools"]
    assert tool["function"]["name"] == "Person"
    assert tool["function"]["strict"] is True  # vLLM holds the arguments to the schema
    assert tool["function"]["parameters"]["required"] == ["name"]
    assert backend.request["tool_choice"]["function"] == {"name": "Person"}
    assert backend.request["parallel_tool_calls"] is False


@pytest.mark.parametrize("schema", [Person, None])
def test_json_mode_asks_for_any_object(backend, schema):
    wire = request(backend, schema, method="json_mode")
    assert wire["response_format"] == {"type": "json_object"}


@every_method
@pytest.mark.kind(14)
def test_thinking_and_speculation_stay_on(backend, method):
    wire = request(backend, method=method)
    assert wire["chat_template_kwargs"]["enable_thinking"] is True
    assert wire["vllm_xargs"] == {"ssr": "{}"}


@pytest.mark.parametrize("method", WITH_A_SCHEMA)
@pytest.mark.parametrize(("strict", "required"), [(True, 2), (False, 1)])
def test_strict(backend, method, strict, required):
    wire = request(backend, method=method, strict=strict)
    if method == "json_schema":
        form = wire["response_format"]["json_schema"]
        schema = form["schema"]
    else:
        form = wire["tools"][0]["function"]
        schema = form["parameters"]
    assert form["strict"] is strict
    assert len(schema["required"]) == required


FORMS = [
    {"type": "json_schema", "json_schema": {"name": "p", "schema": SCHEMA}},
    {"name": "p", "schema": SCHEMA},
]


@pytest.mark.parametrize("given", FORMS)
def test_form_that_is_written_already_is_taken_as_it_is(given):
    assert response_format(given) == FORMS[0]


def test_function_is_taken_for_its_parameters():
    parameters = {key: SCHEMA[key] for key in ("type", "properties", "required")}
    function = {"name": "p", "description": "d", "parameters": parameters}
    form = response_format({"type": "function", "function": function})["json_schema"]
    assert (form["name"], form["description"]) == ("p", "d")
    assert form["schema"] == parameters


class Node(BaseModel):
    value: int
    children: list[Node] = []


def test_recursive_schema_keeps_its_references():
    schema = response_format(Node)["json_schema"]["schema"]
    children = schema["$defs"]["Node"]["properties"]["children"]
    assert children["items"] == {"$ref": "#/$defs/Node"}


def test_schema_that_is_no_object_is_kept():
    schema = {"title": "Numbers", "type": "array", "items": {"type": "integer"}}
    form = response_format(schema)["json_schema"]
    assert form["name"] == "Numbers"
    assert form["schema"] == {"type": "array", "items": {"type": "integer"}}


def test_class_can_be_bound_as_a_response_format(llm, backend):
    llm.bind(response_format=Person).invoke("x")
    assert backend.request["response_format"] == response_format(Person)


@every_method
def test_further_arguments_reach_the_call(backend, method):
    assert request(backend, method=method, temperature=0.5)["temperature"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"schema": Person, "method": "magic"}, "method: 'magic' is none of json_sch"),
        ({"schema": None}, "method='json_schema' needs one"),
        ({"schema": None, "method": "function_calling"}, "needs one"),
        ({"schema": Person, "method": "json_mode", "strict": True}, "strict"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(llm, arguments, problem):
    with pytest.raises(SettingsError, match=problem):
        llm.with_structured_output(**arguments)


# --- what is traced ------------------------------------------------------------------


class Traced(BaseCallbackHandler):
    def on_chat_model_start(self, serialized, messages, *, options, **kwargs):
        self.form = options["ls_structured_output_format"]


@every_method
@every_schema
@pytest.mark.parametrize("stream", [False, True])
def test_schema_and_method_are_traced(backend, method, schema, expected, stream):
    answer(backend, method, schema, TEXT)
    traced = Traced()
    runnable = ChatSSR(model="smollm2").with_structured_output(schema, method=method)
    config = {"callbacks": [traced]}
    list(runnable.stream("x", config)) if stream else runnable.invoke("x", config)
    assert traced.form["schema"] == convert_to_json_schema(schema)
    assert traced.form["kwargs"]["method"] == method


# --- what comes back -----------------------------------------------------------------


@every_method
@every_version
@every_schema
@pytest.mark.kind(14)
async def test_object(backend, method, version, schema, expected):
    answer(backend, method, schema, TEXT)
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(schema, method=method)
    assert runnable.invoke("x") == expected
    assert await runnable.ainvoke("x") == expected
    streamed = list(runnable.stream("x"))
    assert streamed[-1] == expected
    assert [one async for one in runnable.astream("x")] == streamed


@every_method
@every_version
def test_stream_gives_the_object_as_it_grows(backend, method, version):
    answer(backend, method, PersonDict, TEXT)
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(PersonDict, method=method)
    grown = list(runnable.stream("x"))
    assert grown[0] == {}
    assert {"name": "An"} in grown
    assert grown[-1] == json.loads(TEXT)


@every_method
@every_version
async def test_raw_message_is_there_beside_the_object(backend, method, version):
    answer(backend, method, Person, TEXT)
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(Person, method=method, include_raw=True)
    [streamed] = runnable.stream("x")
    for result in (runnable.invoke("x"), await runnable.ainvoke("x"), streamed):
        assert result["parsed"] == Person(name="Ann", age=34)
        assert result["parsing_error"] is None
        assert isinstance(result["raw"], AIMessage)
        assert result["raw"].additional_kwargs["reasoning_content"] == "hm"
        assert result["raw"].usage_metadata["output_tokens"] == 9


def test_output_type_is_known(llm):
    assert llm.with_structured_output(Person).OutputType is Person


def test_answer_without_a_call_is_nothing(llm, backend):
    backend.answer(content="I would rather not.")
    runnable = llm.with_structured_output(Person, method="function_calling")
    assert runnable.invoke("x") is None


def test_refusal_is_an_error_of_its_own(llm, backend):
    backend.answer(refusal="I will not")
    with pytest.raises(ModelRefusalError):
        llm.with_structured_output(Person).invoke("x")
