"""When, how often and how long to draft, learned from simulated requests."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.budget import AUTO_FIRST
from langchain_ssr.engine.draft_policy import (
    EARLIEST,
    LAST,
    MIN_REQUESTS,
    MOST_MODELS,
    SHORTEST,
    TRY_AGAIN,
    DraftPolicies,
    DraftPolicy,
    Plan,
)
from langchain_ssr.engine.served import DraftUse, Served
from langchain_ssr.engine.step_cost import DEFAULT, StepCost
from tests.unit_tests.engine.workloads import Workload, cost_of, run

WHOLE = Plan(tuple(AUTO_FIRST << i for i in range(8)))
EARLY = Workload((300, 700, 1200), 200, lambda _: 0.9)
LATE = Workload((700, 1100, 1500), 200, lambda position: 0.9 * (position >= 512))
NEVER = Workload((300, 700, 1200), 200, lambda _: 0.0)
SHORT = Workload((60, 90, 110), 40, lambda _: 0.9)
PAYS = DraftUse(128, 300, 10, 400)
COSTS = DraftUse(128, 4, 1, 200)


def learned(*drafts: DraftUse, cost: StepCost | None = None) -> DraftPolicy:
    """Learn from requests with one draft each, and nothing else to learn from."""
    policy = DraftPolicy(cost or StepCost())
    for draft in drafts:
        policy.record(Served(None, 0, 0, 0, (draft,)))
    return policy


def total(all_served) -> float:
    return sum(cost_of(request, DEFAULT) for request in all_served)


def total_of(workload: Workload, plan: Plan, num: int) -> float:
    return total(workload.serve(number, plan) for number in range(num))


class TestWorkloads:
    @pytest.mark.parametrize("workload", [EARLY, LATE, NEVER, SHORT])
    def test_the_first_requests_have_the_whole_schedule(self, workload):
        plans, _ = run(workload, DraftPolicy(StepCost()), MIN_REQUESTS)
        assert plans == [WHOLE] * MIN_REQUESTS

    def test_where_drafts_pay_early_they_begin_early(self):
        plans, all_served = run(EARLY, DraftPolicy(StepCost()), 300)
        assert {plan.positions[0] for plan in plans} == {AUTO_FIRST}
        assert total(all_served) <= total_of(EARLY, WHOLE, 300)
        assert total(all_served) < 0.6 * total_of(EARLY, Plan(()), 300)

    def test_where_only_late_drafts_pay_the_first_is_late(self):
        plans, all_served = run(LATE, DraftPolicy(StepCost()), 300)
        later = plans[3 * MIN_REQUESTS :]
        first = [plan.positions[0] for plan in later]
        assert set(first) == {128, 512}
        assert first.count(128) == pytest.approx(len(later) / TRY_AGAIN, abs=1)
        assert total(all_served) < total_of(LATE, WHOLE, 300)
        assert total(all_served[100:]) < 0.99 * total_of(LATE, WHOLE, 200)

    def test_where_none_pay_nearly_none_are_made(self):
        plans, all_served = run(NEVER, DraftPolicy(StepCost()), 20 * TRY_AGAIN)
        drafted = [bool(request.drafts) for request in all_served]
        settled = drafted[-10 * TRY_AGAIN :]
        assert sum(settled) == 10
        assert not {128, 256, 512} & set(plans[-1].positions[:1])
        overhead = total(all_served) - total_of(NEVER, Plan(()), len(all_served))
        assert overhead < 0.3 * (
            total_of(NEVER, WHOLE, len(all_served))
            - total_of(NEVER, Plan(()), len(all_served))
        )

    def test_what_pays_again_is_taken_up_again(self):
        policy = DraftPolicy(StepCost())
        run(NEVER, policy, 50)
        plans, _ = run(EARLY, policy, 20 * TRY_AGAIN)
        assert plans[0].positions[0] > 1000
        assert [plan.positions[0] for plan in plans[-TRY_AGAIN:]] == [128] * TRY_AGAIN

    def test_what_others_have_as_well_is_not_a_draft_s_gain(self):
        rich = dataclasses.replace(EARLY, reasoning=(250,), answer=60, others=30.0)
        policy, without = DraftPolicy(StepCost()), DraftPolicy(StepCost())
        for number in range(MIN_REQUESTS):
            policy.record(rich.serve(number, Plan(())))
        run(rich, policy, 50)
        run(dataclasses.replace(rich, others=0.0), without, 50)
        assert policy.others == pytest.approx(29, abs=3)
        assert policy.gain(128) < 0 < without.gain(128)

    def test_where_reasoning_is_short_drafts_begin_before_its_end(self):
        plans, all_served = run(SHORT, DraftPolicy(StepCost()), 100)
        assert plans[-1].positions[0] == 32
        assert not all_served[0].drafts
        assert total(all_served[50:]) < 0.8 * total_of(SHORT, WHOLE, 50)

    def test_drafts_that_ramble_are_cut_at_the_length_of_answers(self):
        workload = dataclasses.replace(EARLY, answer=100, rambles=5)
        plans, all_served = run(workload, DraftPolicy(StepCost()), 100)
        assert plans[-1].max_draft_tokens == 128
        assert total(all_served) < total_of(workload, WHOLE, 100)


class TestPositions:
    def test_where_drafts_pay_they_go_on(self):
        policy = learned(*[PAYS] * 50)
        assert all(policy.plan(8) == WHOLE for _ in range(50))
        assert policy.gain(128) == pytest.approx(300 - DEFAULT * 400)

    def test_where_they_do_not_one_request_in_many_tries_again(self):
        policy = learned(*[COSTS] * MIN_REQUESTS)
        plans = [policy.plan(8) for _ in range(5 * TRY_AGAIN)]
        assert [i for i, plan in enumerate(plans, 1) if plan == WHOLE] == [
            TRY_AGAIN * i for i in range(1, 6)
        ]
        assert plans[0].positions == tuple(256 << i for i in range(8))

    def test_too_few_do_not_decide(self):
        assert learned(*[COSTS] * (MIN_REQUESTS - 1)).plan(8) == WHOLE

    def test_one_draft_only_is_at_the_first_position_that_pays(self):
        policy = learned(*[COSTS] * MIN_REQUESTS)
        assert policy.plan(1).positions == (256,)
        assert policy.plan(0).positions == ()

    def test_of_mixed_requests_the_mean_counts(self):
        assert learned(*[PAYS, COSTS, COSTS] * 20).plan(8) == WHOLE

    def test_costly_tokens_speak_against_drafts(self):
        cost = StepCost()
        for num_tokens in [1, 9, 33] * 100:
            cost.record(num_tokens, 0.01 * num_tokens)  # as good as no batching
        policy = learned(*[PAYS] * MIN_REQUESTS, cost=cost)
        assert policy.plan(8).positions[0] == 256


class TestLengths:
    @pytest.mark.parametrize(
        ("length", "first"),
        [(1, 16), (30, 16), (64, 16), (65, 32), (128, 32), (129, 128), (5000, 128)],
    )
    def test_the_first_position_follows_the_reasoning(self, length, first):
        policy = DraftPolicy(StepCost())
        for number in range(MIN_REQUESTS):
            assert policy.first == AUTO_FIRST, number
            policy.record(Served(length, 0, 0, 0))
        assert policy.first == first

    @pytest.mark.parametrize(
        ("answers", "most"),
        [
            ([10] * 20, SHORTEST),
            ([200] * 20, 256),
            ([60] * 40 + [2000] + [60] * 10, 2048),  # one long: half of the tokens
            ([2000] + [60] * 1000, SHORTEST),
        ],
    )
    def test_drafts_are_as_long_as_answers(self, answers, most):
        policy = DraftPolicy(StepCost())
        assert policy.max_draft_tokens is None
        for answer in answers:
            policy.record(Served(None, answer, 0, 0))
        assert policy.max_draft_tokens == most


counts = st.integers(0, 5000)
drafts = st.builds(
    DraftUse, st.sampled_from([16, 32, 128, 256, 512, 1024]), counts, counts, counts
)
requests = st.builds(
    Served,
    st.one_of(st.none(), counts),
    counts,
    counts,
    counts,
    st.lists(drafts, max_size=3).map(tuple),
)


@given(st.lists(st.tuples(requests, st.integers(0, 40)), max_size=40))
def test_every_plan_is_a_schedule_and_follows_from_what_was_served(history):
    one, other = DraftPolicy(StepCost()), DraftPolicy(StepCost())
    for request, most in history:
        plan = one.plan(most)
        assert plan == other.plan(most)
        positions = plan.positions
        assert len(positions) <= most
        assert list(positions) == sorted(set(positions))
        assert all(EARLIEST <= position <= LAST for position in positions)
        assert plan.max_draft_tokens is None or plan.max_draft_tokens >= SHORTEST
        one.record(request)
        other.record(request)


@given(st.lists(st.tuples(counts, st.integers(0, 99), counts), min_size=1))
def test_the_gain_stays_between_the_best_and_the_worst(each):
    gains = [accepted - DEFAULT * computed for accepted, _, computed in each]
    gain = learned(*[DraftUse(128, *one) for one in each]).gain(128)
    assert min(gains) - 1e-6 <= gain <= max(gains) + 1e-6


class TestModels:
    def test_each_learns_for_itself(self):
        policies = DraftPolicies()
        for _ in range(MIN_REQUESTS):
            policies.of("terse").record(Served(None, 0, 0, 0, (COSTS,)))
            policies.of(None).record(Served(None, 0, 0, 0, (PAYS,)))
        assert policies.of("terse").plan(8).positions[0] == 256
        assert policies.of(None).plan(8) == WHOLE
        assert policies.of("new").plan(8) == WHOLE

    def test_they_share_the_cost_of_a_step(self):
        policies = DraftPolicies()
        gains = []
        for name in (None, "adapter"):
            for num_tokens in [1, 9, 33] * 100:
                policies.cost.record(num_tokens, 0.01 * num_tokens)
            policies.of(name).record(Served(None, 0, 0, 0, (PAYS,)))
        gains = [policies.of(name).gain(128) for name in (None, "adapter")]
        assert gains == [pytest.approx(300 - policies.cost.token * 400)] * 2
        assert policies.cost.token > DEFAULT

    def test_the_longest_unused_is_forgotten(self):
        policies = DraftPolicies()
        for name in (None, "old"):
            policies.of(name).record(Served(None, 0, 0, 0, (PAYS,)))
        for number in range(3 * MOST_MODELS):
            policies.of(None)
            policies.of(f"adapter-{number}")
        assert policies.of(None).gain(128) > 0
        assert policies.of("old").gain(128) == 0
