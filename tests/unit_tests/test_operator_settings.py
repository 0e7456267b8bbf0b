"""A server's defaults and limits, and what becomes of a client's wishes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from langchain_ssr.errors import SettingsError
from langchain_ssr.operator_settings import OperatorSettings
from langchain_ssr.settings import SpeculationSettings


def settle(asked, limits=None, num_tokens=0, **defaults):
    operator = OperatorSettings.read({**defaults, "limits": limits})
    return operator.settle(asked, num_tokens)


def test_nothing_set_changes_nothing():
    assert settle({}) == (SpeculationSettings(), {})
    assert OperatorSettings.read({}).to_config() == {}


@pytest.mark.parametrize(
    ("limits", "asked", "clamped"),
    [
        ({"max_drafts": 2}, {"max_drafts": 3}, {"max_drafts": 2}),
        ({"max_drafts": 2}, {"max_drafts": 2}, {}),
        ({"max_drafts": 2}, {"max_drafts": 0}, {}),
        ({"max_drafts": 0}, {"max_drafts": 1}, {"max_drafts": 0}),
        ({"max_draft_tokens": 9}, {"max_draft_tokens": 10}, {"max_draft_tokens": 9}),
        (
            {"num_speculative_tokens": 4},
            {"num_speculative_tokens": 5},
            {"num_speculative_tokens": 4},
        ),
        ({"stream_drafts": False}, {"stream_drafts": True}, {"stream_drafts": False}),
        ({"max_drafts": 1}, {"draft_budget": [5, 9]}, {"draft_budget": [5]}),
        ({"max_drafts": 0}, {"draft_budget": [5, 9]}, {"draft_budget": []}),
        ({"max_drafts": 2}, {"draft_budget": [5, 9]}, {}),
    ],
)
def test_who_asks_for_more_is_clamped_and_told(limits, asked, clamped):
    settings, told = settle(asked, limits)
    assert told == clamped
    for name, value in {**asked, **clamped}.items():
        assert getattr(settings, name) == value
    json.dumps(told)


def test_limits_hold_quietly_for_who_asks_for_nothing():
    limits = {"max_drafts": 1, "max_draft_tokens": 7, "num_speculative_tokens": 3}
    settings, told = settle({"draft_budget": 4}, limits)
    assert told == {}
    assert {name: getattr(settings, name) for name in limits} == limits


def test_limits_hold_for_defaults_too():
    settings, told = settle({}, {"max_drafts": 1}, max_drafts=5)
    assert (settings.max_drafts, told) == (1, {})


def test_the_engine_is_a_limit():
    settings, told = settle({"num_speculative_tokens": 64}, num_tokens=16)
    assert settings.num_speculative_tokens == 16
    assert told == {"num_speculative_tokens": 16}
    assert settle({}, num_tokens=16)[1] == {}


def test_an_engine_without_speculation_is_none():
    assert settle({"num_speculative_tokens": 64}, num_tokens=0)[1] == {}


def test_client_wins_over_defaults():
    settings, told = settle({"max_drafts": 1}, max_drafts=2, draft_budget=50)
    assert (settings.max_drafts, settings.draft_budget, told) == (1, 50, {})


def test_sources_may_be_a_default_that_clients_narrow_or_widen():
    default = ["draft_prefix", "prompt"]
    for asked in (["prompt"], [], ["draft_suffix", "answer"]):
        settings, told = settle({"sources": asked}, sources=default)
        assert (settings.sources, told) == (asked, {})
    for asked in ({}, {"sources": None}):
        assert settle(asked, sources=default)[0].sources == default


def test_none_of_a_client_means_the_default():
    assert settle({"max_drafts": None}, max_drafts=2)[0].max_drafts == 2


def test_defaults_give_way_where_they_clash():
    assert settle({"max_drafts": 1}, draft_budget=[1, 2])[0].draft_budget == "auto"
    assert settle({"draft_budget": [3]}, max_drafts=1)[0].draft_budget == [3]


def test_bad_settings_of_a_client_are_refused():
    with pytest.raises(ValidationError):
        settle({"max_drafts": "many"})


def test_prediction_is_cut_and_told():
    operator = OperatorSettings.read({"limits": {"max_prediction_tokens": 2}})
    told: dict = {}
    assert operator.cut_prediction([1, 2], told) == [1, 2]
    assert operator.cut_prediction(None, told) is None
    assert told == {}
    assert operator.cut_prediction([1, 2, 3], told) == [1, 2]
    assert told == {"prediction": 2}


def test_config_is_read_back():
    operator = OperatorSettings.from_json('{"max_drafts": 4}', '{"max_drafts": 2}')
    config = operator.to_config()
    assert config == {"max_drafts": 4, "limits": {"max_drafts": 2}}
    again = OperatorSettings.read(json.loads(json.dumps(config)))
    assert again.to_config() == config
    assert OperatorSettings.from_json(None, None).to_config() == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_drafts": -1}, "ssr defaults: max_drafts: .*got -1"),
        ({"max_draft": 1}, "'max_draft' for ssr defaults.*mean 'max_drafts'"),
        ({"prediction": "text"}, "ssr defaults: prediction"),
        ({"sources": ["promt"]}, "ssr defaults: sources: .*mean 'prompt'"),
        ({"limits": {"max_drafts": "2"}}, "ssr limits: max_drafts"),
        ({"limits": {"max_draft": 2}}, "'max_draft' for ssr limits.*'max_drafts'"),
        ({"limits": [1]}, "ssr limits"),
        ({"limits": {"num_speculative_tokens": 129}}, "num_speculative_tokens"),
        ([], "must be a JSON object"),
        (None, "must be a JSON object"),
    ],
)
def test_bad_settings_of_an_operator_name_the_field(options, message):
    with pytest.raises(SettingsError, match=message):
        OperatorSettings.read(options)


@pytest.mark.parametrize(
    ("defaults", "limits", "message"),
    [
        ("{", None, "ssr defaults: must be a JSON object"),
        (None, "[1]", "ssr limits: must be a JSON object"),
        ('{"limits": {}}', None, "limits are an option of their own"),
    ],
)
def test_bad_json_is_named(defaults, limits, message):
    with pytest.raises(SettingsError, match=message):
        OperatorSettings.from_json(defaults, limits)


@given(
    asked=st.fixed_dictionaries(
        {},
        optional={
            "max_drafts": st.integers(0, 9),
            "max_draft_tokens": st.integers(1, 99),
            "num_speculative_tokens": st.integers(1, 128),
            "stream_drafts": st.booleans(),
        },
    ),
    limits=st.fixed_dictionaries(
        {},
        optional={
            "max_drafts": st.integers(0, 9),
            "max_draft_tokens": st.integers(1, 99),
            "num_speculative_tokens": st.integers(1, 128),
            "stream_drafts": st.booleans(),
        },
    ),
)
def test_nobody_gets_more_than_the_limit(asked, limits):
    settings, told = settle(asked, limits)
    for name, limit in limits.items():
        assert getattr(settings, name) <= limit
    for name in asked:
        assert (getattr(settings, name) != asked[name]) == (name in told)
