"""What LangChain adds to every chat model: caches, retries, fallbacks, tracing, ..."""

from __future__ import annotations

import time

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import ModelConnectionError, ModelError
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import ConfigurableField

from langchain_ssr import ChatSSR
from langchain_ssr.errors import EngineDiedError, SettingsError

FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {}}}


@pytest.fixture
def llm(backend):
    return ChatSSR(model="smollm2")


# --- cache ---------------------------------------------------------------------------


def asked(backend, *calls) -> int:
    """Count how often the engine is asked."""
    before = len(backend.requests)
    for llm, call in calls:
        llm.invoke("hi", **call)
    return len(backend.requests) - before


NEUTRAL = {
    "speculation": False,
    "draft_budget": 64,
    "iterative": False,
    "max_drafts": 0,
    "draft_temperature": 0.5,
    "prediction": "text",
    "num_speculative_tokens": 4,
    "speculation_stats": "detailed",
    "stream_drafts": True,
    "sources": ["prompt"],
}


@pytest.mark.parametrize("name", NEUTRAL)
@pytest.mark.parametrize("where", ["constructor", "model_kwargs", "call"])
def test_speculation_is_not_in_the_cache_key(backend, name, where):
    cache, setting = InMemoryCache(), {name: NEUTRAL[name]}
    one = ChatSSR(model="smollm2", cache=cache)
    if where == "constructor":
        other, call = ChatSSR(model="smollm2", cache=cache, **setting), {}
    elif where == "model_kwargs":
        other = ChatSSR(model="smollm2", cache=cache, model_kwargs=setting)
        call = {}
    else:
        other, call = one, setting
    assert asked(backend, (one, {}), (other, call), (one, {})) == 1


def test_same_setting_in_another_place_is_the_same_key(backend):
    cache = InMemoryCache()
    models = [
        ChatSSR(model="smollm2", cache=cache, max_tokens=5, stop="x"),
        ChatSSR(
            model="smollm2",
            cache=cache,
            model_kwargs={"max_completion_tokens": 5, "stop": ["x"]},
        ),
    ]
    bare = ChatSSR(model="smollm2", cache=cache, api_key="k", timeout=5)
    calls = [(models[0], {}), (models[1], {}), (bare, {"max_tokens": 5, "stop": ["x"]})]
    assert asked(backend, *calls) == 1


@pytest.mark.parametrize(
    "call",
    [
        {"temperature": 0.5},
        {"max_tokens": 5},
        {"stop": ["x"]},
        {"seed": 1},
        {"enable_thinking": True},
        {"thinking_budget": 5},
        {"n": 2},
        {"extra_body": {"a": 1}},
        {"tools": [FUNCTION]},
        {"response_format": {"type": "json_object"}},
    ],
)
def test_what_changes_the_answer_is_in_the_cache_key(backend, call):
    llm = ChatSSR(model="smollm2", cache=InMemoryCache())
    assert asked(backend, (llm, {}), (llm, call), (llm, call)) == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "Qwen3-4B", "enable_thinking": False},
        {"engine_kwargs": {"dtype": "float32"}},
        {"output_version": "v1"},
        {"base_url": "http://x"},
    ],
)
def test_which_model_it_is_is_in_the_cache_key(backend, settings):
    cache = InMemoryCache()
    one = ChatSSR(model="smollm2", cache=cache)
    other = ChatSSR(**{"model": "smollm2", "cache": cache, **settings})
    assert asked(backend, (one, {}), (other, {})) == 2


async def test_cached_answer_is_the_answer(llm, backend):
    cached = ChatSSR(model="smollm2", cache=InMemoryCache())
    first = cached.invoke("hi")
    for again in (cached.invoke("hi"), await cached.ainvoke("hi")):
        assert again.content == first.content
        assert again.tool_calls == first.tool_calls
        assert again.response_metadata == first.response_metadata
        assert again.usage_metadata["total_cost"] == 0
    assert len(backend.requests) == 1


# --- limits, retries and fallbacks ---------------------------------------------------


async def test_rate_limiter_is_asked(backend):
    limiter = InMemoryRateLimiter(requests_per_second=20, check_every_n_seconds=0.01)
    llm = ChatSSR(model="smollm2", rate_limiter=limiter)
    start = time.monotonic()
    llm.invoke("hi")
    list(llm.stream("hi"))
    await llm.ainvoke("hi")
    assert time.monotonic() - start > 0.1


class Failing:
    """Fails some times, and then does what the backend does."""

    def __init__(self, backend, error: Exception, times: int) -> None:
        self.complete, self.error, self.left = backend.complete, error, times

    def __call__(self, request: dict) -> dict:
        if self.left:
            self.left -= 1
            raise self.error
        return self.complete(request)


@pytest.fixture
def failing(backend, monkeypatch):
    def fail(error: Exception, times: int) -> None:
        monkeypatch.setattr(backend, "complete", Failing(backend, error, times))

    return fail


