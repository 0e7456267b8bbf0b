"""A stop that is found late has the statistics of its own step."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.report import make_report
from langchain_ssr.engine.report_history import NUM_KEPT, ReportHistory, report_at
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings

STEPS = st.lists(st.integers(1, 5), min_size=1, max_size=NUM_KEPT)


def told(steps: list[int], **settings):
    """Run steps; return what was sent after each, and the bare reports."""
    state = RequestState(SpeculationSettings(**settings), None, [1, 2])
    history, sent, bare = ReportHistory(), [], []
    for number, num_tokens in enumerate(steps):
        limit = len(state.propose(8))
        state.count_proposal(limit, 0)
        state.advance([7 + number] * num_tokens, 0)
        bare.append(make_report(state))
        metrics = {"num_draft_tokens": number}
        sent.append(
            history.add(copy.deepcopy(bare[-1]), state.num_tokens, dict(metrics))
        )
    return sent, bare


@given(STEPS, st.data())
def test_however_late_a_stop_is_found_the_report_is_its_steps(steps, data):
    sent, bare = told(steps)
    stop = data.draw(st.integers(0, len(steps) - 1))
    late = data.draw(st.integers(stop, len(steps) - 1))
    num_tokens = sum(steps[:stop]) + data.draw(st.integers(1, steps[stop]))
    report, metrics = report_at(sent[late], num_tokens)
    assert report == bare[stop]
    assert metrics == {"num_draft_tokens": stop}


@given(STEPS)
def test_without_a_stop_the_last_report_counts(steps):
    sent, bare = told(steps)
    assert report_at(sent[-1], None) == (bare[-1], {"num_draft_tokens": len(steps) - 1})


@given(STEPS, st.data())
def test_details_end_at_the_stop(steps, data):
    sent, bare = told(steps, speculation_stats="detailed")
    stop = data.draw(st.integers(0, len(steps) - 1))
    report, _ = report_at(sent[-1], sum(steps[: stop + 1]))
    assert report["timeline"] == bare[stop]["timeline"]
    assert report["spans"] == bare[-1]["spans"]  # whoever reads them cuts them


def test_a_front_end_that_is_too_late_gets_the_oldest_kept_step():
    steps = [1] * (NUM_KEPT + 10)
    sent, bare = told(steps)
    report, _ = report_at(sent[-1], 3)
    assert report == bare[-1 - NUM_KEPT]


def test_what_is_sent_does_not_nest():
    sent, _ = told([1] * 5)
    assert len(sent[-1]["earlier"]) == 4
    assert all("earlier" not in one for one in sent[-1]["earlier"])


@pytest.mark.parametrize("num_tokens", [None, 3])
def test_a_report_without_a_history_is_itself(num_tokens):
    assert report_at({"mode": "ssr"}, num_tokens) == ({"mode": "ssr"}, None)
