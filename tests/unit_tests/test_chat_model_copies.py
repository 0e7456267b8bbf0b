"""Copies of `ChatSSR` in every way there is, and what they show."""

from __future__ import annotations

import copy
import json
import pickle

import httpx
import pytest
from langchain_core.load import dumps, loads
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import ConfigurableField

from langchain_ssr import (
    ChatSSR,
    SpeculationCallbackHandler,
    get_speculation_callback,
)
from langchain_ssr.errors import SettingsError
from tests.unit_tests.ssr_backend import DRAFTS, use

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
@pytest.mark.parametrize(
    ("given", "drafts"),
    [({}, DRAFTS), ({"stream_drafts": False}, []), ({"stream_drafts": True}, DRAFTS)],
)
@pytest.mark.kind(26)
def test_copy_gives_early_drafts_as_its_model_does(monkeypatch, make, given, drafts):
    use(monkeypatch)
    llm = ChatSSR(model="smollm2", **given)
    for asked in (llm, make(llm)):
        seen = []
        with get_speculation_callback(on_draft=seen.append):
            asked.invoke("hi")
        assert seen == drafts


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
    ("name", "value"),
    [
        ("rate_limiter", InMemoryRateLimiter()),
        ("http_client", httpx.Client()),
        ("http_async_client", httpx.AsyncClient()),
    ],
)
def test_what_no_other_process_can_use_is_named_when_pickled(name, value):
    llm = ChatSSR(model="smollm2", **{name: value})
    remedy = rf"{name}:.*model_copy\(update={{'{name}': None}}\)"
    with pytest.raises(SettingsError, match=remedy):
        pickle.dumps(llm)
    bare = llm.model_copy(update={name: None})
    assert getattr(pickle.loads(pickle.dumps(bare)), name) is None  # noqa: S301
    assert getattr(copy.deepcopy(llm), name) is value


def test_what_pickle_alone_cannot_take_is_left_to_it():
    handler = SpeculationCallbackHandler(on_draft=lambda _: None)
    state = ChatSSR(model="smollm2", callbacks=[handler]).__getstate__()
    assert state["__dict__"]["callbacks"] == [handler]  # cloudpickle takes it


def test_callbacks_are_pickled():
    llm = ChatSSR(model="smollm2", callbacks=[SpeculationCallbackHandler()])
    [handler] = pickle.loads(pickle.dumps(llm)).callbacks  # noqa: S301
    assert isinstance(handler, SpeculationCallbackHandler)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("update", "flag"),
    [
        ({"model": "Gemma-4-E4B-IT"}, "structured_output"),
        ({"model_name": "Gemma-4-E4B-IT"}, "structured_output"),
        ({"engine_kwargs": {"tool_call_parser": None}}, "tool_calling"),
    ],
)
def test_updated_copy_has_the_profile_of_one_made_by_itself(deep, update, flag):
    llm = ChatSSR(model="Qwen3-4B")
    copied = llm.model_copy(update=update, deep=deep)
    own = {"model": "Qwen3-4B"} if "engine_kwargs" in update else {}
    assert copied.profile == ChatSSR(**own, **update).profile
    assert copied.profile[flag] is False
    assert llm.profile[flag] is True


def test_updated_copy_has_a_profile_if_there_is_such_a_model():
    llm = ChatSSR(model="no such model").model_copy(update={"model": "Qwen3-4B"})
    assert llm.profile == ChatSSR(model="Qwen3-4B").profile
    assert llm.model_copy(update={"model": "no such model"}).profile is None


def test_updated_copy_keeps_the_profile_of_the_user():
    llm = ChatSSR(model="Qwen3-4B", profile={"tool_calling": True})
    copied = llm.model_copy(update={"model": "Gemma-4-E4B-IT"})
    assert copied.profile == {"tool_calling": True}
    given = ChatSSR(model="Qwen3-4B").model_copy(update={"profile": {}})
    assert given.profile == {}


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
