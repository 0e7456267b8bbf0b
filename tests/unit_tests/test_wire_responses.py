"""A whole chat-completions response -> LangChain messages."""

from __future__ import annotations

import json
from functools import reduce
from operator import add

import pytest
from langchain_core.messages import AIMessage

from langchain_ssr import ChatSSR
from langchain_ssr.stats import SpeculationStats
from langchain_ssr.wire.responses import result_from_wire, usage_from_wire

USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 7,
    "total_tokens": 17,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def response(*messages: dict, **fields) -> dict:
    choices = [
        {"index": i, "message": message, "finish_reason": "stop"}
        for i, message in enumerate(messages)
    ]
    return {"id": "r1", "model": "m", "choices": choices, "usage": USAGE, **fields}


def answer(message: dict, **fields) -> AIMessage:
    [generation] = result_from_wire(response(message, **fields)).generations
    return generation.message


def calls(*arguments: str | None) -> dict:
    return {
        "content": None,
        "tool_calls": [
            {"id": f"c{i}", "function": {"name": f"f{i}", "arguments": text}}
            for i, text in enumerate(arguments)
        ],
    }


# --- text ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.kind(1)
def test_reasoning_is_read_under_both_names(name):
    message = answer({"content": "yes", name: "hm"})
    assert message.content == "yes"
    assert message.additional_kwargs == {"reasoning_content": "hm"}


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("nothing", [None, ""])
def test_no_reasoning_leaves_no_key(name, nothing):
    assert answer({"content": "yes", name: nothing}).additional_kwargs == {}


@pytest.mark.parametrize("message", [{}, {"content": None}, {"content": ""}])
def test_no_content_is_an_empty_text(message):
    assert answer(message).content == ""


@pytest.mark.kind(5)
def test_thinking_that_used_up_the_tokens_keeps_the_reasoning():
    wire = response({"content": None, "reasoning": "and so on"})
    wire["choices"][0]["finish_reason"] = "length"
    [generation] = result_from_wire(wire).generations
    assert generation.message.content == ""
    assert generation.message.additional_kwargs["reasoning_content"] == "and so on"
    assert generation.message.response_metadata["finish_reason"] == "length"


def test_v1_content_blocks_hold_reasoning_and_text():
    blocks = answer({"content": "yes", "reasoning": "hm"}).content_blocks
    assert blocks == [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "yes"},
    ]


def test_refusal_is_kept():
    message = answer({"content": None, "refusal": "I will not"})
    assert message.additional_kwargs == {"refusal": "I will not"}


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_refusal_is_the_same_in_every_way(backend, version):
    backend.answer(reasoning="hm", refusal="I will not")
    llm = ChatSSR(model="m", output_version=version)
    whole, merged = llm.invoke("x"), reduce(add, llm.stream("x"))
    assert whole.additional_kwargs["refusal"] == "I will not"
    assert merged.additional_kwargs == whole.additional_kwargs
    blocks = [
        {**block, "index": f"lc_{block['type']}"} for block in whole.content_blocks
    ]
    assert blocks[-1]["refusal"] == "I will not"
    assert merged.content_blocks == blocks
    stream = llm.stream_events("x", version="v3")
    ends = [e["content"] for e in stream if e["event"] == "content-block-finish"]
    assert ends == blocks
    assert stream.output.additional_kwargs == whole.additional_kwargs


# --- tool calls ----------------------------------------------------------------------


def test_two_tool_calls():
    message = answer(calls('{"a": 1}', '{"b": "ü"}'))
    assert [(c["id"], c["name"], c["args"]) for c in message.tool_calls] == [
        ("c0", "f0", {"a": 1}),
        ("c1", "f1", {"b": "ü"}),
    ]
    assert message.invalid_tool_calls == []


def test_blanks_beside_a_call_are_no_content():
    assert answer({**calls("{}"), "content": "\n\n"}).content == ""
    assert answer({**calls("{}"), "content": "\nyes\n"}).content == "\nyes\n"
    assert answer({"content": "\n\n"}).content == "\n\n"


@pytest.mark.parametrize("text", ["", None, "{}"])
def test_no_arguments_are_an_empty_object(text):
    assert answer(calls(text)).tool_calls[0]["args"] == {}


