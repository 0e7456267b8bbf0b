"""Settings -> fields of a chat-completions request."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_ssr.settings import CallSettings, merge_call_settings
from langchain_ssr.wire.requests import build_request

MESSAGES = [HumanMessage("hi")]
BARE = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "chat_template_kwargs": {"enable_thinking": True},
}


def request(*, stream: bool = False, fields: dict | None = None, **settings) -> dict:
    merged = merge_call_settings(settings)
    return build_request("m", MESSAGES, merged, stream=stream, **(fields or {}))


def test_defaults_send_nothing_of_their_own():
    assert request() == BARE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0.0),
        ("top_p", 0.5),
        ("top_k", 0),
        ("min_p", 0.1),
        ("presence_penalty", -1.0),
        ("frequency_penalty", 1.0),
        ("repetition_penalty", 1.1),
        ("stop", ["END"]),
        ("seed", 0),
        ("logprobs", False),
    ],
)
def test_setting_is_a_field_of_the_same_name(name, value):
    assert request(**{name: value}) == {**BARE, name: value}


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("max_tokens", 5, "max_completion_tokens"),
        ("thinking_budget", 0, "thinking_token_budget"),
        ("n", 2, "n"),
    ],
)
def test_setting_is_a_field_of_another_name(name, value, field):
    assert request(**{name: value}) == {**BARE, field: value}


def test_one_answer_is_not_worth_a_field():
    assert "n" not in request(n=1)


@pytest.mark.parametrize("count", [0, 5])
def test_top_logprobs_turns_logprobs_on(count):
    wire = request(top_logprobs=count)
    assert (wire["logprobs"], wire["top_logprobs"]) == (True, count)


@pytest.mark.parametrize(
    ("settings", "kwargs"),
    [
        ({"enable_thinking": False}, {"enable_thinking": False}),
        ({"enable_thinking": None}, None),
        ({"reasoning_effort": "none"}, None),
        (
            {"reasoning_effort": "low", "enable_thinking": True},
            {"enable_thinking": True},
        ),
        (
            {"chat_template_kwargs": {"x": 1}},
            {"x": 1, "enable_thinking": True},
        ),
        (
            {"chat_template_kwargs": {"enable_thinking": False}},
            {"enable_thinking": False},
        ),
        ({"enable_thinking": None, "chat_template_kwargs": {"x": 1}}, {"x": 1}),
    ],
)
def test_chat_template_kwargs(settings, kwargs):
    assert request(**settings).get("chat_template_kwargs") == kwargs


def test_stream_asks_for_usage():
    wire = request(stream=True)
    assert wire == {**BARE, "stream": True, "stream_options": {"include_usage": True}}


def test_fields_are_added_and_none_is_left_out():
    wire = request(fields={"tools": [{"x": 1}], "tool_choice": None})
    assert wire == {**BARE, "tools": [{"x": 1}]}


def test_extra_body_adds_to_what_is_ours():
    extra = {"chat_template_kwargs": {"y": 1}, "vllm_xargs": {"x": 2, "a": 1}}
    fields = {"vllm_xargs": {"ssr": "{}", "a": 0}}
    wire = request(enable_thinking=False, fields=fields, extra_body=extra)
    assert wire["chat_template_kwargs"] == {"enable_thinking": False, "y": 1}
    assert wire["vllm_xargs"] == {"ssr": "{}", "a": 1, "x": 2}


def test_extra_body_wins_over_everything():
    extra = {"temperature": 0.9, "tools": [], "model": "other", "vllm_xargs": {"a": 1}}
    wire = request(temperature=0.1, fields={"tools": [{"x": 1}]}, extra_body=extra)
    assert wire == {**BARE, **extra}


def test_extra_body_can_take_a_field_out():
    assert "chat_template_kwargs" not in request(
        extra_body={"chat_template_kwargs": None}
    )


def test_settings_are_left_as_they_are():
    settings = CallSettings(chat_template_kwargs={"x": 1}, extra_body={"y": 2})
    before = settings.model_copy(deep=True)
    build_request("m", MESSAGES, settings, stream=True)
    assert settings == before


VALUES = {
    "temperature": st.floats(0, 2),
    "top_p": st.floats(0.01, 1),
    "top_k": st.integers(-1, 100),
    "seed": st.integers(-(2**31), 2**31),
    "max_tokens": st.integers(1, 10_000),
    "stop": st.lists(st.text(min_size=1), max_size=3),
    "n": st.integers(1, 3),
    "thinking_budget": st.integers(0, 100),
    "top_logprobs": st.integers(0, 20),
    "enable_thinking": st.none() | st.booleans(),
}


@given(st.fixed_dictionaries({}, optional=VALUES), st.booleans())
def test_no_request_holds_none_and_all_are_json(settings, stream):
    wire = request(stream=stream, **settings)
    assert None not in wire.values()
    assert json.loads(json.dumps(wire)) == wire
