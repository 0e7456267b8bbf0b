"""One request as the scheduler sees it: proposals, drafts, counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import DraftEnd, Markers, Phase
from langchain_ssr.engine.report import make_report
from langchain_ssr.sources import OF_DRAFTS, SOURCES
from tests.unit_tests.engine.decoding import (
    ANSWER,
    CLOSED,
    END,
    FRESH,
    MARKERS,
    OPENED,
    REASONING,
    START,
    TEXT,
    TOOL_CALL,
    accepted_by_source,
    decode,
    state,
)


class TestProposals:
    @pytest.mark.parametrize("prompt", [OPENED, CLOSED])
    def test_settings_and_limit_cap_them(self, prompt):
        of = state([*TEXT, *prompt], num_speculative_tokens=3)
        of.advance(TEXT[:3], 0)
        assert of.propose(100) == TEXT[3:6]
        assert of.propose(2) == TEXT[3:5]
        assert of.propose(0) == of.propose(-5) == []

    @pytest.mark.parametrize("prompt", [OPENED, CLOSED, FRESH])
    def test_there_are_none_without_speculation(self, prompt):
        of = state([*TEXT, *prompt], speculation=False, prediction=TEXT)
        assert decode(of, TEXT) == 0
        assert of.draft_due() is None

    def test_there_are_none_while_thinking_if_so_set(self):
        of = state([*TEXT, *OPENED], speculate_reasoning=False)
        of.advance(TEXT[:3], 0)
        assert of.propose(8) == []
        of.advance([END, *TEXT[:3]], 0)
        assert of.propose(8) == TEXT[3:11]

    def test_there_are_none_before_it_is_known_where_a_request_is(self):
        of = state([*TEXT, *FRESH], prediction=TEXT)
        of.advance(TEXT[:2], 0)
        assert (of.phase, of.propose(8)) == (Phase.OPENING, [])

    @pytest.mark.parametrize("markers", [MARKERS, None])
    def test_a_prediction_is_followed_from_the_first_token_on(self, markers):
        of = state(CLOSED, markers, prediction=ANSWER)
        accepted = decode(of, ANSWER)
        assert accepted_by_source(of) == {"prediction": accepted}
        assert len(ANSWER) - accepted <= 5

    def test_an_answer_that_was_not_known_to_be_one_is_a_source(self):
        of = state(FRESH)
        for token in [*TEXT, *TEXT[:3]]:
            of.advance([token], 0)
        assert of.phase is Phase.ANSWER
        assert of.propose(8)[:2] == TEXT[3:5]

    @pytest.mark.parametrize("bursts", [[[7], [START], [6]], [[7, START, 6]]])
    def test_text_before_the_reasoning_does_not_spoil_drafts(self, bursts):
        of = state(FRESH)
        for burst in bursts:
            of.advance(burst, 0)
        of.begin_draft(1, 10)
        of.extend_draft([20, 21, 22])
        of.advance([END], 0)
        assert of.propose(8) == [8, 8, 20, 21, 22]
        of.count_proposal(5, 5)
        assert accepted_by_source(of) == {"draft_prefix": 5}


class TestEndOfReasoning:
    """One step between the end of the reasoning and the first burst."""

    @pytest.mark.parametrize("last", [[], [5, 6]])
    @pytest.mark.parametrize("begun", [[], [8], [8, 8], [8, 8, *TEXT[:2]]])
    @pytest.mark.parametrize("ended", [False, True])
    def test_the_next_step_verifies_the_draft(self, last, begun, ended):
        of = state()
        of.advance(REASONING, 0)
        of.begin_draft(100, 10)
        of.extend_draft(TEXT)
        if ended:
            of.end_draft(DraftEnd.STOP)
        assert of.advance([*last, END, *begun], 0)
        of.end_draft(DraftEnd.CUT)
        rest = [8, 8, *TEXT][len(begun) :]
        assert of.propose(32) == rest
        of.count_proposal(len(rest), len(rest))
        assert accepted_by_source(of) == {"draft_prefix": len(rest)}

    def test_a_draft_without_a_token_is_no_proposal(self):
        of = state(markers=Markers((START,), (END,), close=(END,)))
        of.begin_draft(1, 10)
        of.advance([END], 0)
        assert of.propose(32) == []

    def test_after_a_tool_call_without_a_marker_the_draft_is_found_too(self):
        of = state()
        of.begin_draft(1, 10)
        of.extend_draft([TOOL_CALL, *TEXT])
        of.advance([5, TOOL_CALL], 0)
        assert of.propose(8) == TEXT[:8]
        of.count_proposal(8, 8)
        assert accepted_by_source(of) == {"draft_suffix": 8}


class TestSources:
    @given(
        st.sampled_from([OPENED, CLOSED, FRESH, [1, 2, 3, 0, 1, 2, *OPENED]]),
        st.lists(st.sampled_from([0, 1, 2, 3, START, END]), min_size=1, max_size=80),
        st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=30), max_size=4),
        st.sets(st.sampled_from(SOURCES)),
    )
    def test_only_what_is_named_is_proposed(self, prompt, output, drafts, names):
        of = state(prompt, draft_budget=2, prediction=[1, 2, 3, 0], sources=list(names))
        decode(of, output, drafts)
        report = make_report(of)
        assert report["mode"] == "ssr"
        proposed = {k for k, v in report["sources"].items() if v["num_draft_tokens"]}
        assert proposed <= names
        if names.isdisjoint(OF_DRAFTS):
            assert report["drafts"] == []

    @pytest.mark.parametrize(
        ("names", "due"),
        [
            (None, 1),
            (SOURCES, 1),
            (["draft_prefix"], 1),
            (["draft_suffix"], 1),
            ([name for name in SOURCES if "draft" not in name], None),
            ([], None),
        ],
    )
    def test_a_draft_is_due_if_it_can_be_used(self, names, due):
        of = state(draft_budget=1, sources=names)
        of.advance([3], 0)
        assert of.draft_due() == due

    @pytest.mark.parametrize("prompt", [OPENED, CLOSED])
    def test_none_of_them_propose_nothing(self, prompt):
        of = state([*TEXT, *prompt], sources=[], prediction=TEXT)
        assert decode(of, TEXT * 2) == 0
        report = make_report(of)
        assert (report["mode"], report["overhead"]["num_rejected_tokens"]) == ("ssr", 0)

    @pytest.mark.parametrize(
        ("names", "first", "later"),
        [
            (["draft_prefix"], [8, 8, *TEXT], []),
            (["draft_suffix"], [], TEXT[6:]),
            (["draft_prefix", "draft_suffix"], [8, 8, *TEXT], TEXT[6:]),
        ],
    )
    def test_a_draft_as_prefix_and_as_suffix(self, names, first, later):
        of = state(sources=names)
        of.begin_draft(1, 10)
        of.extend_draft(TEXT)
        of.advance([END], 0)
        assert of.propose(32) == first
        of.advance([8, 7, *TEXT[3:6]], 0)
        assert of.propose(32) == later


class TestDrafts:
    def test_a_draft_that_is_the_answer_saves_nearly_all_its_steps(self):
        of = state(draft_budget=50, iterative=False)
        output = [*REASONING, END, *ANSWER]
        accepted = decode(of, output, [ANSWER[2:]])
        report = make_report(of)
        assert report["num_reasoning_steps"] == len(REASONING) + 1
        assert report["num_answer_steps"] == len(output) - accepted - 201 <= 6
        assert accepted_by_source(of) == {"draft_prefix": accepted}
        (draft,) = report["drafts"]
        given = {"index": 0, "budget": 50, "num_reasoning_tokens": 50}
        assert given.items() <= draft.items()
        assert (draft["num_tokens"], draft["num_steps"]) == (100, 100)
        assert draft["num_accepted_draft_tokens"] == accepted
        assert draft["finish_reason"] == "stop"
        assert draft["duration_ms"] >= 0
        events = [event["event"] for event in report["timeline"]]
        assert events[:3] == ["draft_started", "draft_ended", "reasoning_ended"]
        assert set(events[3:]) == {"verified"}
        assert report["timeline"][2]["num_tokens"] == 201
        assert sum(event.get("num_tokens", 0) for event in report["timeline"][3:]) == (
            accepted
        )
        assert report["spans"][0] == ["decoded", 201]

    def test_the_newest_of_several_drafts_is_verified(self):
        of = state(draft_budget=[20, 60, 90])
        drafts = [[600, 601], [602] * 99, ANSWER[2:]]
        accepted = decode(of, [*REASONING, END, *ANSWER], drafts)
        assert accepted > 95
        described = make_report(of)["drafts"]
        assert [d["budget"] for d in described] == [20, 60, 90]
        assert [d["num_tokens"] for d in described] == [2, 30, 100]
        assert [d["finish_reason"] for d in described] == ["stop", "cut", "stop"]
        assert [d["num_accepted_draft_tokens"] for d in described] == [0, 0, accepted]
        assert of.earlier_drafts() == [drafts[0], [602] * 30, ANSWER[2:]]

    def test_the_draft_that_was_followed_is_credited(self):
        of = state()
        for text in ([20, 21, 22, 23], [30, 31]):
            of.begin_draft(2, 10)
            of.extend_draft(text)
            of.end_draft(DraftEnd.STOP)
        of.advance([END, 8, 8, 20], 0)
        assert of.propose(3) == [21, 22, 23]
        of.count_proposal(3, 3)
        drafts = make_report(of)["drafts"]
        assert [d["num_accepted_draft_tokens"] for d in drafts] == [3, 0]

    def test_somebody_elses_draft_is_a_source_beside_the_own(self):
        of = state()
        of.add_source([30, 31, 32, 33])
        of.begin_draft(1, 10)
        of.extend_draft([20, 21])
        of.advance([END], 0)
        assert of.propose(8) == [8, 8, 20, 21]
        of.advance([30, 31, 32], 0)
        assert of.propose(8)[:1] == [33]

    @pytest.mark.parametrize(
        ("reason", "due"),
        [
            (None, 1),
            ("busy", 1),
            ("no_gain", 1),
            ("clamped", 1),
            ("n", None),
            ("multimodal", None),
        ],
    )
    def test_are_due_unless_a_lasting_reason_forbids(self, reason, due):
        of = state(reason=reason, draft_budget=1)
        assert of.draft_due() is None
        of.advance([3], 0)
        assert of.draft_due() == due
        assert of.draft_due() is None
        assert make_report(of)["reason"] == reason

    @pytest.mark.parametrize("prompt", [CLOSED, FRESH, OPENED])
    def test_are_due_only_while_thinking(self, prompt):
        of = state(prompt, draft_budget=1)
        of.advance([3] * 9 + [END], 0)
        assert of.draft_due() is None

    def test_one_that_runs_at_the_end_is_cut(self):
        of = state()
        of.begin_draft(1, 10).num_cached_tokens = 6
        assert make_report(of)["drafts"][0]["finish_reason"] is None
        assert make_report(of)["overhead"]["num_prefill_tokens"] == 0  # nothing ran yet
        of.extend_draft([3])
        of.lifecycle.finish()
        report = make_report(of)
        assert report["drafts"][0]["finish_reason"] == "cut"
        assert report["overhead"]["num_prefill_tokens"] == 4
