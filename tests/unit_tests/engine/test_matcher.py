"""The matcher and its parts."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher, Proposal
from langchain_ssr.sources import Source
from tests.unit_tests.engine.matching import answering, decode, token_lists

DRAFT = list(range(100, 200))


class TestPrefix:
    def test_follows_the_draft_by_slices(self):
        proposals = decode(answering(DRAFT), DRAFT, max_tokens=8)
        done = 0
        for proposal in proposals:
            assert proposal.tokens == DRAFT[done : done + 8]
            assert proposal.source is Source.DRAFT_PREFIX
            done += 9
        assert len(proposals) == 12

    def test_the_newest_agreeing_draft_has_priority(self):
        old, new = [1, 2, 3, 4, 5], [1, 2, 8, 9, 10]
        matcher = answering(old, new)
        assert matcher.propose(5) == Proposal(new, Source.DRAFT_PREFIX)
        matcher.extend_answer([1, 2, 3])
        assert matcher.propose(5) == Proposal([4, 5], Source.DRAFT_PREFIX)

    def test_a_draft_comes_before_the_prediction(self):
        matcher = answering([1, 2, 3], prediction=[1, 5, 6])
        assert matcher.propose(2) == Proposal([1, 2], Source.DRAFT_PREFIX)
        matcher.extend_answer([1, 5])
        assert matcher.propose(2) == Proposal([6], Source.PREDICTION)

    def test_a_running_draft_is_followed_as_it_grows(self):
        matcher = Matcher([])
        index = matcher.add_draft([1, 2])
        matcher.start_answer()
        matcher.extend_answer([1, 2])
        assert matcher.propose(4) is None
        matcher.extend_draft(index, [3, 4, 5])
        matcher.extend_answer([3])
        assert matcher.propose(4) == Proposal([4, 5], Source.DRAFT_PREFIX)

    def test_a_draft_that_comes_late_is_followed(self):
        matcher = answering()
        matcher.extend_answer([1, 2, 3])
        matcher.add_draft([1, 2, 3, 4])
        assert matcher.propose(4) == Proposal([4], Source.DRAFT_PREFIX)

    def test_after_a_mismatch_it_is_no_prefix(self):
        answer = [*DRAFT[:30], 1, *DRAFT[31:]]
        sources = [proposal.source for proposal in decode(answering(DRAFT), answer)]
        assert sources[0] is Source.DRAFT_PREFIX
        assert sources[-1] is Source.DRAFT_SUFFIX


class TestResume:
    @pytest.mark.parametrize(
        ("name", "answer", "lost"),
        [
            ("substituted", [*DRAFT[:50], 1, *DRAFT[51:]], 0),
            ("deleted", [*DRAFT[:50], *DRAFT[51:]], 0),
            ("many deleted", [*DRAFT[:50], *DRAFT[65:]], 0),
            ("inserted", [*DRAFT[:50], 1, *DRAFT[50:]], 1),
            ("many inserted", [*DRAFT[:50], *range(10), *DRAFT[50:]], 10),
        ],
    )
    def test_after_an_edit(self, name, answer, lost):
        matcher = answering(DRAFT)
        matcher.extend_answer(answer[:50])
        matcher.propose(8)
        matcher.extend_answer(answer[50:51])
        for end in range(51, 51 + lost):
            matcher.propose(8)
            matcher.extend_answer(answer[end : end + 1])
        proposal = matcher.propose(4)
        assert proposal is not None, name
        assert proposal.source is Source.DRAFT_SUFFIX
        expected = answer[51 + lost : 51 + lost + 4]
        assert proposal.tokens == expected[: len(proposal.tokens)]

    def test_prefers_the_place_where_the_draft_was_left(self):
        # One phrase at three places, each going on differently.
        phrase = [1, 2, 3]
        draft = [*phrase, 10, *DRAFT[:40], *phrase, 11, *DRAFT[40:80], *phrase, 12]
        matcher = answering(draft)
        matcher.extend_answer(draft[:42])
        matcher.propose(8)
        matcher.extend_answer([99])
        matcher.propose(8)
        matcher.extend_answer(phrase)
        assert matcher.propose(1) == Proposal([11], Source.DRAFT_SUFFIX)

    def test_a_draft_that_keeps_failing_is_not_guessed_from(self):
        matcher = answering(DRAFT)
        for token in range(40):
            matcher.propose(32)
            matcher.extend_answer([token])
        assert matcher.propose(32) is None


class TestSources:
    @pytest.mark.parametrize("source", ["prompt", "reasoning", "prediction", "answer"])
    def test_a_match_names_its_source(self, source):
        known = [50, 51, 52, 53, 54, 55]
        matcher = Matcher(
            known if source == "prompt" else [],
            known if source == "prediction" else None,
        )
        if source == "reasoning":
            matcher.extend_reasoning(known)
        matcher.start_answer()
        if source == "answer":
            matcher.extend_answer(known)
        matcher.extend_answer([7, 50, 51, 52])
        proposal = matcher.propose(2)
        assert proposal == Proposal([53, 54], Source(source))

    def test_the_longer_match_wins_over_the_order_of_sources(self):
        matcher = answering(prompt=[1, 2, 3, 4, 5, 6])
        matcher.extend_answer([4, 9, 9, 2, 3, 4])
        assert matcher.propose(2) == Proposal([5, 6], Source.PROMPT)

    def test_reasoning_comes_before_the_prompt(self):
        matcher = Matcher([1, 2, 3, 4])
        matcher.extend_reasoning([1, 2, 3, 5])
        matcher.start_answer()
        matcher.extend_answer([1, 2, 3])
        assert matcher.propose(1) == Proposal([5], Source.REASONING)

    def test_without_sources_nothing_is_proposed(self):
        matcher = Matcher([])
        assert matcher.propose(8) is None
        matcher.extend_reasoning([1])
        assert matcher.propose(8) is None
        matcher.add_draft([])
        matcher.start_answer()
        assert matcher.propose(8) is None
        matcher.extend_answer([2])
        assert matcher.propose(8) is None


class TestThinking:
    def test_proposes_from_earlier_drafts(self):
        matcher = Matcher([])
        matcher.add_draft(DRAFT)
        matcher.extend_reasoning([1, *DRAFT[10:14]])
        proposal = matcher.propose(4)
        assert proposal == Proposal(DRAFT[14:18], Source.DRAFT_SUFFIX)

    def test_a_short_match_proposes_nothing(self):
        matcher = Matcher(DRAFT)
        matcher.extend_reasoning([1, DRAFT[10]])
        assert matcher.propose(4) is None

    def test_a_longer_match_proposes_more(self):
        sizes = []
        for length in (2, 4, 8):
            matcher = Matcher(DRAFT)
            matcher.extend_reasoning([1, *DRAFT[10 : 10 + length]])
            sizes.append(len(matcher.propose(32).tokens))
        assert sizes == sorted(set(sizes))
        assert sizes[0] < 8

    def test_a_draft_is_not_expected_at_the_start(self):
        matcher = Matcher([])
        matcher.add_draft(DRAFT)
        assert matcher.propose(8) is None

    def test_the_answer_starts_afresh(self):
        matcher = Matcher(DRAFT)
        matcher.extend_reasoning(DRAFT[:20])
        assert matcher.propose(8) is not None
        matcher.start_answer()
        assert matcher.propose(8) is None


class TestBudget:
    @given(token_lists, token_lists, token_lists, st.integers(-1, 40))
    def test_never_more_than_max_tokens(self, prompt, draft, answer, limit):
        for proposal in decode(answering(draft, prompt=prompt), answer, limit):
            assert proposal is None or 1 <= len(proposal.tokens) <= limit

    def test_a_step_without_room_keeps_the_place(self):
        matcher = answering(DRAFT)
        matcher.extend_answer([1, *DRAFT[40:50]])
        assert matcher.propose(0) is None
        assert matcher.propose(2) == Proposal(DRAFT[50:52], Source.DRAFT_SUFFIX)

    def test_an_unrelated_draft_costs_little(self):
        rng = random.Random(0)
        draft, answer = ([rng.randrange(50) for _ in range(800)] for _ in range(2))
        proposals = decode(answering(draft), answer)
        verified = sum(len(proposal.tokens) for proposal in proposals if proposal)
        assert verified < 4 * len(answer)


def test_a_text_that_repeats_itself_is_copied_on_over_its_end():
    matcher = Matcher([])
    matcher.start_answer()
    matcher.extend_answer([7, 8, 9] * 6)
    assert matcher.propose(7).tokens == [7, 8, 9, 7, 8, 9, 7]


def test_callers_lists_are_copied():
    prompt, draft, tokens = [1, 2, 3], [4, 5, 6], [4]
    matcher = answering(draft, prompt=prompt)
    matcher.propose(8).tokens.append(99)
    matcher.extend_answer(tokens)
    assert matcher.propose(8) == Proposal([5, 6], Source.DRAFT_PREFIX)
    assert (prompt, draft, tokens) == ([1, 2, 3], [4, 5, 6], [4])


def test_needs_neither_vllm_nor_torch():
    code = (
        "import sys, langchain_ssr.engine.matcher\n"
        "assert not {'vllm', 'torch', 'numpy', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
