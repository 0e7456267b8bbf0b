"""Copies of `ChatSSR` in every way there is, and what they show."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from langchain_core.load import dumps, loads
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import ConfigurableField

from langchain_ssr import ChatSSR, SpeculationCallbackHandler

SETTINGS = {
    "model": "smollm2",
    "temperature": 0.5,
    "max_tokens": 7,
    "model_kwargs": {"top_p": 0.5},
    "engine_kwargs": {"max_model_len": 512},
    "api_key": "sk-secret",
}


def reloaded(llm: ChatSSR) -> ChatSSR:
    return loads(
        dumps(llm), allowed_objects=[ChatSSR], valid_namespaces=["langchain_ssr"]
    )


def configured(llm: ChatSSR) -> ChatSSR:
    """Make the copy that `configurable_fields` makes for a call."""
    field = ConfigurableField(id="seed")
    config = {"configurable": {"seed": 5}}
    copied, _ = llm.configurable_fields(seed=field).prepare(config)
    assert copied is not llm
    assert copied.seed == 5
    return copied


COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda llm: pickle.loads(pickle.dumps(llm)),  # noqa: S301
    ChatSSR.model_copy,
    configured,
    reloaded,
]
NAMES = ["copy", "deepcopy", "pickle", "model_copy", "configurable_fields", "loads"]
pytestmark = pytest.mark.filterwarnings("ignore:.*`loads` is in beta")
every_copy = pytest.mark.parametrize("make", COPIES, ids=NAMES)


def requests_of(backend, *models: ChatSSR) -> list[dict]:
    for llm in models:
        llm.invoke("hi")
        backend.request.pop("seed", None)  # what `configured` sets
    return backend.requests[-len(models) :]


@every_copy
@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        {"model": "smollm2"},
        {"model": "Qwen3-4B"},
        {"model": "Qwen3-4B", "enable_thinking": None},
        {"model": "Qwen3-4B", "enable_thinking": False},
        {"model": "smollm2", "draft_budget": [64, 128]},
        {"model": "smollm2", "model_kwargs": {"draft_budget": [64]}},
    ],
    ids=["many", "smollm2", "thinking", "template", "plain", "list", "list in kwargs"],
)
@pytest.mark.kind(26)
def test_copy_asks_the_same(backend, make, settings):
    llm = ChatSSR(**settings)
    one, other = requests_of(backend, llm, make(llm))
    assert one == other


@every_copy
@pytest.mark.kind(26)
def test_copy_uses_the_same_engine(make):
    llm = ChatSSR(**SETTINGS)
    assert make(llm)._embedded.key == llm._embedded.key


def test_deep_copy_shares_no_dictionary():
    llm = ChatSSR(**SETTINGS)
    copy.deepcopy(llm).model_kwargs["top_p"] = 0.9
    assert llm.model_kwargs == {"top_p": 0.5}


def test_deep_copy_shares_what_works_only_if_it_is_shared(backend):
    limiter, handler = InMemoryRateLimiter(), SpeculationCallbackHandler()
    llm = ChatSSR(**SETTINGS, rate_limiter=limiter, callbacks=[handler])
    copied = copy.deepcopy(llm)
    assert copied.rate_limiter is limiter
    assert copied.callbacks[0] is handler
    assert copied.model_kwargs is not llm.model_kwargs


@pytest.mark.parametrize(
    ("first", "second"), [("smollm2", "demo"), ("Qwen3-4B", "google/gemma-4-12b-it")]
)
def test_configured_model_is_as_one_made_by_itself(backend, first, second):
    field = ConfigurableField(id="model")
    llm = ChatSSR(model=first).configurable_fields(model=field)
    made, _ = llm.prepare({"configurable": {"model": second}})
    own = ChatSSR(model=second)
    assert made.profile == own.profile != ChatSSR(model=first).profile
    one, other = requests_of(backend, made, own)
    assert one == other


def test_configured_model_keeps_what_the_user_gave(backend):
    llm = ChatSSR(model="smollm2", enable_thinking=True, profile={"tool_calling": True})
    field = ConfigurableField(id="model")
    made, _ = llm.configurable_fields(model=field).prepare(
        {"configurable": {"model": "demo"}}
    )
    assert made.profile == {"tool_calling": True}
    [wire] = requests_of(backend, made)
    assert wire["chat_template_kwargs"] == {"enable_thinking": True}


def test_copy_can_be_updated(backend):
    llm = ChatSSR(**SETTINGS).model_copy(update={"temperature": 0.9})
    [wire] = requests_of(backend, llm)
    assert wire["temperature"] == 0.9


@pytest.mark.kind(26)
def test_configured_field_arrives(backend):
    field = ConfigurableField(id="t")
    llm = ChatSSR(model="smollm2").configurable_fields(temperature=field)
    llm.with_config(configurable={"t": 0.25}).invoke("hi")
    assert backend.request["temperature"] == 0.25


# --- what is shown -------------------------------------------------------------------


@pytest.mark.parametrize(
    "show", [repr, str, dumps, lambda llm: json.dumps(llm.asdict())]
)
def test_key_is_hidden(show):
    assert "sk-secret" not in show(ChatSSR(**SETTINGS))


@pytest.mark.parametrize("show", [repr, str, dumps])
def test_headers_are_hidden(show):
    headers = {"X-Key": "sk-secret"}
    llm = ChatSSR(model="m", base_url="http://localhost:1/v1", default_headers=headers)
    assert "sk-secret" not in show(llm)


def test_key_is_there_for_those_who_ask():
    assert ChatSSR(**SETTINGS).api_key.get_secret_value() == "sk-secret"


def test_model_and_settings_identify_it():
    llm = ChatSSR(model="Qwen3-4B", temperature=0.5, model_kwargs={"top_p": 0.5})
    assert llm._identifying_params == {
        "model": "Qwen3-4B",
        "base_url": None,
        "enable_thinking": True,
        "temperature": 0.5,
        "top_p": 0.5,
    }


def test_tracing_knows_provider_model_and_settings():
    params = ChatSSR(**SETTINGS)._get_ls_params(stop=["x"])
    assert params["ls_provider"] == "langchain-ssr"
    assert params["ls_model_name"] == "smollm2"
    assert params["ls_temperature"] == 0.5
    assert params["ls_max_tokens"] == 7
    assert params["ls_stop"] == ["x"]
