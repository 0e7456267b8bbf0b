"""What a request teaches, in numbers."""

from __future__ import annotations

import pytest

from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.served import DraftUse, Served, served
from tests.unit_tests.engine.decoding import (
    ANSWER,
    CLOSED,
    END,
    REASONING,
    TEXT,
    accepted_by_source,
    decode,
    state,
)


def test_a_request_is_summed_up():
    of = state()
    of.advance(REASONING, 0)
    draft = of.begin_draft(128, 30)
    draft.num_cached_tokens, draft.num_rejected_tokens = 24, 5
    of.extend_draft(TEXT)
    of.advance([END], 0)
    of.end_draft(DraftEnd.CUT)
    for right in (True, False):  # the opening and six tokens, then one in vain
        proposed = of.propose(8)
        of.count_proposal(8, 8 if right else 0)
        of.advance([*proposed, 777] if right else [778], 8 if right else 0)
    of.advance([779], 0)
    assert served(of) == Served(
        num_reasoning_tokens=len(REASONING),
        num_answer_tokens=11,
        num_other_steps=1,
        num_other_accepted_tokens=0,
        drafts=(DraftUse(128, 8, 2, len(TEXT) + 5 + 6),),
    )


def test_steps_and_tokens_of_the_answer_add_up():
    of = state(
        [*ANSWER[30:60], *state().lifecycle.markers.start], speculate_reasoning=False
    )
    output = [*REASONING, END, *ANSWER]
    decode(of, output, [ANSWER[2:30], [5] * 20])
    summary = served(of)
    steps = summary.num_other_steps + sum(d.num_steps for d in summary.drafts)
    brought = summary.num_other_accepted_tokens + sum(
        d.num_accepted_tokens for d in summary.drafts
    )
    assert steps + brought == summary.num_answer_tokens == len(ANSWER)
    by_source = accepted_by_source(of)
    assert by_source["prompt"] > 0
    of_drafts = sum(n for name, n in by_source.items() if name.startswith("draft"))
    assert of_drafts == sum(d.num_accepted_tokens for d in summary.drafts) > 0
    assert sum(by_source.values()) - of_drafts == summary.num_other_accepted_tokens


def test_what_is_accepted_while_thinking_is_not_the_answer_s():
    of = state([*TEXT, *state().lifecycle.markers.start])
    decode(of, [*TEXT, END, 5])
    assert accepted_by_source(of)["prompt"] > 0
    assert served(of).num_other_accepted_tokens == 0


@pytest.mark.parametrize(
    ("settings", "num"),
    [
        ({}, 1),
        ({"stream_drafts": True}, 1),
        ({"max_drafts": 2}, 1),
        ({"draft_budget": 128}, 0),
        ({"draft_budget": [128]}, 0),
        ({"draft_interval": 128}, 0),
    ],
)
def test_positions_are_learned_where_they_are_not_the_users(settings, num):
    of = state(**settings)
    of.begin_draft(128, 10)
    of.advance([END, 5], 0)
    assert len(served(of).drafts) == num


class TestNothingIsLearned:
    @pytest.mark.parametrize("settings", [{"speculation": False}, {"sources": []}])
    def test_from_settings_that_change_what_is_proposed(self, settings):
        of = state(**settings)
        of.advance([5, END, 5], 0)
        assert served(of) is None

    def test_from_a_failure(self):
        of = state()
        of.advance([5, END, 5], 0)
        assert served(of) is not None
        of.failed = True
        assert served(of) is None

    def test_without_reasoning(self):
        of = state(CLOSED)
        of.advance([5, 5], 0)
        assert served(of) is None

    def test_from_a_client_that_left_the_thinking(self):
        of = state()
        of.advance([5, 5], 0)
        assert served(of) is None
        of.has_ended = True  # by its longest output: the reasoning goes no further
        assert served(of) == Served(None, 0, 0, 0)
