"""Running figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.running import Lengths, Mean

lengths = st.lists(st.integers(0, 100_000), min_size=1, max_size=50)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_a_mean_of_few_is_plain(values):
    mean = Mean(1 / 8)
    for value in values:
        mean.add(value)
    assert mean.num == len(values)
    assert mean.value == pytest.approx(sum(values) / len(values), abs=1e-3)


def test_a_mean_forgets():
    mean = Mean(1 / 8)
    for value in [100.0] * 50 + [0.0] * 8:
        mean.add(value)
    assert mean.value == pytest.approx(100 * (7 / 8) ** 8)


@given(lengths, st.floats(0.01, 1))
def test_a_quantile_bounds_its_share(values, share):
    of = Lengths(0.0)
    for value in values:
        of.add(value)
    bound = of.quantile(share)
    assert bound & (bound - 1) == 0 < bound
    below = sum(value <= bound for value in values)
    assert below >= share * len(values) - 1e-9
    if bound > 1:  # it is the least
        assert sum(value <= bound // 2 for value in values) < share * len(values)


@given(lengths)
def test_quantiles_ascend(values):
    of = Lengths(1 / 16)
    assert of.quantile(0.5) == 0
    for value in values:
        of.add(value, value)
    assert of.num == len(values)
    assert of.quantile(0.5) <= of.quantile(0.95) <= of.quantile(1)


def test_weights_and_age_count():
    of = Lengths(1 / 16)
    for value in [2000] + [4] * 16:
        of.add(value)
    assert of.quantile(0.9) == 4
    of.add(2000, 1000)
    assert of.quantile(0.1) == 2048
    for _ in range(200):
        of.add(4)
    assert of.quantile(0.9) == 4