@pytest.mark.parametrize("text", ["[1]", "5", '"text"', "null", "nonsense"])
def test_arguments_that_are_no_object_make_an_invalid_call(text):
    message = answer(calls('{"a": 1}', text))
    assert [call["id"] for call in message.tool_calls] == ["c0"]
    [bad] = message.invalid_tool_calls
    assert (bad["id"], bad["name"], bad["args"]) == ("c1", "f1", text)
    assert "not a JSON object" in bad["error"]


def test_arguments_that_were_cut_end_as_in_a_stream():
    message = answer(calls('{"a": 1, "b": tr'))
    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["args"] == '{"a": 1, "b": tr]'


@pytest.mark.parametrize(("finish", "valid"), [("length", False), ("stop", True)])
def test_call_that_was_cut_after_its_name_is_invalid(finish, valid):
    wire = response(calls('{"a": 1}', ""))
    wire["choices"][0]["finish_reason"] = finish
    message = result_from_wire(wire).generations[0].message
    assert [call["name"] for call in message.tool_calls] == ["f0", "f1"][: 1 + valid]
    assert [c["args"] for c in message.invalid_tool_calls] == ([] if valid else ["]"])


def test_control_characters_in_arguments_are_read_as_in_a_stream():
    assert answer(calls('{"a": "x\ny"}')).tool_calls[0]["args"] == {"a": "x\ny"}


# --- usage and metadata --------------------------------------------------------------


def test_usage_with_details():
    assert usage_from_wire(USAGE) == {
        "input_tokens": 10,
        "output_tokens": 7,
        "total_tokens": 17,
        "input_token_details": {"cache_read": 4},
        "output_token_details": {"reasoning": 5},
    }


def test_usage_details_of_zero_are_kept():
    usage = usage_from_wire(
        {
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }
    )
    assert usage["total_tokens"] == 2
    assert usage["input_token_details"] == {"cache_read": 0}
    assert usage["output_token_details"] == {"reasoning": 0}


def test_usage_without_details():
    usage = usage_from_wire({"prompt_tokens": 3, "prompt_tokens_details": None})
    assert usage == {"input_tokens": 3, "output_tokens": 0, "total_tokens": 3}


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_usage(nothing):
    assert usage_from_wire(nothing) is None
    assert answer({"content": "x"}, usage=nothing).usage_metadata is None


def test_metadata():
    message = answer({"content": "x"}, metrics={"queue_time_ms": 1.5, "other": 2})
    metadata = message.response_metadata
    stats = SpeculationStats.model_validate(metadata.pop("speculation"))
    assert metadata == {
        "id": "r1",
        "finish_reason": "stop",
        "model_name": "m",
        "model_provider": "langchain-ssr",
        "token_usage": USAGE,
    }
    assert message.id == "r1"
    assert (stats.num_reasoning_tokens, stats.num_answer_tokens) == (5, 2)
    assert stats.timing.queue_time_ms == 1.5
    assert json.dumps(message.response_metadata)


def test_stop_reason_and_fingerprint_are_kept():
    wire = response({"content": "x"}, system_fingerprint="fp")
    wire["choices"][0]["stop_reason"] = "END"
    metadata = result_from_wire(wire).generations[0].message.response_metadata
    assert (metadata["stop_reason"], metadata["system_fingerprint"]) == ("END", "fp")


def test_logprobs_are_metadata():
    logprobs = {"content": [{"token": "x", "logprob": -0.5, "top_logprobs": []}]}
    wire = response({"content": "x"})
    wire["choices"][0]["logprobs"] = logprobs
    [generation] = result_from_wire(wire).generations
    assert generation.message.response_metadata["logprobs"] == logprobs
    assert generation.generation_info == {"finish_reason": "stop", "logprobs": logprobs}


def test_usage_of_several_choices_counts_once():
    result = result_from_wire(response({"content": "a"}, {"content": "b"}))
    messages = [generation.message for generation in result.generations]
    assert [message.content for message in messages] == ["a", "b"]
    assert [bool(message.usage_metadata) for message in messages] == [True, False]


def test_result_names_model_and_usage():
    output = result_from_wire(response({"content": "a"})).llm_output
    assert output == {"model_name": "m", "token_usage": USAGE, "id": "r1"}
