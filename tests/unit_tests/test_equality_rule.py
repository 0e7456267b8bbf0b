"""The tie rule of the equality tests: it must find a difference, and forgive a tie."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.stats import SpeculationStats
from tests.exactness.asking import Answer, Case, Choice
from tests.exactness.cell import Cell
from tests.exactness.equality import TIE, compare, describe, first_difference

CLOSE, FAR = TIE / 2, 2 * TIE
COUNTS = "num_draft_tokens", "num_accepted_draft_tokens"
STATS = SpeculationStats(num_answer_tokens=2, num_answer_steps=2).to_dict()
TOKENS = st.lists(st.integers(0, 3), max_size=8)


def choice(token_ids: list[int], gap: float = 1.0, **other: Any) -> Choice:
    """Make a choice; `gap` is how much likelier its tokens are than token 9."""
    fields = {
        "finish_reason": "length",
        "stop_reason": None,
        "reasoning": "r",
        "content": "c",
        "calls": [],
        "logprobs": [{token: -1.0, 9: -1.0 - gap} for token in token_ids],
    }
    return Choice(token_ids, **fields | other)


def answer(*choices: Choice) -> Answer:
    return Answer(list(choices), {})


@given(TOKENS, TOKENS)
def test_equal_means_equal_tokens(one: list[int], other: list[int]) -> None:
    outcome = compare(answer(choice(one)), answer(choice(other)))
    assert (outcome == "equal") == (one == other)


@given(TOKENS, TOKENS)
def test_the_first_difference(one: list[int], other: list[int]) -> None:
    at = first_difference(one, other)
    assert one[:at] == other[:at]
    assert one[at : at + 1] != other[at : at + 1] or one == other


@pytest.mark.parametrize(
    ("other", "gap", "outcome"),
    [
        ([1, 9, 2], CLOSE, "tie"),
        ([1, 9], CLOSE, "tie"),
        ([1, 9, 2], FAR, "different"),
        ([1, 8, 2], CLOSE, "different"),  # not among the likeliest
        ([1, 2], CLOSE, "different"),  # too short
        ([1, 2, 3, 4], CLOSE, "different"),  # too long
        ([1, 2, 3], FAR, "equal"),
    ],
)
def test_the_plain_engine_says_what_is_a_tie(
    other: list[int], gap: float, outcome: str
) -> None:
    plain = answer(choice([1, 2, 3], gap))
    assert compare(plain, answer(choice(other))) == outcome


@pytest.mark.parametrize(
    "changed",
    [
        {"finish_reason": "stop"},
        {"stop_reason": "x"},
        {"reasoning": None},
        {"content": "d"},
        {"calls": [("add", "{}")]},
    ],
)
def test_same_tokens_must_read_the_same(changed: dict[str, Any]) -> None:
    one = choice([1, 2])
    assert compare(answer(one), answer(dataclasses.replace(one, **changed))) == (
        "different"
    )


def test_the_worst_choice_counts() -> None:
    plain = answer(choice([1, 2]), choice([1, 2], CLOSE), choice([1, 2]))
    same, tie, wrong = choice([1, 2]), choice([9, 2]), choice([3, 2])
    assert compare(plain, answer(same, same, same)) == "equal"
    assert compare(plain, answer(same, tie, same)) == "tie"
    assert compare(plain, answer(same, tie, wrong)) == "different"
    assert compare(plain, answer(same, same)) == "different"


def test_logprobs_count_where_they_mean_the_same() -> None:
    plain = answer(choice([1, 2]))
    first = {1: -1.0, 9: -2.0}
    near = answer(choice([1, 2], logprobs=[first, {2: -1.0 - CLOSE, 9: -2.0}]))
    far = answer(choice([1, 2], logprobs=[first, {2: -1.0 - FAR, 9: -2.0}]))
    none = answer(choice([1, 2], logprobs=[]))
    assert compare(plain, far) == "equal"
    assert compare(plain, far, logprobs=True) == "different"
    assert compare(plain, near, logprobs=True) == "equal"
    assert compare(plain, none) == "equal"
    assert compare(plain, none, logprobs=True) == "different"
    assert compare(none, plain, logprobs=True) == "different"


@pytest.mark.parametrize(
    ("others", "outcome"),
    [
        ({9: -2.0, 8: -3.0}, "equal"),
        ({9: -2.0 - FAR, 8: -3.0}, "different"),
        ({9: -2.0, 7: -3.0 - CLOSE}, "equal"),  # as likely, so either may be the last
        ({9: -2.0, 7: -2.5}, "different"),
        ({8: -3.0, 7: -3.5}, "different"),  # the second is missing
    ],
)
def test_logprobs_of_the_likeliest_others_count(
    others: dict[int, float], outcome: str
) -> None:
    plain = answer(choice([1], logprobs=[{1: -1.0, 9: -2.0, 8: -3.0}]))
    other = answer(choice([1], logprobs=[{1: -1.0, **others}]))
    assert compare(plain, other, logprobs=True) == outcome


@pytest.mark.parametrize(
    ("own", "its", "outcome"),
    [
        ({1: 0.0, 8: -115.0}, {1: 0.0, 7: -9999.0}, "equal"),
        ({1: 0.0, 8: -115.0, 6: -9999.0}, {1: 0.0, 8: -9999.0, 7: -130.0}, "equal"),
        ({1: 0.0, 8: -70.0}, {1: 0.0, 8: -9999.0}, "different"),
    ],
)
def test_what_float32_has_no_probability_for_is_not_told_apart(
    own: dict[int, float], its: dict[int, float], outcome: str
) -> None:
    plain, other = (answer(choice([1], logprobs=[each])) for each in (own, its))
    assert compare(plain, other, logprobs=True) == outcome


def test_a_request_without_logprobs_is_compared_without() -> None:
    plain = answer(choice([1, 2]))
    bare = Answer([choice([1, 2], logprobs=[])], STATS)
    silent = Case("hello", ssr={"extra_body": {"logprobs": False}})
    for case, outcome in ((silent, "equal"), (Case("hello"), "different")):
        cell = Cell("qwen3", "roomy")
        cell.add(case, plain, bare, end="budget, length", logprobs=True)
        assert getattr(cell, outcome) == 1


def test_a_cell_counts_what_requests_had_in_them() -> None:
    block: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    block["num_spec_steps"] = 3
    block["acceptance_histogram"] = [2, 0, 1, 0]
    stats = {**STATS, "mode": "ssr", "speculative_decoding": block}
    drafts = [{"num_tokens": n, "finish_reason": "cut"} for n in (0, 3)]
    cell = Cell("qwen3", "roomy")
    for case, told in (
        (Case("a"), {**stats, "drafts": drafts}),
        (Case("b", {"temperature": 1.0}), {**stats, "drafts": drafts[:1]}),
        (Case("c"), STATS),
    ):
        same = choice([1, 2])
        plain, other = answer(same), Answer([same], told)
        cell.add(case, plain, other, end="budget, length", logprobs=False)
    assert (cell.speculated, cell.greedy, cell.drafted, cell.longest) == (2, 1, 1, 2)
    assert cell.drafts == {"cut": 3}
    assert cell.wrong_statistics == []


def test_an_error_is_a_difference() -> None:
    plain, error = answer(choice([1])), RuntimeError("no answer")
    assert compare(plain, error) == "different"
    cell = Cell("qwen3", "roomy")
    cell.add(Case("hello"), plain, error, end="budget, length", logprobs=False)
    assert (cell.requests, cell.different) == (1, 1)
    assert "no answer" in cell.different_cases[0]
    assert cell.ends == {"budget, length": 1}


def test_a_description_shows_where_and_why() -> None:
    text = describe(
        Case("hello", {"max_tokens": 3}),
        answer(choice([1, 2, 3], FAR)),
        answer(choice([1, 9, 3])),
    )
    for part in ("hello", "max_tokens", "token 1", "[1, 2, 3]", "[1, 9, 3]", "-1.002"):
        assert part in text
