"""The cost of one more token in a step."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.step_cost import (
    DEFAULT,
    LEAST,
    MAX_TOKENS,
    MIN_STEPS,
    MOST,
    StepCost,
)


def measured(steps) -> StepCost:
    cost = StepCost()
    for num_tokens, seconds in steps:
        cost.record(num_tokens, seconds)
    return cost


def steps(share: float, num: int = 500, noise: float = 0.0):
    """Steps in which each further token costs this share of a one-token step."""
    luck = random.Random(1)
    for _ in range(num):
        num_tokens = luck.choice([1, 1, 1, 2, 2, 9, 33, 34])
        yield (
            num_tokens,
            0.03 * (1 + share * (num_tokens - 1)) * luck.uniform(1, 1 + noise),
        )


@pytest.mark.parametrize("share", [0.004, 0.03, 0.1, 0.4])
def test_the_share_is_found(share):
    assert measured(steps(share)).token == pytest.approx(share, rel=1e-6)
    assert measured(steps(share, noise=0.2)).token == pytest.approx(share, rel=0.25)


def test_a_stalled_machine_is_no_measurement():
    good = list(steps(0.1))
    assert measured([*good[:400], (1, 60.0), *good[400:]]).token == pytest.approx(
        0.1, rel=0.2
    )


def test_what_has_changed_is_forgotten():
    cost = measured([*steps(0.3), *steps(0.02, num=3000)])
    assert cost.token == pytest.approx(0.02, rel=0.3)


@pytest.mark.parametrize(
    "given",
    [
        [],
        list(steps(0.2, num=MIN_STEPS - 1)),
        [(1, 0.02)] * 200,
        [(0, 0.02), (MAX_TOKENS + 1, 9.0), (5, 0.0)] * 200,
    ],
    ids=["nothing", "too_few", "all_alike", "none_that_counts"],
)
def test_what_cannot_be_known_is_the_default(given):
    assert measured(given).token == DEFAULT


def test_steps_that_overlap_are_not_measured():
    alone, overlapping = StepCost(), StepCost()
    now = 0.0
    for num_tokens, seconds in steps(0.2):
        alone.begin(now)
        alone.end(now + seconds, num_tokens)
        overlapping.begin(now)
        overlapping.begin(now + seconds / 2)
        overlapping.end(now + seconds, num_tokens)
        overlapping.end(now + 2 * seconds, num_tokens)
        now += 3 * seconds
    assert alone.token == pytest.approx(0.2, rel=1e-6)
    assert overlapping.token == DEFAULT


@given(
    st.lists(
        st.tuples(st.integers(-2, 500), st.floats(-1, 1e6, allow_nan=False)),
        max_size=200,
    )
)
def test_it_is_always_a_share(given):
    assert LEAST <= measured(given).token <= MOST


@pytest.mark.parametrize(
    ("num_requests", "cost"), [(1, 0.05), (4, 0.2 / 1.15), (19, 0.5), (10**6, 1.0)]
)
def test_what_a_hit_saves_falls_with_the_requests_of_a_step(num_requests, cost):
    """At 5 % a token, a step's fixed part is that of 19 tokens: a tie at 19."""
    found = measured(steps(0.05)).verification(num_requests)
    assert found == pytest.approx(cost, rel=1e-4)


def test_unmeasured_tokens_cost_nothing_to_verify():
    assert StepCost().verification(64) == 0
    assert measured([(1, 0.03)] * 500).verification(64) == 0  # all steps are alike
