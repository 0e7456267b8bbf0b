"""Call settings: names, values, and layers of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.connection import ConnectionSettings
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import (
    CallSettings,
    check_names,
    merge_call_settings,
    suggest,
)

# --- names -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alias", "field", "value"),
    [
        ("max_completion_tokens", "max_tokens", 7),
        ("max_tokens_to_sample", "max_tokens", 7),
        ("stop_sequences", "stop", ["END"]),
    ],
)
def test_call_alias_sets_the_field(alias, field, value):
    assert getattr(merge_call_settings({alias: value}), field) == value
    assert getattr(merge_call_settings({field: value}), field) == value


@pytest.mark.parametrize("name", ["SSR_API_KEY", "VLLM_API_KEY"])
def test_key_is_read_from_the_environment(monkeypatch, name):
    monkeypatch.setenv("OPENAI_API_KEY", "never")
    assert ConnectionSettings(model="m").api_key is None
    monkeypatch.setenv(name, "key")
    assert ConnectionSettings(model="m").api_key.get_secret_value() == "key"
    given = ConnectionSettings(model="m", api_key="given")
    assert given.api_key.get_secret_value() == "given"


@pytest.mark.parametrize("name", ["model", "model_name"])
def test_model_has_two_names(name):
    assert ConnectionSettings(**{name: "smollm2"}).model == "smollm2"


@pytest.mark.parametrize("name", ["timeout", "request_timeout"])
def test_timeout_has_two_names(name):
    assert ConnectionSettings(model="m", **{name: 2.5}).timeout == 2.5


@pytest.mark.parametrize("name", ["base_url", "openai_api_base"])
def test_base_url_has_two_names(name):
    settings = ConnectionSettings(model="m", **{name: "http://localhost"})
    assert settings.base_url == "http://localhost"


def test_model_is_required():
    with pytest.raises(ValueError, match="model"):
        ConnectionSettings()


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("temprature", "temperature"),
        ("max_token", "max_tokens"),
        ("draft_budgets", "draft_budget"),
        ("enable_thinkin", "enable_thinking"),
    ],
)
def test_unknown_name_suggests_the_closest(typo, meant):
    with pytest.raises(SettingsError, match=f"{typo}.*Did you mean '{meant}'"):
        merge_call_settings({typo: 1})


def test_unknown_name_far_from_all_names_gets_no_suggestion():
    with pytest.raises(SettingsError) as caught:
        merge_call_settings({"zzzzzz": 1})
    assert str(caught.value) == "Unknown setting 'zzzzzz' for a call."


def test_connection_setting_is_unknown_in_a_call():
    with pytest.raises(SettingsError, match="base_url"):
        merge_call_settings({"base_url": "http://localhost"})


def test_suggest_is_empty_without_names():
    assert suggest("anything", []) == ""


def test_check_names_says_where():
    with pytest.raises(SettingsError, match="'a' for the kitchen"):
        check_names(["a"], ["b"], "the kitchen")


@given(st.text())
def test_every_name_is_either_known_or_refused_by_name(name):
    if name in CallSettings.canonical_names():
        merge_call_settings({name: None})
    else:
        with pytest.raises(SettingsError) as caught:
            merge_call_settings({name: None})
        assert repr(name) in str(caught.value)


# --- None --------------------------------------------------------------------------

FIELDS = sorted(set(CallSettings.model_fields) - {"enable_thinking"})


@pytest.mark.parametrize("field", FIELDS)
def test_none_means_the_default(field):
    settings = merge_call_settings({field: None})
    assert settings == CallSettings()
    assert field not in settings.model_fields_set


def test_none_is_a_value_of_enable_thinking():
    settings = merge_call_settings(
        {"enable_thinking": False}, {"enable_thinking": None}
    )
    assert settings.enable_thinking is None
    assert "enable_thinking" in settings.model_fields_set


def test_thinking_is_what_suits_the_model_by_default():
    assert CallSettings().enable_thinking == "auto"


# --- bounds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("temperature", [0, 0.5, 2], [-0.1, 2.1, "hot"]),
        ("top_p", [0.01, 1], [0, 1.01]),
        ("top_k", [-1, 0, 50], [-2, 1.5]),
        ("min_p", [0, 1], [-0.01, 1.01]),
        ("presence_penalty", [-2, 2], [-2.1, 2.1]),
        ("frequency_penalty", [-2, 2], [-2.1, 2.1]),
        ("repetition_penalty", [0.1, 2], [0, -1]),
        ("max_tokens", [1], [0, -1, 1.5, "5", True]),
        ("seed", [-1, 0], [1.5, "0"]),
        ("n", [1, 4], [0]),
        ("top_logprobs", [0, 20], [-1, 21]),
        ("thinking_budget", [0, 10], [-1]),
        ("reasoning_effort", ["none", "low", "max"], ["lots"]),
        ("enable_thinking", [True, False], [1, "true"]),
        ("speculation", [True, False], [1, "yes"]),
        ("draft_interval", [1], [0]),
        ("max_drafts", [0, 8], [-1]),
        ("max_draft_tokens", [1], [0]),
        ("draft_temperature", [0, 1.5, 2], [-0.1, 2.1]),
        ("num_speculative_tokens", [1, 128], [0, 129]),
        ("speculation_stats", ["none", "summary", "detailed"], ["all"]),
        ("stop", ["a", ["a", "b"], []], ["", ["a", ""], [1], 5]),
    ],
)
def test_bounds(field, good, bad):
    for value in good:
        settings = merge_call_settings({field: value})
        expected = [value] if field == "stop" and isinstance(value, str) else value
        assert getattr(settings, field) == expected
    for value in bad:
        with pytest.raises(SettingsError, match=field.replace("stop", "stop|empty")):
            merge_call_settings({field: value})


def test_error_names_field_and_value():
    with pytest.raises(SettingsError) as caught:
        merge_call_settings({"max_tokens": 0})
    text = str(caught.value)
    assert text.startswith("max_tokens: ")
    assert "(got 0)" in text
    assert "pydantic.dev" not in text


def test_error_names_every_wrong_field():
    with pytest.raises(SettingsError, match=r"temperature: .*; top_p: "):
        merge_call_settings({"temperature": -1, "top_p": 2})


def test_top_logprobs_without_logprobs_is_refused():
    with pytest.raises(SettingsError, match="top_logprobs needs logprobs=True"):
        merge_call_settings({"top_logprobs": 3, "logprobs": False})


def test_settings_error_is_a_value_error():
    with pytest.raises(ValueError, match="seed"):
        merge_call_settings({"seed": "x"})


# --- layers ------------------------------------------------------------------------


def test_later_layer_wins():
    settings = merge_call_settings(
        {"temperature": 0.1, "seed": 1}, {"temperature": 0.2}, {"temperature": 0.3}
    )
    assert settings.temperature == 0.3
    assert settings.seed == 1
    assert settings.model_fields_set == {"temperature", "seed"}


def test_alias_in_a_later_layer_overrides_the_name():
    settings = merge_call_settings({"max_tokens": 5}, {"max_completion_tokens": 6})
    assert settings.max_tokens == 6


def test_none_in_a_later_layer_leaves_the_earlier_value():
    settings = merge_call_settings({"temperature": 0.1}, {"temperature": None})
    assert settings.temperature == 0.1


@given(st.lists(st.none() | st.integers(1, 100), max_size=5))
def test_last_value_that_is_not_none_is_in_force(values):
    given_values = [value for value in values if value is not None]
    expected = given_values[-1] if given_values else None
    assert merge_call_settings(*({"seed": v} for v in values)).seed == expected


def test_layers_are_left_as_they_are():
    layer = {"draft_budget": [1], "temperature": None}
    merge_call_settings({"max_drafts": 2}, layer)
    assert layer == {"draft_budget": [1], "temperature": None}


@pytest.mark.parametrize("field", ["model_kwargs", "engine_kwargs"])
def test_default_dictionaries_are_not_shared(field):
    getattr(ConnectionSettings(model="m"), field)["x"] = 1
    assert getattr(ConnectionSettings(model="m"), field) == {}


def test_model_kwargs_are_checked_when_the_model_is_built():
    with pytest.raises(ValueError, match=r"tmperature.*Did you mean 'temperature'"):
        ConnectionSettings(model="m", model_kwargs={"tmperature": 1})
