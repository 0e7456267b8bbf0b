"""Reports of requests that are not over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.report_pace import NUM_STEPS, ReportPace
from tests.unit_tests.engine.decoding import state


def test_a_draft_that_starts_or_ends_is_reported_in_that_step():
    of, pace = state(), ReportPace()
    drafts = of.lifecycle.drafts
    assert not pace.is_due(drafts)
    of.begin_draft(1, 10)
    assert [pace.is_due(drafts) for _ in range(2)] == [True, False]
    of.extend_draft([5])
    assert not pace.is_due(drafts)
    of.end_draft(DraftEnd.STOP)
    assert [pace.is_due(drafts) for _ in range(2)] == [True, False]
    of.begin_draft(2, 10)
    assert pace.is_due(drafts)
    of.end_draft(DraftEnd.CUT)
    of.begin_draft(3, 10)  # both in one step
    assert [pace.is_due(drafts) for _ in range(2)] == [True, False]


def test_without_drafts_every_so_many_steps_are_reported():
    pace = ReportPace()
    due = [pace.is_due([]) for _ in range(3 * NUM_STEPS)]
    assert [i for i, one in enumerate(due, 1) if one] == [16, 32, 48]


@given(st.lists(st.sampled_from(["begin", "end", "none"]), max_size=100))
def test_no_report_is_older_than_the_pace_and_no_event_is_missed(events):
    of, pace, since = state(), ReportPace(), 0
    for event in events:
        running = of.lifecycle.running
        happens = (event == "begin") is (running is None) and event != "none"
        if happens and event == "begin":
            of.begin_draft(1, 10)
        elif happens:
            of.end_draft(DraftEnd.CUT)
        since += 1
        due = pace.is_due(of.lifecycle.drafts)
        assert due is (happens or since == NUM_STEPS)
        since = 0 if due else since
