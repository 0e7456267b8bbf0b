"""When to draft."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.budget import DraftBudget
from langchain_ssr.settings import SpeculationSettings

lists = st.sets(st.integers(1, 200), min_size=1, max_size=12).map(sorted)


def budget(draft_budget="auto", **settings):
    return DraftBudget(SpeculationSettings(draft_budget=draft_budget, **settings))


def positions(draft_budget="auto", *, until=100_000, step=1, **settings):
    """All positions of a request that thinks `step` tokens at a time."""
    of = budget(draft_budget, **settings)
    return [due for n in range(0, until, step) if (due := of.due(n)) is not None]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [128, 256, 512, 1024, 2048, 4096, 8192, 16384]),
        ({"max_drafts": 3}, [128, 256, 512]),
        ({"draft_interval": 100, "max_drafts": 3}, [128, 228, 328]),
        ({"iterative": False}, [128]),
        ({"iterative": False, "draft_interval": 10}, [128]),
        ({"draft_budget": 50}, [50 * n for n in range(1, 9)]),
        ({"draft_budget": 50, "draft_interval": 7, "max_drafts": 3}, [50, 57, 64]),
        ({"draft_budget": 50, "iterative": False}, [50]),
        ({"draft_budget": 1, "max_drafts": 3}, [1, 2, 3]),
        ({"draft_budget": [3]}, [3]),
        ({"draft_budget": [3, 10, 700]}, [3, 10, 700]),
        ({"draft_budget": list(range(10, 22))}, list(range(10, 22))),
        ({"max_drafts": 0}, []),
        ({"draft_budget": 50, "max_drafts": 0}, []),
        ({"max_drafts": 0, "iterative": False}, []),
    ],
)
def test_positions_are_those_that_the_settings_say(given, expected):
    assert positions(**given) == expected


def test_nothing_is_due_before_the_first_position():
    of = budget(50)
    assert of.due(0) is None
    assert of.due(49) is None
    assert of.due(50) == 50


def test_a_position_is_due_once():
    of = budget([5, 9])
    assert [of.due(n) for n in (5, 5, 8, 9, 9, 100)] == [5, None, None, 9, None, None]


def test_several_positions_in_one_burst_are_one_draft_at_the_latest():
    of = budget([5, 6, 7, 20])
    assert [of.due(n) for n in (4, 19, 20)] == [None, 7, 20]
    assert budget().due(100_000) == 16384


@given(lists, st.lists(st.integers(0, 60), max_size=40))
def test_due_is_the_latest_position_that_a_burst_passed(expected, sizes):
    of = budget(expected)
    now, due = 0, []
    for size in sizes:
        passed = [p for p in expected if now < p <= now + size]
        now += size
        found = of.due(now)
        assert found == max(passed, default=None)
        due += [found] if found else []
    assert all(a < b for a, b in pairwise(due))


@given(
    st.one_of(st.just("auto"), st.integers(1, 50)),
    st.one_of(st.none(), st.integers(1, 50)),
    st.booleans(),
    st.integers(0, 5),
    st.integers(1, 30),
)
def test_there_are_at_most_max_drafts_and_they_ascend(
    draft_budget, interval, iterative, most, step
):
    found = positions(
        draft_budget,
        until=10_000,
        step=step,
        draft_interval=interval,
        iterative=iterative,
        max_drafts=most,
    )
    assert len(found) <= (most if iterative else min(1, most))
    assert all(a < b for a, b in pairwise(found))
    if step == 1:
        assert len(found) == (most if iterative else min(1, most))


def test_without_drafts_nothing_is_ever_due():
    assert budget(max_drafts=0).due(100_000) is None


def test_auto_may_begin_elsewhere_and_go_on_with_other_positions():
    of = DraftBudget(SpeculationSettings(), 32)
    assert [of.due(n) for n in (31, 32, 70)] == [None, 32, 64]
    of.follow([32, 64, 70, 512, 1024])
    assert [of.due(n) for n in (128, 511, 600, 5000)] == [None, None, 512, 1024]
    assert of.due(10**6) is None


@given(lists, lists, st.integers(0, 200))
def test_what_was_passed_is_not_due_again(first, other, now):
    of = budget(first)
    of.due(now)
    of.follow(other)
    found = [due for n in range(now, 201) if (due := of.due(n)) is not None]
    assert found == [one for one in other if one > now]


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, 8),
        ({"max_drafts": 3}, 3),
        ({"iterative": False}, 1),
        ({"max_drafts": 0}, 0),
    ],
)
def test_the_most_drafts_are_those_of_the_settings(settings, most):
    assert budget(**settings).most == most


def test_nothing_is_due_after_the_last_position():
    of = budget([5, 9])
    assert [of.due(n) for n in (8, 9, 10_000)] == [5, 9, None]


@pytest.mark.parametrize(("draft_budget", "most"), [("auto", 20_000), (100, 200_000)])
def test_a_very_high_number_of_drafts_costs_no_memory(draft_budget, most):
    # "As many as you like" must not lay out numbers that no request reaches.
    settings = SpeculationSettings(draft_budget=draft_budget, max_drafts=most)
    tracemalloc.start()
    try:
        DraftBudget(settings)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
