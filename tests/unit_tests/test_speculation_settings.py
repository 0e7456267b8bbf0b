"""Speculation settings: draft budgets, sources and predictions."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import SpeculationSettings, merge_call_settings
from langchain_ssr.sources import OF_DRAFTS, SOURCES, Source, SourceName


def test_defaults():
    settings = SpeculationSettings()
    assert settings.speculation is True
    assert settings.draft_budget == "auto"
    assert settings.iterative is True
    assert settings.max_drafts == 8
    assert settings.speculate_reasoning is True
    assert settings.sources is None
    assert settings.num_speculative_tokens == 32
    assert settings.speculation_stats == "summary"
    assert settings.stream_drafts is False


@pytest.mark.parametrize("budget", [1, 128, "auto", [1], [64, 128, 1000]])
def test_draft_budget_takes(budget):
    assert merge_call_settings({"draft_budget": budget}).draft_budget == budget


@pytest.mark.parametrize(
    "budget", [0, -1, 1.5, True, "fast", [], [0], [2, 1], [1, 1], [1, "2"], [[1]]]
)
def test_draft_budget_refuses(budget):
    with pytest.raises(SettingsError, match="draft_budget"):
        merge_call_settings({"draft_budget": budget})


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6))
def test_list_of_draft_budgets_must_ascend(budgets):
    if budgets == sorted(set(budgets)):
        settings = merge_call_settings({"draft_budget": budgets})
        assert settings.draft_budget == budgets
    else:
        with pytest.raises(SettingsError, match="must ascend"):
            merge_call_settings({"draft_budget": budgets})


SINGLE = [("iterative", False), ("draft_interval", 32), ("max_drafts", 2)]


@pytest.mark.parametrize(("name", "value"), SINGLE)
def test_list_stands_alone_in_its_layer(name, value):
    with pytest.raises(SettingsError, match=f"{name} cannot be set beside it"):
        merge_call_settings({"draft_budget": [64, 128], name: value})


@pytest.mark.parametrize(("name", "value"), SINGLE)
def test_later_list_replaces_earlier_settings(name, value):
    settings = merge_call_settings({name: value}, {"draft_budget": [64]})
    assert settings.draft_budget == [64]
    assert name not in settings.model_fields_set


@pytest.mark.parametrize(("name", "value"), SINGLE)
def test_later_number_ends_an_earlier_list(name, value):
    settings = merge_call_settings(
        {"draft_budget": [64]}, {"draft_budget": 8, name: value}
    )
    assert settings.draft_budget == 8
    assert getattr(settings, name) == value


@pytest.mark.parametrize(("name", "value"), SINGLE)
def test_none_beside_a_list_says_nothing(name, value):
    settings = merge_call_settings({"draft_budget": [64], name: None})
    assert settings.draft_budget == [64]


def test_settings_beside_a_number_are_fine():
    settings = merge_call_settings({"draft_budget": 64, "max_drafts": 2})
    assert (settings.draft_budget, settings.max_drafts) == (64, 2)


def test_sources_have_one_set_of_names():
    assert tuple(Source) == SOURCES == get_args(SourceName)
    assert [name for name in SOURCES if name.startswith("draft")] == sorted(OF_DRAFTS)


@given(st.lists(st.sampled_from(SOURCES)))
def test_sources_are_a_set_in_the_order_of_the_statistics(names):
    settings = merge_call_settings({"sources": names})
    assert settings.sources == [name for name in SOURCES if name in names]


@pytest.mark.parametrize("sources", [("prompt",), {"prompt"}, [Source.PROMPT]])
def test_sources_take(sources):
    assert merge_call_settings({"sources": sources}).sources == ["prompt"]


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        (["draft_sufix"], r"no source 'draft_sufix'\. Did you mean 'draft_suffix'\?"),
        (["prompt", "x"], "no source 'x'. Known: draft_prefix, draft_suffix, prompt, "),
        ({"promt"}, "Did you mean 'prompt'"),
        ("prompt", "a valid list"),
        ({"prompt": True}, "a valid list"),
        ([1], "Input should be 'draft_prefix', 'draft_suffix'"),
        ([["prompt"]], "Input should be"),
        ([None], "Input should be"),
    ],
)
def test_sources_refuse(sources, problem):
    with pytest.raises(SettingsError, match=f"^sources: .*{problem}"):
        merge_call_settings({"sources": sources})


@pytest.mark.parametrize(
    "prediction",
    [
        "def f():",
        {"type": "content", "content": "def f():"},
        {"type": "content", "content": [{"type": "text", "text": "def f():"}]},
        {
            "type": "content",
            "content": [
                {"type": "text", "text": "def "},
                {"type": "text", "text": "f():"},
            ],
        },
    ],
)
def test_prediction_is_reduced_to_its_text(prediction):
    assert merge_call_settings({"prediction": prediction}).prediction == "def f():"


@pytest.mark.parametrize(
    "prediction",
    [
        5,
        ["text"],
        {},
        {"content": "no type"},
        {"type": "text", "content": "wrong type"},
        {"type": "content"},
        {"type": "content", "content": 5},
    ],
)
def test_prediction_of_another_form_is_refused(prediction):
    with pytest.raises(SettingsError, match="prediction"):
        merge_call_settings({"prediction": prediction})
