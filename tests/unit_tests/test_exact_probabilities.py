"""What temperature, top-k and top-p leave of a distribution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")

from benchmarks.exact_probabilities import Sampling, constrain  # noqa: E402

IDS = tuple(range(6))


def as_vllm_does(logits, temperature, top_k, top_p):
    """Port `apply_top_k_top_p_pytorch` of vLLM, for one row."""
    logits = logits / temperature
    order = np.argsort(logits, kind="stable")
    ascending = logits[order]
    if top_k is not None:
        least = ascending[len(ascending) - min(top_k, len(ascending))]
        ascending = np.where(ascending < least, -np.inf, ascending)
    if top_p is not None:
        weights = np.exp(ascending - ascending.max())
        masked = np.cumsum(weights / weights.sum()) <= 1 - top_p
        masked[-1] = False
        ascending = np.where(masked, -np.inf, ascending)
    weights = np.exp(ascending - ascending.max())
    result = np.empty(len(logits))
    result[order] = weights / weights.sum()
    return result


@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.2, 2),
    st.none() | st.integers(1, 8),
    st.none() | st.floats(0.05, 0.99),
)
def test_the_same_as_vllm(seed, temperature, top_k, top_p):
    logits = np.random.default_rng(seed).normal(0, 2, (5, len(IDS)))
    before = logits.copy()
    sampling = Sampling(IDS, temperature, top_k, top_p)
    probabilities, clear = constrain(logits, sampling)
    assert (logits == before).all()
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(5))
    for row, found, known in zip(logits, probabilities, clear, strict=True):
        if known:
            expected = as_vllm_does(row, temperature, top_k, top_p)
            assert found == pytest.approx(expected, abs=1e-12)


def test_temperature_comes_before_top_p():
    logits = np.log([[0.5, 0.3, 0.2]])
    warm, _ = constrain(logits, Sampling(IDS[:3], 1.0, top_p=0.6))
    cool, _ = constrain(logits, Sampling(IDS[:3], 0.2, top_p=0.6))
    assert warm[0] == pytest.approx([0.625, 0.375, 0])
    assert cool[0] == pytest.approx([1, 0, 0])


def test_top_k_comes_before_top_p():
    logits = np.log([[0.4, 0.3, 0.2, 0.1]])
    both, _ = constrain(logits, Sampling(IDS[:4], top_k=2, top_p=0.55))
    assert both[0] == pytest.approx([1, 0, 0, 0])


def test_what_rounding_decides_is_not_clear():
    logits = np.log([[0.4, 0.4, 0.2], [0.5, 0.3, 0.2]])
    _, top_k = constrain(logits, Sampling(IDS[:3], top_k=1))
    assert top_k.tolist() == [False, True]
    _, top_p = constrain(logits, Sampling(IDS[:3], top_p=0.8))
    assert top_p.tolist() == [False, False]
    _, neither = constrain(logits, Sampling(IDS[:3]))
    assert neither.tolist() == [True, True]
