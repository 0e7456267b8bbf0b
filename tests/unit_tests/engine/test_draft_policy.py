"""Drafts that do not pay are given up, and tried again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.draft_policy import (
    MIN_REQUESTS,
    MOST_MODELS,
    TRY_AGAIN,
    DraftPolicies,
    DraftPolicy,
)
from langchain_ssr.engine.step_cost import DEFAULT, StepCost

PAYS, COSTS = (300, 400), (4, 200)
"""Saved steps and computed tokens: a long answer, and one of a few tokens."""


def learned(*requests) -> DraftPolicy:
    policy = DraftPolicy(StepCost())
    for request in requests:
        policy.record(*request)
    return policy


def test_without_experience_requests_draft():
    assert DraftPolicy(StepCost()).wants_drafts()
    assert learned(*[COSTS] * (MIN_REQUESTS - 1)).wants_drafts()


def test_where_drafts_pay_they_go_on():
    policy = learned(*[PAYS] * 50)
    assert all(policy.wants_drafts() for _ in range(50))
    assert policy.gain == pytest.approx(300 - DEFAULT * 400)


def test_where_they_do_not_one_request_in_many_tries_again():
    policy = learned(*[COSTS] * MIN_REQUESTS)
    asked = [policy.wants_drafts() for _ in range(5 * TRY_AGAIN)]
    assert sum(asked) == 5
    assert not any(asked[: TRY_AGAIN - 1])


def test_what_pays_again_is_taken_up_again():
    policy = learned(*[COSTS] * 50)
    assert not policy.wants_drafts()
    policy.record(*PAYS)
    assert policy.wants_drafts()


def test_of_mixed_requests_the_sum_counts():
    assert learned(*[PAYS, COSTS, COSTS] * 20).wants_drafts()


def test_costly_tokens_speak_against_drafts():
    cost = StepCost()
    policy = DraftPolicy(cost)
    for num_tokens in [1, 9, 33] * 100:
        cost.record(num_tokens, 0.01 * num_tokens)  # as good as no batching
    for _ in range(MIN_REQUESTS):
        policy.record(*PAYS)
    assert not policy.wants_drafts()


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 50_000)), min_size=1))
def test_the_gain_stays_between_the_best_and_the_worst(requests):
    gains = [saved - DEFAULT * tokens for saved, tokens in requests]
    gain = learned(*requests).gain
    assert min(gains) - 1e-6 <= gain <= max(gains) + 1e-6


class TestModels:
    def test_each_learns_for_itself(self):
        policies = DraftPolicies()
        for _ in range(MIN_REQUESTS):
            policies.of("terse").record(*COSTS)
            policies.of(None).record(*PAYS)
        assert not policies.of("terse").wants_drafts()
        assert policies.of(None).wants_drafts()
        assert policies.of("new").wants_drafts()

    def test_they_share_the_cost_of_a_step(self):
        policies = DraftPolicies()
        gains = []
        for name in (None, "adapter"):
            for num_tokens in [1, 9, 33] * 100:
                policies.cost.record(num_tokens, 0.01 * num_tokens)
            policies.of(name).record(*PAYS)
            gains.append(policies.of(name).gain)
        assert gains == [pytest.approx(300 - policies.cost.token * 400)] * 2
        assert policies.cost.token > DEFAULT

    def test_the_longest_unused_is_forgotten(self):
        policies = DraftPolicies()
        policies.of(None).record(*PAYS)
        policies.of("old").record(*PAYS)
        for number in range(3 * MOST_MODELS):
            policies.of(None)
            policies.of(f"adapter-{number}")
        assert policies.of(None).gain > 0
        assert policies.of("old").gain == 0
