"""Whatever is bound as tools or schema: a request, or a documented error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from tests.unit_tests.fuzzing import JSON, SCALARS

shared_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

TYPES = ("object", "array", "string", "integer", "null", "x")
PARTS = ("title", "name", "description", "parameters", "properties", "type", "items")
PARTS += ("required", "$ref", "$defs", "anyOf", "enum", "function", "strict", "schema")
PARTS += ("input_schema", "json_schema", "toolSpec", "default")
SCHEMA = st.recursive(
    st.dictionaries(st.sampled_from(PARTS), SCALARS, max_size=3)
    | st.builds(lambda kind: {"type": kind}, st.sampled_from(TYPES)),
    lambda inner: st.dictionaries(
        st.sampled_from(PARTS), inner | SCALARS | st.lists(inner, max_size=2)
    ),
    max_leaves=6,
)
NAMED = st.builds(
    lambda name, schema, title: {**schema, title: name},
    st.text(max_size=5) | st.just("f"),
    SCHEMA,
    st.sampled_from(["title", "name"]),
)
OPENAI = st.builds(
    lambda name, schema, extra: {
        "type": "function",
        "function": {"name": name, "parameters": schema, **extra},
    },
    st.just("f") | JSON,
    SCHEMA | JSON,
    st.dictionaries(st.sampled_from(["description", "strict", "x"]), SCALARS),
)
ODD = st.sampled_from([int, object, print, len, lambda: None, lambda *a: a, dict])
TOOL = SCHEMA | NAMED | OPENAI | ODD | JSON
CHOICE = (
    st.none()
    | st.booleans()
    | st.sampled_from(["auto", "any", "required", "none", "f", ""])
    | st.builds(lambda name: {"type": "function", "function": {"name": name}}, JSON)
    | JSON
)
FLAG = st.none() | st.booleans()


def asked(backend: Any, runnable: Any) -> dict[str, Any]:
    """Return the request that a runnable makes; its answer may be unreadable."""
    before = len(backend.requests)
    try:
        runnable.invoke("hi")
    except OutputParserException:
        pass
    except SettingsError:
        assert len(backend.requests) == before
        return {}
    assert len(backend.requests) == before + 1
    json.dumps(backend.request)
    return backend.request


@given(tools=st.lists(TOOL, max_size=2), choice=CHOICE, strict=FLAG, parallel=FLAG)
@shared_backend
def test_any_tools_and_choice(backend, tools, choice, strict, parallel):
    try:
        bound = ChatSSR(model="m").bind_tools(
            tools, tool_choice=choice, strict=strict, parallel_tool_calls=parallel
        )
    except SettingsError as error:
        assert str(error).startswith(("tools: ", "tool_choice: "))  # noqa: PT017
        return
    request = asked(backend, bound)
    for tool in request.get("tools", []):
        assert tool["type"] == "function"
        assert tool["function"]["name"]


@given(
    schema=st.none() | TOOL,
    method=st.sampled_from(["json_schema", "function_calling", "json_mode"]) | JSON,
    strict=FLAG,
    include_raw=st.booleans(),
)
@shared_backend
def test_any_schema(backend, schema, method, strict, include_raw):
    backend.answer(content='{"a": 1}')
    llm = ChatSSR(model="m")
    try:
        runnable = llm.with_structured_output(
            schema, method=method, strict=strict, include_raw=include_raw
        )
    except SettingsError as error:
        assert str(error)  # noqa: PT017
        return
    request = asked(backend, runnable)
    if request and method != "function_calling":
        assert request["response_format"]["type"] in {"json_schema", "json_object"}


@given(
    fields=st.dictionaries(
        st.sampled_from(
            ["tools", "tool_choice", "parallel_tool_calls", "response_format"]
        ),
        JSON | st.lists(TOOL, max_size=2) | NAMED | CHOICE,
        min_size=1,
    )
)
@shared_backend
def test_any_fields_of_a_call(backend, fields):
    try:
        answer = ChatSSR(model="m").invoke("hi", **fields)
    except SettingsError as error:
        assert str(error)  # noqa: PT017
        return
    assert isinstance(answer, AIMessage)
