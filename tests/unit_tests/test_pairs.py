"""The all-pairs generator against a search through all rows."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.exactness.pairs import all_pairs, is_forbidden

SMALL = st.dictionaries(
    st.sampled_from("abcde"),
    st.lists(st.sampled_from("12345"), min_size=1, max_size=4, unique=True),
    min_size=2,
    max_size=4,
)


@st.composite
def designs(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[dict[str, Any]]]:
    axes = draw(SMALL)
    combination = st.dictionaries(
        st.sampled_from(sorted(axes)),
        st.sets(st.sampled_from("12345"), min_size=1, max_size=3),
        min_size=1,
        max_size=3,
    )
    return axes, draw(st.lists(combination, max_size=4))


def pairs_of(rows: list[dict[str, str]]) -> set[frozenset[tuple[str, str]]]:
    return {
        frozenset(pair)
        for row in rows
        for pair in itertools.combinations(row.items(), 2)
    }


def every_row(axes: dict[str, list[str]]) -> list[dict[str, str]]:
    return [
        dict(zip(axes, values, strict=True))
        for values in itertools.product(*axes.values())
    ]


@given(designs())
def test_every_possible_pair_is_in_a_row_and_nothing_forbidden(design: Any) -> None:
    axes, forbidden = design
    possible = [row for row in every_row(axes) if not is_forbidden(row, forbidden)]
    rows = all_pairs(axes, forbidden)
    assert all(row in possible for row in rows)
    assert pairs_of(rows) == pairs_of(possible)


@given(designs())
def test_each_row_adds_a_pair(design: Any) -> None:
    rows = all_pairs(*design)
    for number, row in enumerate(rows):
        assert pairs_of([row]) - pairs_of(rows[:number])


@given(SMALL)
def test_the_same_again(axes: dict[str, list[str]]) -> None:
    assert all_pairs(axes) == all_pairs(dict(axes))


def test_far_fewer_rows_than_combinations() -> None:
    axes = {axis: list("12345") for axis in "abcdefgh"}
    assert 25 <= len(all_pairs(axes)) <= 50  # of 390,625


def test_a_part_of_a_row_holds_no_combination_of_more() -> None:
    forbidden = [{"a": {"1"}, "b": {"2", "3"}}]
    assert not is_forbidden({"a": "1"}, forbidden)
    assert not is_forbidden({"a": "1", "b": "4"}, forbidden)
    assert is_forbidden({"a": "1", "b": "3", "c": "5"}, forbidden)
