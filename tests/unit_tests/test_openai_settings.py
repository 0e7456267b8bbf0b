"""`ChatSSR.from_chat_openai`: settings that go over, and those that cannot."""

from __future__ import annotations

import httpx
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.rate_limiters import InMemoryRateLimiter

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.openai_settings import settings_of

langchain_openai = pytest.importorskip("langchain_openai")
# ChatOpenAI looks at socket options when it is built.
pytestmark = pytest.mark.filterwarnings("ignore:A test tried to use socket")


def chat_openai(**settings):
    given = {"model": "Qwen3-4B", "api_key": "sk-test", **settings}
    return langchain_openai.ChatOpenAI(**given)


def converted(**settings) -> ChatSSR:
    return ChatSSR.from_chat_openai(chat_openai(**settings))


SAME = {
    "temperature": 0.25,
    "top_p": 0.5,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "seed": 5,
    "n": 2,
    "logprobs": True,
    "top_logprobs": 3,
    "max_tokens": 7,
    "stop": ["END"],
    "reasoning_effort": "low",
    "streaming": True,
    "stream_usage": False,
    "max_retries": 4,
    "extra_body": {"top_k": 5},
    "timeout": 3.5,
    "base_url": "http://localhost:8000/v1",
    "default_headers": {"X-Team": "a"},
    "tags": ["t"],
    "metadata": {"a": 1},
    "name": "n",
    "output_version": "v1",
    "disable_streaming": True,
    "cache": InMemoryCache(),
    "rate_limiter": InMemoryRateLimiter(),
}


@pytest.mark.parametrize("name", SAME)
def test_setting_goes_over(name):
    llm, value = converted(**{name: SAME[name]}), SAME[name]
    if name == "metadata":
        assert value.items() <= llm.metadata.items()
    else:
        assert getattr(llm, name) == value


def test_names_of_openai_go_over():
    names = {"model_name": "smollm2", "openai_api_key": "sk-a"}
    given = langchain_openai.ChatOpenAI(**names, openai_api_base="http://x/v1")
    llm = ChatSSR.from_chat_openai(given)
    assert (llm.model, llm.base_url) == ("smollm2", "http://x/v1")
    assert llm.api_key.get_secret_value() == "sk-a"
    assert converted(max_completion_tokens=5).max_tokens == 5


def test_what_was_not_set_is_not_set():
    settings = settings_of(chat_openai())
    assert settings.pop("api_key").get_secret_value() == "sk-test"
    assert settings == {"model": "Qwen3-4B", "metadata": {}, "stream_usage": True}
    assert "langchain-openai" not in converted().metadata["lc_versions"]
    assert converted().profile == ChatSSR(model="Qwen3-4B").profile


def test_variables_of_openai_do_not_go_over(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_API_BASE", "http://openai/v1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    llm = ChatSSR.from_chat_openai(langchain_openai.ChatOpenAI(model="Qwen3-4B"))
    assert (llm.api_key, llm.base_url) == (None, None)


def test_model_kwargs_are_settings_or_other_fields_of_a_request(backend):
    llm = converted(
        model_kwargs={"user": "ann", "top_k": 3}, extra_body={"min_tokens": 2}
    )
    llm.invoke("hi")
    assert llm.model_kwargs == {"top_k": 3}
    assert [backend.request[name] for name in ("top_k", "user", "min_tokens")] == [
        *(3, "ann", 2),
    ]


def test_settings_can_be_added_and_replaced():
    llm = ChatSSR.from_chat_openai(
        chat_openai(temperature=0.5, max_tokens=5), model_name="smollm2", max_tokens=6
    )
    assert (llm.model, llm.temperature, llm.max_tokens) == ("smollm2", 0.5, 6)


def test_two_names_of_one_setting_that_contradict_each_other():
    with pytest.raises(SettingsError, match="model_name and model are two names"):
        ChatSSR.from_chat_openai(chat_openai(), model_name="smollm2", model="demo")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"logit_bias": {5: 10}}, "logit_bias"),
        ({"use_responses_api": True}, "use_responses_api"),
        ({"reasoning": {"effort": "low"}}, "reasoning"),
        ({"verbosity": "low"}, "verbosity"),
        ({"organization": "org"}, "openai_organization"),
        ({"default_query": {"a": "b"}}, "default_query"),
        ({"service_tier": "flex"}, "service_tier"),
        ({"timeout": httpx.Timeout(3)}, "timeout"),
        ({"timeout": (1.0, 2.0)}, "timeout"),
        ({"api_key": lambda: "sk"}, "api_key"),
    ],
)
def test_setting_without_a_counterpart_is_refused_by_name(settings, name):
    with pytest.raises(SettingsError, match=f"{name}.* has no counterpart"):
        converted(**settings)


@pytest.mark.parametrize(
    "other",
    [
        lambda: chat_openai().bind(stop=["x"]),
        lambda: ChatSSR(model="smollm2"),
        lambda: "gpt-4",
    ],
)
def test_something_else_is_refused(other):
    with pytest.raises(SettingsError, match="takes a ChatOpenAI"):
        ChatSSR.from_chat_openai(other())
