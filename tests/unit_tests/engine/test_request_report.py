"""What is reported of a request: counts that agree, reasons, spans, a timeline."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import Phase
from langchain_ssr.engine.report import make_report
from langchain_ssr.rendering.pieces import pieces_of
from langchain_ssr.sources import SOURCES, Source
from langchain_ssr.stats import SpeculationStats
from tests.unit_tests.engine.decoding import (
    CLOSED,
    END,
    FRESH,
    OPENED,
    START,
    accepted_by_source,
    decode,
    state,
)


def spans_are_cut_where_the_answer_begins(of, report) -> bool:
    begins = [
        event["num_tokens"]
        for event in report["timeline"]
        if event["event"] == "reasoning_ended"
    ]
    if not begins:
        return not (of.phase is Phase.ANSWER and of.lifecycle.has_reasoned)
    edges = [0, *itertools.accumulate(count for _, count in report["spans"])]
    return len(begins) == 1 and begins[0] in edges


def steps_of_pieces(report) -> int:
    told = SpeculationStats(
        spans=report["spans"],
        span_texts=[""] * len(report["spans"]),
        timeline=report["timeline"],
    )
    return sum(piece.num_steps for piece in pieces_of(told))


class TestReport:
    @given(
        st.sampled_from([OPENED, CLOSED, FRESH, [1, 2, 3, 0, 1, 2, *OPENED]]),
        st.lists(st.sampled_from([0, 1, 2, 3, START, END]), min_size=1, max_size=80),
        st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=30), max_size=4),
        st.sampled_from(["auto", 1, 5, [2, 3, 9]]),
        st.sampled_from([1, 4, 32]),
    )
    def test_counts_agree_with_each_other(self, prompt, output, drafts, budget, most):
        of = state(prompt, draft_budget=budget, num_speculative_tokens=most)
        accepted = decode(of, output, drafts)
        report = json.loads(json.dumps(make_report(of), allow_nan=False))
        bare = make_report(of, details=False)
        assert set(report) - set(bare) == {"spans", "timeline"}
        assert tuple(report["sources"]) == SOURCES == tuple(Source)
        counts = report["sources"].values()
        for c in counts:
            assert 0 <= c["num_accepted_draft_tokens"] <= c["num_draft_tokens"]
        assert sum(c["num_accepted_draft_tokens"] for c in counts) == accepted
        proposed = sum(c["num_draft_tokens"] for c in counts)
        assert report["overhead"]["num_rejected_tokens"] == proposed - accepted
        steps = report["num_reasoning_steps"] + report["num_answer_steps"]
        assert steps + accepted == len(output)
        assert sum(n for _, n in report["spans"]) == len(output)
        assert sum(n for s, n in report["spans"] if s == "decoded") == steps
        by_draft = sum(d["num_accepted_draft_tokens"] for d in report["drafts"])
        of_drafts = ("draft_prefix", "draft_suffix")
        assert by_draft == sum(accepted_by_source(of).get(s, 0) for s in of_drafts)
        drafted = report["overhead"]["num_draft_tokens"]
        assert drafted == sum(d["num_tokens"] for d in report["drafts"])
        assert spans_are_cut_where_the_answer_begins(of, report)
        assert steps_of_pieces(report) == steps
        bursts = [e for e in report["timeline"] if e["event"] == "verified"]
        assert sum(e["num_tokens"] for e in bursts) == accepted
        times = [event["t_ms"] for event in report["timeline"]]
        assert times == sorted(times)

    @pytest.mark.parametrize(
        ("prompt", "reason", "speculation", "failed", "expected"),
        [
            (OPENED, None, True, False, ("ssr", None)),
            (CLOSED, None, True, False, ("ssr", "no_reasoning")),
            (FRESH, None, True, False, ("ssr", "no_reasoning")),
            (OPENED, "busy", True, False, ("ssr", "busy")),
            (CLOSED, "n", True, False, ("ssr", "n")),
            (OPENED, "disabled", False, False, ("off", "disabled")),
            (OPENED, "busy", True, True, ("off", "error")),
        ],
    )
    def test_gives_the_reason(self, prompt, reason, speculation, failed, expected):
        of = state(prompt, reason=reason, speculation=speculation)
        of.failed = failed
        assert (make_report(of)["mode"], make_report(of)["reason"]) == expected

    @pytest.mark.parametrize(
        ("bursts", "spans", "begins"),
        [
            ([[3, END], [4]], [["decoded", 2], ["decoded", 1]], 2),
            ([[3, END, 4], [5]], [["decoded", 2], ["decoded", 2]], 2),
            ([[3, 902], [5]], [["decoded", 1], ["decoded", 2]], 1),
        ],
    )
    def test_the_answer_begins_with_a_span_of_its_own(self, bursts, spans, begins):
        of = state()
        for burst in bursts:
            of.advance(burst, 0)
        report = make_report(of)
        assert report["spans"] == spans
        assert report["timeline"][0]["num_tokens"] == begins

    def test_text_before_the_reasoning_is_not_the_answers_beginning(self):
        of = state(FRESH)
        of.advance([7, START, END], 0)
        of.advance([4], 0)
        assert make_report(of)["spans"] == [["decoded", 3], ["decoded", 1]]

    def test_a_burst_over_the_edge_is_two_spans_of_one_step(self):
        of = state()
        of.record.step("prompt", 4, 3)
        of.record.reasoning_ended(2)
        assert of.record.spans == [["prompt", 2], ["prompt", 1], ["decoded", 1]]

    def test_has_no_spans_and_no_timeline_unless_detailed(self):
        of = state(speculation_stats="summary")
        decode(of, [1, 2, END, 3])
        assert not {"spans", "timeline"} & set(make_report(of))
