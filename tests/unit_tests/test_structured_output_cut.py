"""Structured output that is cut, or does not fit its schema."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.exceptions import OutputParserException

from langchain_ssr import ChatSSR
from tests.unit_tests.test_structured_output import (
    TEXT,
    Person,
    PersonDict,
    answer,
    every_method,
    every_version,
)

CUT = '{"name": "Ann Sm'  # langchain-core's parsers would make a Person of it


@pytest.fixture
def llm(backend):
    return ChatSSR(model="Qwen3-4B")


@every_method
@every_version
@pytest.mark.parametrize("schema", [Person, PersonDict])
def test_answer_that_was_cut_is_an_error(backend, method, version, schema):
    answer(backend, method, schema, CUT, "length")
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(schema, method=method)
    for ask in (
        runnable.invoke,
        lambda text: list(runnable.stream(text)),
        lambda text: asyncio.run(runnable.ainvoke(text)),
    ):
        with pytest.raises(OutputParserException, match=r"cut by max_tokens.*Ann Sm"):
            ask("x")


@every_method
@every_version
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.kind(15)
def test_raw_result_shows_error_and_finish_reason(backend, method, version, stream):
    answer(backend, method, Person, CUT, "length")
    llm = ChatSSR(model="smollm2", output_version=version)
    runnable = llm.with_structured_output(Person, method=method, include_raw=True)
    result = next(runnable.stream("x")) if stream else runnable.invoke("x")
    assert result["parsed"] is None
    assert isinstance(result["parsing_error"], OutputParserException)
    assert result["raw"].response_metadata["finish_reason"] == "length"


@every_method
@pytest.mark.kind(15)
def test_thinking_that_used_up_the_tokens_is_an_error(llm, backend, method):
    backend.answer("length", reasoning="and so on")
    runnable = llm.with_structured_output(Person, method=method)
    with pytest.raises(OutputParserException, match="max_tokens: it had not begun"):
        runnable.invoke("x")


@every_method
def test_answer_that_ended_just_in_time_is_whole(llm, backend, method):
    answer(backend, method, Person, TEXT, "length")
    runnable = llm.with_structured_output(Person, method=method)
    assert runnable.invoke("x") == Person(name="Ann", age=34)
    assert list(runnable.stream("x"))[-1] == Person(name="Ann", age=34)


def test_answer_that_a_stop_string_cut_is_an_error(llm, backend, monkeypatch):
    answer(backend, "json_schema", Person, CUT)
    whole = backend.complete({})
    whole["choices"][0]["stop_reason"] = "END"
    monkeypatch.setattr(backend, "complete", lambda _: whole)
    with pytest.raises(OutputParserException, match="cut by a stop string"):
        llm.with_structured_output(Person).invoke("x")


@pytest.mark.parametrize("include_raw", [True, False])
def test_answer_against_the_schema_is_an_error(llm, backend, include_raw):
    backend.answer(content='{"age": "x"}')
    runnable = llm.with_structured_output(
        Person, method="json_mode", include_raw=include_raw
    )
    if include_raw:
        assert "name" in str(runnable.invoke("x")["parsing_error"])
    else:
        with pytest.raises(OutputParserException, match="name"):
            runnable.invoke("x")
