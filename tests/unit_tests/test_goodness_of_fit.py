"""The chi-square test of draws that differ in their distributions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")

from benchmarks.goodness_of_fit import Row, chi2_sf, fit, holm, pool  # noqa: E402

seeds = st.integers(0, 2**32 - 1)


def draws(rng, probabilities):
    uniform = rng.random((len(probabilities), 1))
    return (
        (probabilities.cumsum(axis=1) < uniform)
        .sum(axis=1)
        .clip(max=probabilities.shape[1] - 1)
    )


def row_of(rng, size, cells, *, concentration=1.0):
    probabilities = rng.dirichlet([concentration] * cells, size=size)
    return Row.of(draws(rng, probabilities), probabilities)


@pytest.mark.parametrize(
    ("statistic", "df", "chance"),
    [
        (3.841459, 1, 0.05),
        (6.634897, 1, 0.01),
        (18.307038, 10, 0.05),
        (2.558212, 10, 0.99),
        (124.342113, 100, 0.05),
        (1074.679449, 1000, 0.05),
        (0.0, 5, 1.0),
        (7.0, 0, 1.0),
    ],
)
def test_the_tables_of_chi_square(statistic, df, chance):
    assert chi2_sf(statistic, df) == pytest.approx(chance, rel=1e-5)


@given(st.floats(0, 300), st.integers(1, 200))
def test_chi_square_grows_with_the_degrees_of_freedom(statistic, df):
    shape, x = df / 2, statistic / 2
    step = x**shape * math.exp(-x - math.lgamma(shape + 1))
    assert chi2_sf(statistic, df + 2) == pytest.approx(
        chi2_sf(statistic, df) + step, abs=1e-12
    )


@given(seeds, st.integers(2, 8), st.integers(400, 2000))
def test_draws_of_one_distribution_are_tested_as_by_pearson(seed, cells, size):
    rng = np.random.default_rng(seed)
    one = rng.dirichlet([20.0] * cells)
    row = Row.of(draws(rng, np.tile(one, (size, 1))), np.tile(one, (size, 1)))
    if (size * one * (1 - one)).min() < 5:
        return
    expected = (((row.observed - size * one) ** 2) / (size * one)).sum()
    whole = fit([row])
    assert whole.statistic == pytest.approx(expected)
    assert (whole.df, whole.draws) == (cells - 1, size)


@given(seeds, st.integers(1, 8), st.integers(1, 300), st.floats(0.05, 5))
def test_pooling_keeps_the_draws_and_leaves_no_rare_cell(
    seed, cells, size, concentration
):
    row = row_of(np.random.default_rng(seed), size, cells, concentration=concentration)
    pooled = pool(row)
    assert pooled.draws == row.draws == size
    assert pooled.expected.sum() == pytest.approx(size)
    assert pooled.covariance.sum() == pytest.approx(0, abs=1e-6)
    if len(pooled.observed) > 1:
        assert np.diag(pooled.covariance).min() >= 5
        assert pooled.expected.min() >= 5


def test_pooling_merges_the_rarest():
    same = np.tile([0.002, 0.7, 0.008, 0.29], (1000, 1))
    drawn = [0] * 3 + [1] * 690 + [2] * 7 + [3] * 300
    assert pool(Row.of(drawn, same)).observed.tolist() == [690, 10, 300]


def test_too_few_draws_are_not_tested():
    row = row_of(np.random.default_rng(0), 4, 3)
    assert fit([row]).df == 0
    assert fit([row]).p_value == 1.0
    assert fit([]).p_value == 1.0


def test_p_values_of_right_distributions_are_spread_evenly():
    rng = np.random.default_rng(1)
    values = np.array(
        [
            fit([row_of(rng, size, 4) for size in (400, 150, 60, 5)]).p_value
            for _ in range(400)
        ]
    )
    shares = np.histogram(values, bins=5, range=(0, 1))[0] / len(values)
    assert shares.min() > 0.13
    assert shares.max() < 0.27


def test_certain_draws_add_nothing():
    """Half of the draws can only be one token, the other half only another."""
    sure = np.repeat([[0.9999, 0.0001], [0.0001, 0.9999]], 500, axis=0)
    row = Row.of([0] * 500 + [1] * 499 + [0], sure)
    assert row.expected.min() > 5
    assert fit([row]).df == 0


def test_wrong_distributions_are_noticed():
    rng = np.random.default_rng(2)
    mostly = [20, 8, 4, 2]  # what differs from draw to draw are not the likely tokens

    def flatter(probabilities):
        flat = probabilities**0.7
        return flat / flat.sum(axis=1, keepdims=True)

    known = rng.dirichlet(mostly, size=2000)
    right = [Row.of(draws(rng, known), known)]
    wrong = [Row.of(draws(rng, flatter(known)), known)]
    assert fit(right).p_value > 0.001
    assert fit(wrong).p_value < 1e-9


def test_a_token_without_probability_is_never_right():
    certain = np.tile([0.5, 0.5, 0.0], (100, 1))
    whole = fit([Row.of([0] * 50 + [1] * 49 + [2], certain)])
    assert whole.impossible == 1
    assert whole.p_value == 0.0
    assert whole.to_dict()["p_value"] == 0.0


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_the_value_and_bonferroni(values):
    corrected = holm(values)
    for value, new in zip(values, corrected, strict=True):
        assert value <= new <= min(1.0, len(values) * value)
    ordered = sorted(range(len(values)), key=values.__getitem__)
    assert [corrected[i] for i in ordered] == sorted(corrected)
