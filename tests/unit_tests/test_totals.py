"""Sums of speculation statistics."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ssr import SpeculationStats, SpeculationTotals
from langchain_ssr.totals import RATES, stats_of
from tests.unit_tests.ssr_backend import metrics_and_usage


def stats(number: int = 0) -> SpeculationStats:
    told = metrics_and_usage(number)
    return SpeculationStats.from_report(
        told["metrics"]["ssr"], told["usage"], told["metrics"]
    )


def message(number: int = 0, **metadata) -> AIMessage:
    told = {"id": f"r{number}", "speculation": stats(number).to_dict()}
    return AIMessage("", response_metadata={**told, **metadata})


def test_one_response_is_its_own_total():
    totals = SpeculationTotals.of(stats(1))
    assert (totals.num_responses, totals.num_ssr_responses) == (1, 1)
    assert (totals.num_reasoning_tokens, totals.num_answer_tokens) == (8, 15)
    assert (totals.num_reasoning_steps, totals.num_answer_steps) == (8, 4)
    assert totals.num_saved_steps == 11
    assert totals.num_drafts == 2
    assert (totals.num_draft_tokens, totals.num_accepted_draft_tokens) == (21, 11)
    assert totals.overhead.num_prefill_tokens == 1
    assert totals.reasons == {"busy": 1}
    assert totals.tokens_per_answer_step == 15 / 4
    assert totals.mean_acceptance_length == 1 + 11 / 3


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_every_count_is_the_sum_and_every_rate_the_quotient_of_sums(numbers):
    whole = SpeculationTotals().plus(stats(number) for number in numbers)
    parts = [stats(number) for number in numbers]
    for name in ("num_answer_tokens", "num_answer_steps", "num_saved_steps"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    for name in ("num_draft_tokens", "num_accepted_draft_tokens"):
        of_source = [getattr(part.sources["draft_prefix"], name) for part in parts]
        of_vllm = [part.speculative_decoding[name] for part in parts]
        assert getattr(whole, name) == sum(of_vllm)
        assert getattr(whole.sources["draft_prefix"], name) == sum(of_source)
    assert whole.reasons.get("busy", 0) == sum(number % 2 for number in numbers)
    tokens = sum(part.num_answer_tokens for part in parts)
    assert whole.tokens_per_answer_step == tokens / (4 * len(numbers))
    assert whole.draft_acceptance_rate == (
        whole.num_accepted_draft_tokens / whole.num_draft_tokens
    )


@given(*[st.integers(0, 50)] * 3)
def test_addition_is_associative_and_nothing_is_neutral(one, two, three):
    a, b, c = (SpeculationTotals.of(stats(number)) for number in (one, two, three))
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + SpeculationTotals() == a


def test_no_steps_give_no_rate():
    nothing = SpeculationTotals()
    assert [getattr(nothing, name) for name in RATES] == [None] * len(RATES)
    assert str(nothing) == (
        "0 responses, 0 with SSR: 0 tokens (0 reasoning) in 0 steps, 0 saved"
    )


def test_the_dictionary_is_json_and_is_read_back():
    totals = SpeculationTotals().plus([stats(1), stats(2)])
    told = totals.to_dict()
    assert told["tokens_per_answer_step"] == totals.tokens_per_answer_step
    again = json.loads(json.dumps(told, allow_nan=False))
    assert SpeculationTotals.model_validate(again) == totals
    assert SpeculationTotals.model_validate({}) == SpeculationTotals()


def test_line_for_a_person():
    assert str(SpeculationTotals().plus([stats(0), stats(1)])) == (
        "2 responses, 2 with SSR: 45 tokens (16 reasoning) in 24 steps, 21 saved; "
        "3.62 tokens per answer step; 51% of 41 proposed tokens accepted"
    )


def test_a_plain_engines_response_counts_its_steps():
    off = SpeculationStats.off("disabled", {"completion_tokens": 5}, None)
    totals = SpeculationTotals.of(off)
    assert (totals.num_responses, totals.num_ssr_responses) == (1, 0)
    assert totals.tokens_per_answer_step == 1
    assert totals.draft_acceptance_rate is None
    assert totals.reasons == {"disabled": 1}


def test_messages_of_one_response_count_once():
    found = list(stats_of([message(1), message(1), message(2)]))
    assert found == [("unknown", stats(1)), ("unknown", stats(2))]


def test_messages_without_an_id_are_told_apart_by_what_they_say():
    """langchain-core numbers messages that have no id."""
    messages = [message(number, id=None) for number in (1, 1, 2)]
    for number, one in enumerate(messages):
        one.id = f"lc_run--{number}"
    assert [one for _, one in stats_of(messages)] == [stats(1), stats(2)]


@pytest.mark.parametrize(
    "other",
    [
        HumanMessage("hi", response_metadata={"speculation": stats().to_dict()}),
        AIMessage("hi"),
        message(speculation=None),
        message(speculation={"of": "somebody else"}),
        message(speculation="yes"),
    ],
)
def test_other_messages_count_nothing(other):
    assert SpeculationTotals.of_messages([other]) == SpeculationTotals()


def test_a_cached_message_counts_nothing():
    free = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "total_cost": 0}
    cached = message().model_copy(update={"usage_metadata": free})
    assert list(stats_of([cached])) == []
    paid = message().model_copy(update={"usage_metadata": {**free, "total_cost": 1}})
    assert list(stats_of([paid])) == [("unknown", stats())]
