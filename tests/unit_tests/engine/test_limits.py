"""How many tokens may be proposed."""

import json
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import Markers
from langchain_ssr.engine.limits import cut, max_proposal
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.engine.thinking_count import ThinkingCount
from langchain_ssr.settings import SpeculationSettings

ROOM = {
    "num_speculative_tokens": 32,
    "num_tokens": 100,
    "num_output_tokens": 50,
    "max_tokens": 1000,
    "max_model_len": 4096,
    "token_budget": 2048,
}
sizes = st.integers(0, 300)
START, END = 900, 901
MARKERS = Markers((START,), (END,), close=(END,))


class Token(int):
    """An int that is not exactly one, as numpy's and torch's are not."""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, 32),
        ({"num_speculative_tokens": 0}, 0),
        ({"max_tokens": 60}, 9),
        ({"max_tokens": 52}, 1),
        ({"max_tokens": 51}, 0),
        ({"max_tokens": 50}, 0),
        ({"max_model_len": 110}, 9),
        ({"max_model_len": 101}, 0),
        ({"max_model_len": 100}, 0),
        ({"token_budget": 5}, 5),
        ({"token_budget": 0}, 0),
        ({"token_budget": -3}, 0),
    ],
)
def test_the_narrowest_limit_counts(given, expected):
    assert max_proposal(**{**ROOM, **given}) == expected


@given(st.tuples(sizes, sizes), sizes, sizes, sizes, st.integers(-10, 300))
def test_a_proposal_and_the_steps_own_token_always_fit(
    lengths, most, max_tokens, max_model_len, token_budget
):
    prompt, output = lengths
    length = max_proposal(
        num_speculative_tokens=most,
        num_tokens=prompt + output,
        num_output_tokens=output,
        max_tokens=max_tokens,
        max_model_len=max_model_len,
        token_budget=token_budget,
    )
    assert 0 <= length <= most
    if length:
        assert output + length + 1 <= max_tokens
        assert prompt + output + length + 1 <= max_model_len
        assert length <= token_budget
        return
    # Nothing is proposed only where not even one token fits.
    assert (
        most == 0
        or output + 2 > max_tokens
        or prompt + output + 2 > max_model_len
        or token_budget <= 0
    )


@pytest.mark.parametrize(
    ("thinking", "budget", "expected"),
    [
        (0, 0, 0),
        (0, 1, 0),
        (0, 2, 0),
        (0, 3, 1),
        (90, 100, 8),
        (98, 100, 0),
        (99, 100, 0),
        (100, 100, 0),
        (500, 100, 0),
    ],
)
def test_a_proposal_stays_before_the_end_of_a_thinking_budget(
    thinking, budget, expected
):
    count = ThinkingCount(MARKERS, [1, START, *[5] * thinking], budget)
    assert count.room == expected


@given(sizes, sizes, sizes)
def test_a_step_with_a_proposal_never_reaches_the_thinking_budget(opened, more, budget):
    count = ThinkingCount(MARKERS, [START, *[5] * opened], budget)
    count.advance([5] * more)
    assert count.room >= 0
    if count.room:
        assert opened + more + count.room + 1 < budget


@pytest.mark.parametrize("prompt", [[], [1, 2], [START, 5, END], [START, 5, END, 6]])
def test_a_thinking_budget_limits_nothing_outside_the_reasoning(prompt):
    count = ThinkingCount(MARKERS, prompt, 0)
    assert count.room is None
    count.advance([5, START, 5])
    assert count.room == 0
    count.advance([END, 5])
    assert count.room is None


@given(
    st.lists(st.sampled_from([1, 2, START, END, 902]), max_size=30),
    st.integers(0, 30),
    st.sampled_from([(END,), (END, 902), (902, END, 902)]),
)
def test_bursts_do_not_change_the_count_of_thinking_tokens(tokens, at, close):
    markers = Markers((START,), (END,), close=close)
    whole, parts = (ThinkingCount(markers, [1, START], 20) for _ in range(2))
    whole.advance(tokens)
    parts.advance(tokens[:at])
    parts.advance(tokens[at:])
    assert whole.room == parts.room


def test_a_request_proposes_nothing_across_its_thinking_budget():
    text = list(range(10, 40))
    state = RequestState(
        SpeculationSettings(), MARKERS, [*text, START, 7], thinking_budget=10
    )
    state.advance(text[:4], 0)
    assert state.propose(32) == text[4:7]  # 5 tokens thought
    state.advance(text[4:7], 0)
    assert state.propose(32) == []
    state.advance([END, *text[10:14]], 0)
    assert len(state.propose(32)) > 3


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([], []),
        ([1, 2, 3], [1, 2, 3]),
        ([1, 7, 3], [1, 7]),  # what stops is kept
        ([7, 7], [7]),
        ([1, 10, 3], [1]),  # what the vocabulary does not hold is not
        ([10], []),
        ([9], [9]),
        ([0, -1, 3], [0]),
        ([1, 10, 7], [1]),
        ([1, 7, 10], [1, 7]),
    ],
)
def test_cut_after_a_stop_and_before_a_foreign_token(tokens, expected):
    assert cut(tokens, {7, 8}, vocab_size=10) == expected


def test_a_foreign_token_is_left_out_even_if_it_stops():
    assert cut([1, 12, 2], {12}, vocab_size=10) == [1]


@given(
    st.lists(st.integers(-2, 14), max_size=20),
    st.sets(st.integers(-2, 14), max_size=4),
    st.integers(0, 12),
)
def test_cut_keeps_the_longest_beginning_that_may_be_proposed(tokens, stops, vocab):
    kept = cut(tokens, stops, vocab)
    assert kept == tokens[: len(kept)]
    assert all(0 <= token < vocab for token in kept)
    assert not any(token in stops for token in kept[:-1])
    if len(kept) < len(tokens):
        stopped = bool(kept) and kept[-1] in stops
        assert stopped or not 0 <= tokens[len(kept)] < vocab


@pytest.mark.parametrize("tokens", [array("i", [1, 2, 7]), [Token(1), Token(2), 7]])
def test_cut_returns_python_ints(tokens):
    kept = cut(tokens, frozenset({Token(7)}), vocab_size=10)
    assert kept == [1, 2, 7]
    assert all(type(token) is int for token in kept)
    assert json.dumps(kept) == "[1, 2, 7]"


def test_cut_copies():
    tokens = [1, 2]
    cut(tokens, (), 10).append(3)
    assert tokens == [1, 2]