async def test_retries(llm, backend, failing):
    patient = llm.with_retry(
        retry_if_exception_type=(ModelConnectionError,), wait_exponential_jitter=False
    )
    for _ in range(2):
        failing(EngineDiedError("gone"), 2)
        assert patient.invoke("hi").content == "Hi 🙂 there"
        failing(EngineDiedError("gone"), 2)
        assert (await patient.ainvoke("hi")).content == "Hi 🙂 there"


def test_error_that_no_retry_helps_is_not_retried(llm, failing):
    patient = llm.with_retry(retry_if_exception_type=(ModelConnectionError,))
    failing(SettingsError("no"), 1)
    with pytest.raises(ModelError) as caught:
        patient.invoke("hi")
    assert not caught.value.is_retryable


async def test_fallbacks(llm, backend, failing):
    cautious = llm.with_fallbacks([ChatSSR(model="Qwen3-4B")])
    failing(EngineDiedError("gone"), 1)
    assert cautious.invoke("hi").content == "Hi 🙂 there"
    assert backend.request["model"] == "Qwen3-4B"
    failing(EngineDiedError("gone"), 1)
    bound = llm.bind_tools([FUNCTION])
    await bound.with_fallbacks([bound]).ainvoke("hi")
    assert backend.request["tools"] == [FUNCTION]


# --- configuration -------------------------------------------------------------------


def test_configured_fields_reach_a_model_with_tools(llm, backend):
    configurable = llm.configurable_fields(
        temperature=ConfigurableField(id="t"), draft_budget=ConfigurableField(id="b")
    )
    bound = configurable.bind(tools=[FUNCTION])
    bound.with_config(configurable={"t": 0.25, "b": 64}).invoke("hi")
    assert backend.request["temperature"] == 0.25
    assert backend.request["vllm_xargs"] == {"ssr": '{"draft_budget": 64}'}
    assert backend.request["tools"] == [FUNCTION]
    configurable.invoke("hi", config={"configurable": {"t": 0.75}})
    assert backend.request["temperature"] == 0.75


def test_bad_configured_value_is_refused_by_name(llm):
    configurable = llm.configurable_fields(temperature=ConfigurableField(id="t"))
    with pytest.raises(ValueError, match="temperature"):
        configurable.with_config(configurable={"t": -1}).invoke("hi")


def test_alternatives_can_be_chosen(llm, backend):
    either = llm.configurable_alternatives(
        ConfigurableField(id="model"), qwen=ChatSSR(model="Qwen3-4B")
    )
    either.with_config(configurable={"model": "qwen"}).invoke("hi")
    assert backend.request["model"] == "Qwen3-4B"
    either.invoke("hi")
    assert backend.request["model"] == "smollm2"


@pytest.mark.parametrize("disabled", [True, "tool_calling"])
def test_streaming_can_be_disabled(backend, disabled):
    llm = ChatSSR(model="smollm2", disable_streaming=disabled)
    [message] = llm.stream("hi", tools=[FUNCTION])
    assert isinstance(message, AIMessage)
    assert "stream" not in backend.request


# --- tracing -------------------------------------------------------------------------


class Seen(BaseCallbackHandler):
    def __init__(self) -> None:
        self.tokens: list = []

    def on_chat_model_start(self, serialized, messages, *, metadata, **kwargs):
        self.metadata, self.params = metadata, kwargs["invocation_params"]

    def on_llm_new_token(self, token, **kwargs):
        self.tokens.append(token)


@pytest.mark.parametrize("stream", [True, False])
def test_settings_in_force_are_traced(backend, stream):
    llm = ChatSSR(
        model="smollm2", temperature=0.1, model_kwargs={"temperature": 0.2}, stop="a"
    )
    seen = Seen()
    config = {"callbacks": [seen]}
    call = {"max_completion_tokens": 7, "stop_sequences": ["b"]}
    list(llm.stream("hi", config, **call)) if stream else llm.invoke(
        "hi", config, **call
    )
    traced = {k: v for k, v in seen.metadata.items() if k.startswith("ls_")}
    assert traced == {
        "ls_provider": "langchain-ssr",
        "ls_model_name": "smollm2",
        "ls_model_type": "chat",
        "ls_temperature": 0.2,
        "ls_max_tokens": 7,
        "ls_stop": ["b"],
        "ls_integration": "langchain_chat_model",
    }
    assert seen.params["model"] == "smollm2"


def test_every_token_is_reported_once(llm):
    seen = Seen()
    list(llm.stream("hi", {"callbacks": [seen]}))
    assert "".join(seen.tokens) == "Hi 🙂 there"


def test_bad_setting_of_a_call_is_reported_by_the_call(llm):
    assert llm._get_ls_params(temprature=1)["ls_model_name"] == "smollm2"
    with pytest.raises(SettingsError, match="temprature"):
        llm.invoke("hi", temprature=1)


def test_invalid_setting_is_reported_to_the_run(llm):
    class Failed(BaseCallbackHandler):
        def on_llm_error(self, error, **kwargs):
            self.error = error

    failed = Failed()
    with pytest.raises(SettingsError):
        llm.invoke([HumanMessage("hi")], {"callbacks": [failed]}, temprature=1)
    assert isinstance(failed.error, SettingsError)
