"""What a client is told of settings that are none."""

from __future__ import annotations

import json

import pytest

from langchain_ssr.engine.request_settings import (
    read_prediction,
    read_settings,
)


def test_named_settings_and_all_of_them():
    named, settings = read_settings('{"max_drafts": 2, "prediction": "x"}')
    assert named == {"max_drafts": 2, "prediction": "x"}
    assert (settings.max_drafts, settings.prediction) == (2, "x")


@pytest.mark.parametrize("field", ["max_drafts", "draft_budget", "speculation"])
def test_a_wrong_value_names_its_field(field):
    with pytest.raises(ValueError, match=rf"^vllm_xargs\.ssr: {field}: .*got 'x'"):
        read_settings(json.dumps({field: "x"}))


def test_a_wrong_source_names_the_field_and_a_right_one():
    with pytest.raises(
        ValueError, match=r"^vllm_xargs\.ssr: sources: .*'anser'.*mean 'answer'"
    ):
        read_settings('{"sources": ["prompt", "anser"]}')
    assert read_settings('{"sources": ["answer", "prompt"]}')[1].sources == [
        "prompt",
        "answer",
    ]


@pytest.mark.parametrize(
    "field",
    ["max_draft", "asked", "reason", "report_each_step", "prediction_token_ids"],
)
def test_an_unknown_field_is_named_also_if_the_engine_knows_it(field):
    with pytest.raises(ValueError, match=rf"vllm_xargs\.ssr: {field}: Extra inputs"):
        read_settings(json.dumps({field: True}))


def test_every_wrong_field_is_named():
    with pytest.raises(ValueError, match=r"max_drafts.*; stream_drafts"):
        read_settings('{"max_drafts": -1, "stream_drafts": 2}')


@pytest.mark.parametrize(
    "given", ["", "{", "\udcff", 7, 1.5, ["{}"], None, "[" * 10**5]
)
def test_no_json_is_said_to_be_none(given):
    with pytest.raises(ValueError, match=r"vllm_xargs\.ssr must be a JSON object"):
        read_settings(given)


@pytest.mark.parametrize("given", ["null", "[]", "3", '"text"', "NaN"])
def test_json_that_is_no_object_is_refused(given):
    with pytest.raises(ValueError, match=r"vllm_xargs\.ssr: .*dictionary"):
        read_settings(given)


@pytest.mark.parametrize(
    "content",
    ["a file", [{"type": "text", "text": "a "}, {"type": "text", "text": "file"}]],
)
def test_a_prediction_where_openai_has_it(content):
    assert read_prediction({"type": "content", "content": content}) == "a file"


@pytest.mark.parametrize(
    "given", [7, ["a"], {}, {"type": "content"}, {"type": "text", "content": "a"}]
)
def test_a_prediction_that_is_none_names_the_field(given):
    with pytest.raises(ValueError, match=r"^prediction: "):
        read_prediction(given)
