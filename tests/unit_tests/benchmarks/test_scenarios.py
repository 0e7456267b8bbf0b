"""The made-up requests."""

import random

import pytest

from benchmarks.scenarios import END, NUM_PROMPT, SCENARIOS, START, edited, make_case


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_cases_are_long_enough_and_reproducible(scenario):
    case = make_case(scenario, 500, 1)
    assert len(case.prompt) == NUM_PROMPT
    assert len(case.output) >= 500
    assert case == make_case(scenario, 500, 1) != make_case(scenario, 500, 2)
    assert case.prompt[-1] == (START if scenario == "thinking" else END)


def test_a_prediction_is_close_and_a_misleading_one_is_not():
    near, far = (make_case(name, 2000, 0) for name in ("prediction", "misled"))
    common = set(near.settings["prediction_token_ids"]) & set(near.output)
    assert 0.9 < len(common) / 2000 < 1
    assert len(set(far.settings["prediction_token_ids"]) & set(far.output)) < 100


def test_a_repetition_is_known_from_the_prompt():
    case = make_case("repeat", 250, 0)
    assert case.prompt[-101:-1] == case.output[:100] == case.output[100:200]


def test_edited_edits_about_as_often_as_asked():
    tokens = list(range(10_000))
    result = edited(tokens, 20, lambda: -1, random.Random(0))
    lost = len(tokens) - len(set(tokens) & set(result))
    assert 250 < lost < 420  # two of three edits lose a token
    assert 250 < result.count(-1) < 420  # two of three write one
