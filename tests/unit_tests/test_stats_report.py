"""Speculation statistics from the scheduler's report."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import DraftEnd, Markers
from langchain_ssr.engine.report import make_report
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.rendering.pieces import pieces_of
from langchain_ssr.settings import SpeculationSettings
from langchain_ssr.sources import SOURCES
from langchain_ssr.stats import SpeculationStats, Timing

START, END = 900, 901
counts = st.integers(0, 1000)


def usage(completion, reasoning):
    return {
        "completion_tokens": completion,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def report(**fields):
    nothing = {"num_draft_tokens": 0, "num_accepted_draft_tokens": 0}
    return {
        "schema_version": 1,
        "mode": "ssr",
        "reason": None,
        "num_reasoning_steps": 5,
        "num_answer_steps": 2,
        "sources": {name: dict(nothing) for name in SOURCES},
        "drafts": [],
        "overhead": {
            "num_draft_tokens": 0,
            "num_rejected_tokens": 0,
            "num_prefill_tokens": 0,
        },
        **fields,
    }


def real_report(level="detailed", *, failed=False):
    """The report of a request that thought, drafted and answered 4 tokens at once."""
    settings = SpeculationSettings(speculation_stats=level)
    state = RequestState(settings, Markers((START,), (END,)), [1, START])
    state.advance([2], 0)
    state.begin_draft(1, 10)
    state.extend_draft([5, 6, 7])
    state.end_draft(DraftEnd.STOP)
    state.advance([END], 0)
    assert state.propose(3) == [5, 6, 7]
    state.count_proposal(3, 3)
    state.advance([5, 6, 7, 8], 3)
    state.failed = failed
    # It leaves the engine as JSON.
    return json.loads(json.dumps(make_report(state)))


def dumped(stats):
    """The statistics as JSON, having come back unchanged from it."""
    text = json.dumps(stats.model_dump(mode="json"), allow_nan=False)
    assert SpeculationStats.model_validate_json(text) == stats
    return json.loads(text)


@given(counts, counts, counts, counts)
def test_steps_and_saved_steps_are_the_output_tokens(thought, said, one, other):
    stats = SpeculationStats.from_report(
        report(num_reasoning_steps=one, num_answer_steps=other),
        usage(thought + said, thought),
        {},
    )
    steps = stats.num_reasoning_steps + stats.num_answer_steps
    assert (stats.num_reasoning_steps, stats.num_answer_steps) == (one, other)
    assert steps + stats.num_saved_steps == thought + said
    assert (stats.num_reasoning_tokens, stats.num_answer_tokens) == (thought, said)
    dumped(stats)


def test_a_requests_report_becomes_statistics():
    given = real_report()
    stats = SpeculationStats.from_report(given, usage(6, 1), {})
    assert (stats.mode, stats.reason) == ("ssr", None)
    assert (stats.num_reasoning_steps, stats.num_answer_steps) == (2, 1)
    assert stats.num_saved_steps == 3
    assert stats.sources["draft_prefix"].num_accepted_draft_tokens == 3
    assert tuple(stats.sources) == SOURCES
    assert stats.overhead.num_draft_tokens == 3
    assert stats.overhead.num_prefill_tokens == 10
    assert stats.spans == [["decoded", 2], ["draft_prefix", 3], ["decoded", 1]]
    assert sum(number for _, number in stats.spans) == 6
    (draft,) = stats.drafts
    assert draft["finish_reason"] == "stop"
    assert draft["num_accepted_draft_tokens"] == 3
    timing = given.pop("timing")
    for name, value in dumped(stats).items():
        if name in given:
            assert value == given[name], name
    assert stats.timing.reasoning_time_ms == timing["reasoning_time_ms"] > 0
    assert stats.timing.time_to_first_draft_ms == timing["time_to_first_draft_ms"]
    assert stats.timing.answer_time_ms == timing["answer_time_ms"]


def test_statistics_do_not_change_the_report():
    given, before = real_report(), real_report()
    SpeculationStats.from_report(given, usage(6, 1), {})
    for report in (given, before):
        report["drafts"][0].pop("duration_ms")
        del report["timeline"], report["timing"]
    assert given == before


def test_a_summary_has_no_spans_and_no_timeline():
    stats = SpeculationStats.from_report(real_report("summary"), usage(6, 1), {})
    assert (stats.spans, stats.timeline) == (None, None)
    dumped(stats)


def test_a_failed_request_still_has_its_steps():
    given = real_report(failed=True)
    stats = SpeculationStats.from_report(given, usage(6, 1), {})
    assert (stats.mode, stats.reason) == ("off", "error")
    assert stats.num_saved_steps == 3
    dumped(stats)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("off", "disabled"),
        ("off", "hybrid_cpu"),
        ("ssr", "no_reasoning"),
        ("ssr", "busy"),
        ("ssr", "multimodal"),
        ("off", "n"),
        ("ssr", "clamped"),
    ],
)
def test_every_reason_of_the_scheduler_is_one_of_the_schema(mode, reason):
    given = report(mode=mode, reason=reason)
    stats = SpeculationStats.from_report(given, usage(7, 3), {})
    assert (stats.mode, stats.reason) == (mode, reason)
    dumped(stats)


def test_the_engines_own_block_and_times_are_passed_on():
    block = {"num_spec_steps": 3, "acceptance_histogram": [1, 2]}
    metrics = {
        "speculative_decoding": block,
        "queue_time_ms": 1,
        "generation_time_ms": 2.5,
        "num_preemptions": 0,
        "ssr": report(),
    }
    stats = SpeculationStats.from_report(report(), usage(7, 3), metrics)
    assert stats.speculative_decoding == block
    assert stats.timing == Timing(queue_time_ms=1.0, generation_time_ms=2.5)
    dumped(stats)


def test_without_metrics_there_is_no_block_and_no_time():
    stats = SpeculationStats.from_report(report(), usage(7, 3), {})
    assert stats.speculative_decoding is None
    assert stats.timing == Timing()


@pytest.mark.parametrize("wire", [{}, {"completion_tokens": 7}])
def test_tokens_are_counted_as_in_usage(wire):
    stats = SpeculationStats.from_report(report(), wire, {})
    assert stats.num_reasoning_tokens == 0
    assert stats.num_answer_tokens == wire.get("completion_tokens", 0)


def test_line_for_a_person():
    stats = SpeculationStats.from_report(real_report(), usage(6, 1), {})
    assert str(stats) == ("speculation ssr: 6 tokens (1 reasoning) in 3 steps, 3 saved")


@pytest.mark.parametrize(
    ("num_tokens", "kept"),
    [
        (7, [["decoded", 3], ["draft_prefix", 4]]),
        (5, [["decoded", 3], ["draft_prefix", 2]]),
        (3, [["decoded", 3]]),
    ],
)
def test_spans_leave_out_what_a_stop_string_has_cut_off(num_tokens, kept):
    spans = [["decoded", 3], ["draft_prefix", 4]]
    told = SpeculationStats.from_report(report(spans=spans), usage(num_tokens, 2), {})
    assert told.spans == kept


def test_texts_of_spans_end_where_the_spans_do():
    spans, texts = [["decoded", 3], ["draft_prefix", 4]], ["abc", ""]
    given = report(spans=spans, span_texts=texts)
    told = SpeculationStats.from_report(given, usage(3, 2), {})
    assert told.span_texts == ["abc"]
    assert dumped(told)["span_texts"] == ["abc"]
    assert SpeculationStats.from_report(given, usage(7, 2), {}).span_texts == texts


def test_steps_of_a_requests_pieces_are_its_steps():
    given = real_report() | {"span_texts": ["Hm", "one", "two"]}
    pieces = pieces_of(SpeculationStats.from_report(given, usage(6, 1), {}))
    assert [piece.phase for piece in pieces] == ["thinking", "answer", "answer"]
    assert [piece.num_steps for piece in pieces] == [2, 1, 0]
    steps = given["num_reasoning_steps"] + given["num_answer_steps"]
    assert sum(piece.num_steps for piece in pieces) == steps


# --- limits --------------------------------------------------------------------------


def clamped_report(*, tokens=(), reason=None):
    state = RequestState(SpeculationSettings(), Markers((START,), (END,)), [1, *tokens])
    state.reason = reason
    state.clamped = {"max_drafts": 2}
    return json.loads(json.dumps(make_report(state)))


def test_clamped_settings_are_told():
    stats = SpeculationStats.from_report(
        clamped_report(tokens=[START]), usage(9, 5), {}
    )
    assert (stats.mode, stats.reason) == ("ssr", "clamped")
    assert stats.to_dict()["clamped"] == {"max_drafts": 2}


@pytest.mark.parametrize("reason", ["busy", "disabled", "hybrid_cpu"])
def test_a_graver_reason_is_told_beside_what_was_clamped(reason):
    stats = SpeculationStats.from_report(clamped_report(reason=reason), usage(9, 5), {})
    assert (stats.reason, stats.clamped) == (reason, {"max_drafts": 2})


def test_nothing_clamped_is_not_mentioned():
    assert "clamped" not in real_report()
    stats = SpeculationStats.from_report(real_report(), usage(6, 2), {})
    assert "clamped" not in stats.to_dict()
