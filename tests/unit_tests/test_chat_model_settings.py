"""How settings reach `ChatSSR`'s requests, and which are refused."""

from __future__ import annotations

import json

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import CallSettings


def request(backend, **constructor) -> dict:
    ChatSSR(model="smollm2", **constructor).invoke("hi")
    return backend.request


# --- names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("temprature", "temperature"), ("engine_kwarg", "engine_kwargs")],
)
def test_unknown_name_is_refused_with_a_suggestion(typo, meant):
    with pytest.raises(ValueError, match=f"{typo}.*ChatSSR.*mean '{meant}'"):
        ChatSSR(model="smollm2", **{typo: 1})


@pytest.mark.parametrize(
    "settings",
    [
        {"temprature": 1},
        {"openai_api_key": "sk-other"},
        {"top_logprobs": 3, "logprobs": False},
        {"base_url": "http://x", "engine_kwargs": {"dtype": "float32"}},
    ],
)
def test_settings_are_refused_without_showing_the_key(settings):
    with pytest.raises(ValueError, match=next(iter(settings))) as info:
        ChatSSR(model="smollm2", api_key="sk-secret", **settings)
    assert "sk-" not in str(info.value)


def test_unknown_name_is_refused_even_if_it_is_none():
    with pytest.raises(ValueError, match="nonsense"):
        ChatSSR(model="smollm2", nonsense=None)


def test_names_of_langchain_are_known():
    llm = ChatSSR(model="smollm2", tags=["t"], metadata={"a": 1}, name="n", cache=False)
    assert (llm.tags, llm.name, llm.cache) == (["t"], "n", False)


def test_value_out_of_range_is_refused_by_name():
    with pytest.raises(ValueError, match="max_tokens"):
        ChatSSR(model="smollm2", max_tokens=0)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_model_kwargs_win_over_the_constructor(backend, name):
    wire = request(backend, max_tokens=1, model_kwargs={name: 2})
    assert wire["max_completion_tokens"] == 2


def test_none_beside_model_kwargs_is_not_given_twice(backend):
    wire = request(backend, temperature=None, model_kwargs={"temperature": 0.5})
    assert wire["temperature"] == 0.5


def test_model_is_no_setting_of_model_kwargs():
    with pytest.raises(ValueError, match="model"):
        ChatSSR(model="smollm2", model_kwargs={"model": "other"})


def test_aliases_work_in_the_constructor():
    llm = ChatSSR(model_name="m", max_completion_tokens=5, stop_sequences=["x"])
    assert (llm.model, llm.max_tokens, llm.stop) == ("m", 5, ["x"])
    assert ChatSSR(model="m", request_timeout=3).timeout == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"max_tokens": 1, "max_completion_tokens": 2},
        {"model": "smollm2", "model_name": "b"},
        {"request_timeout": 1, "timeout": 2},
        {"stop": ["a"], "stop_sequences": ["b"]},
    ],
)
def test_two_names_of_one_setting_that_contradict_each_other(settings):
    first, second = settings
    said = f"{first} and {second} are two names of one setting"
    with pytest.raises(ValueError, match=said):
        ChatSSR(**{"model": "smollm2", **settings})
    if first in CallSettings.canonical_names():
        with pytest.raises(ValueError, match=said):
            ChatSSR(model="smollm2", model_kwargs=settings)


def test_two_names_of_one_setting_that_agree():
    llm = ChatSSR(model="m", model_name="m", max_tokens=1, max_completion_tokens=None)
    assert (llm.model, llm.max_tokens) == ("m", 1)


def test_model_can_be_read_by_the_name_that_others_have():
    llm = ChatSSR(model="smollm2")
    assert llm.model_name == llm.model == "smollm2"
    assert "model_name" not in llm.model_dump()
    with pytest.raises(AttributeError):
        llm.model_name = "other"


# --- settings of the constructor -----------------------------------------------------

FIXED = sorted(set(ChatSSR.model_fields) - set(CallSettings.model_fields))
OF_CORE = {"callbacks", "metadata", "tags"}


@pytest.mark.parametrize(
    ("name", "where"),
    [
        *((name, name) for name in FIXED if name != "stream_usage"),
        ("request_timeout", "timeout"),
        ("model_name", "model"),
        ("extra_headers", "default_headers"),
    ],
)
def test_setting_of_the_constructor_is_refused_in_a_call(backend, name, where):
    said = rf"{name} is no setting of a call.*ChatSSR\({where}=\.\.\.\)"
    llm, call = ChatSSR(model="smollm2"), {name: 3}
    with pytest.raises(SettingsError, match=said):
        llm._settings(call)
    with pytest.raises(ValueError, match=said):
        ChatSSR(model="smollm2", model_kwargs=call)
    if name not in OF_CORE:  # it takes those out of a call
        with pytest.raises(SettingsError, match=said):
            llm.bind(**call).invoke("hi")
    assert not backend.requests


# --- layers --------------------------------------------------------------------------


