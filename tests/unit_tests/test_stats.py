"""Speculation statistics of a plain answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from langchain_ssr.sources import SOURCES
from langchain_ssr.stats import SpeculationStats, Timing


def usage(completion: int, reasoning: int | None = None) -> dict:
    details = None if reasoning is None else {"reasoning_tokens": reasoning}
    return {"completion_tokens": completion, "completion_tokens_details": details}


def test_off_counts_one_step_for_each_token():
    stats = SpeculationStats.off("disabled", usage(10, 4), None)
    assert (stats.mode, stats.reason) == ("off", "disabled")
    assert (stats.num_reasoning_tokens, stats.num_answer_tokens) == (4, 6)
    assert (stats.num_reasoning_steps, stats.num_answer_steps) == (4, 6)
    assert stats.num_saved_steps == 0
    assert stats.speculative_decoding is None
    assert stats.drafts == []


@pytest.mark.parametrize("wire", [{}, usage(0), usage(0, 0)])
def test_off_without_tokens(wire):
    stats = SpeculationStats.off("no_reasoning", wire, None)
    assert (stats.num_reasoning_tokens, stats.num_answer_tokens) == (0, 0)


def test_off_without_details_counts_all_as_answer():
    assert SpeculationStats.off("disabled", usage(5), None).num_answer_tokens == 5


def test_off_reads_the_times_it_knows():
    metrics = {"queue_time_ms": 1.5, "generation_time_ms": 20, "num_preemptions": 1}
    stats = SpeculationStats.off("disabled", {}, metrics)
    assert stats.timing == Timing(queue_time_ms=1.5, generation_time_ms=20.0)


@given(st.integers(0, 1000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_steps_and_saved_steps_are_the_output_tokens(counts):
    completion, reasoning = counts
    stats = SpeculationStats.off("disabled", usage(completion, reasoning), None)
    steps = stats.num_reasoning_steps + stats.num_answer_steps
    assert steps + stats.num_saved_steps == completion
    assert stats.num_reasoning_tokens + stats.num_answer_tokens == completion
    dumped = stats.model_dump(mode="json")
    assert SpeculationStats.model_validate(json.loads(json.dumps(dumped))) == stats


def test_schema_names_every_source_and_its_version():
    dumped = SpeculationStats().model_dump(mode="json")
    assert dumped["schema_version"] == 1
    assert tuple(dumped["sources"]) == SOURCES
    nothing = {"num_draft_tokens": 0, "num_accepted_draft_tokens": 0}
    assert all(source == nothing for source in dumped["sources"].values())


def test_sources_are_not_shared():
    SpeculationStats().sources["prompt"].num_draft_tokens = 5
    assert SpeculationStats().sources["prompt"].num_draft_tokens == 0


@pytest.mark.parametrize("field", [{"nonsense": 1}, {"reason": "why not"}])
def test_unknown_fields_and_reasons_are_refused(field):
    with pytest.raises(ValidationError):
        SpeculationStats(**field)


def test_line_for_a_person():
    assert str(SpeculationStats.off("disabled", usage(10, 4), None)) == (
        "speculation off, disabled: 10 tokens (4 reasoning) in 10 steps, 0 saved"
    )
    assert str(SpeculationStats(mode="ssr", num_saved_steps=3)) == (
        "speculation ssr: 0 tokens (0 reasoning) in 0 steps, 3 saved"
    )


def test_steps_saved_by_vllms_own_method_are_counted():
    usage = {
        "completion_tokens": 100,
        "completion_tokens_details": {"reasoning_tokens": 70},
    }
    block = {"num_accepted_draft_tokens": 40, "num_spec_steps": 9}
    told = {"speculative_decoding": {**block, "per_step_accepted": None}}
    stats = SpeculationStats.off("disabled", usage, told)
    assert stats.speculative_decoding == block  # as streams tell it, without nulls
    assert (stats.num_reasoning_steps, stats.num_answer_steps) == (60, 0)
    assert stats.num_saved_steps == 40


def test_only_detailed_statistics_hold_spans():
    told = SpeculationStats().to_dict()
    assert "spans" not in told
    assert "timeline" not in told
    assert SpeculationStats(spans=[["decoded", 2]]).to_dict()["spans"]