def test_every_layer_arrives_and_the_later_wins(backend):
    llm = ChatSSR(
        model="smollm2",
        temperature=0.1,
        seed=1,
        model_kwargs={"top_p": 0.2, "top_k": 2},
    )
    bound = llm.bind(temperature=0.3, top_p=0.3, min_p=0.3)
    bound.invoke("hi", min_p=0.4, presence_penalty=0.4)
    expected = {
        "seed": 1,
        "top_k": 2,
        "temperature": 0.3,
        "top_p": 0.3,
        "min_p": 0.4,
        "presence_penalty": 0.4,
    }
    assert {name: backend.request[name] for name in expected} == expected
    llm.invoke("hi")
    assert backend.request["temperature"] == 0.1


@pytest.mark.parametrize("where", ["constructor", "model_kwargs", "bound", "call"])
@pytest.mark.parametrize("sources", [["prompt", "draft_suffix"], []])
def test_sources_arrive_from_everywhere(backend, where, sources):
    given = {"sources": sources}
    llm = ChatSSR(
        model="smollm2",
        sources=sources if where == "constructor" else ["answer"],
        model_kwargs=given if where == "model_kwargs" else {},
    )
    bound = llm.bind(**given) if where == "bound" else llm
    bound.invoke("hi", **(given if where == "call" else {}))
    wire = json.loads(backend.request["vllm_xargs"]["ssr"])
    assert wire == {"sources": sorted(sources)}


def test_a_source_that_is_none_is_refused_with_a_suggestion(backend):
    with pytest.raises(ValueError, match=r"(?s)sources.*'promt'.*mean 'prompt'"):
        ChatSSR(model="smollm2", sources=["promt"])
    with pytest.raises(SettingsError, match=r"(?s)sources.*'promt'.*mean 'prompt'"):
        ChatSSR(model="smollm2").invoke("hi", sources=["promt"])
    assert not backend.requests


def test_alias_in_a_call_overrides_the_constructor(backend):
    ChatSSR(model="smollm2", max_tokens=5).invoke("hi", max_completion_tokens=6)
    assert backend.request["max_completion_tokens"] == 6


def test_none_in_a_call_keeps_the_constructor(backend):
    ChatSSR(model="smollm2", temperature=0.1).invoke("hi", temperature=None)
    assert backend.request["temperature"] == 0.1


def test_unknown_name_in_a_call_is_refused(backend):
    with pytest.raises(SettingsError, match="Did you mean 'temperature'"):
        ChatSSR(model="smollm2").invoke("hi", temprature=1)
    assert backend.requests == []


def test_defaults_send_only_the_thinking_switch(backend):
    assert request(backend) == {
        "model": "smollm2",
        "messages": [{"role": "user", "content": "hi"}],
        "chat_template_kwargs": {"enable_thinking": False},
        "vllm_xargs": {"ssr": "{}"},
    }


@pytest.mark.parametrize(
    ("model", "settings", "thinks"),
    [
        ("smollm2", {}, False),
        ("smollm2", {"enable_thinking": True}, True),
        ("smollm2", {"model_kwargs": {"enable_thinking": True}}, True),
        ("Qwen3-4B", {}, True),
        ("Qwen3-4B", {"enable_thinking": False}, False),
        ("Qwen3-4B", {"enable_thinking": None}, None),
    ],
)
@pytest.mark.kind(6)
def test_thinking(backend, model, settings, thinks):
    ChatSSR(model=model, **settings).invoke("hi")
    kwargs = backend.request.get("chat_template_kwargs", {})
    assert kwargs.get("enable_thinking") is thinks


@pytest.mark.parametrize(
    ("constructor", "call", "stop"),
    [
        ({}, {"stop": ["a"]}, ["a"]),
        ({"stop": "c"}, {}, ["c"]),
        ({"stop": ["c"]}, {"stop": ["a"]}, ["a"]),
        ({"stop": ["c"]}, {"stop": None}, ["c"]),
        ({"stop": ["c"]}, {"stop_sequences": ["b"]}, ["b"]),
        ({"stop": ["c"]}, {"stop_sequences": ["b"], "stop": ["a"]}, ["a"]),
    ],
)
def test_stop(backend, constructor, call, stop):
    ChatSSR(model="smollm2", **constructor).invoke("hi", **call)
    assert backend.request["stop"] == stop


def test_empty_stop_string_is_refused(backend):
    with pytest.raises(SettingsError, match="empty"):
        ChatSSR(model="smollm2").invoke("hi", stop=[""])


# --- fields of a request -------------------------------------------------------------

TOOL = {"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}}


def test_request_fields_are_passed_on(backend):
    fields = {
        "tools": [TOOL],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
    }
    ChatSSR(model="smollm2").bind(**fields).invoke("hi")
    assert {name: backend.request[name] for name in fields} == fields


@pytest.mark.parametrize("choice", [{}, {"tool_choice": "auto"}])
@pytest.mark.parametrize("tools", [[], None])
def test_empty_list_of_tools_is_left_out_with_its_choice(backend, tools, choice):
    ChatSSR(model="smollm2").bind(tools=tools, **choice).invoke("hi")
    assert "tools" not in backend.request
    assert "tool_choice" not in backend.request  # vLLM refuses a choice among none


def test_extra_body_wins(backend):
    wire = request(backend, temperature=0.1, extra_body={"temperature": 0.9, "x": 1})
    assert (wire["temperature"], wire["x"]) == (0.9, 1)


def test_no_message_is_refused(backend):
    with pytest.raises(SettingsError, match="at least one message"):
        ChatSSR(model="smollm2").invoke([])
