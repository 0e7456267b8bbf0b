"""The matcher with some of its sources: the others are as they were."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher, Proposal
from langchain_ssr.sources import OF_DRAFTS, Source
from tests.unit_tests.engine.matching import (
    answering,
    calls,
    decode,
    live,
    token_lists,
)

ALL = frozenset(Source)
PREFIX, SUFFIX = {Source.DRAFT_PREFIX}, {Source.DRAFT_SUFFIX}
DRAFT = list(range(100, 200))
predictions = st.none() | token_lists
subsets = st.sets(st.sampled_from(Source))
many = settings(max_examples=300)


def sources_of(proposals):
    return {proposal.source for proposal in proposals if proposal}


class TestAnySubset:
    @given(token_lists, predictions, calls(), subsets)
    @many
    def test_nothing_is_proposed_from_another_source(
        self, prompt, prediction, steps, sources
    ):
        matcher = Matcher(prompt, prediction, sources)
        assert sources_of(live(matcher, steps)) <= sources

    @given(token_lists, predictions, calls())
    @many
    def test_all_of_them_are_the_default(self, prompt, prediction, steps):
        default = live(Matcher(prompt, prediction), steps)
        named = live(Matcher(prompt, prediction, [str(s) for s in Source]), steps)
        assert named == default
        drafts = [[each and each.draft for each in own] for own in (named, default)]
        assert drafts[0] == drafts[1]

    @given(token_lists, predictions, calls(), subsets)
    @many
    def test_one_that_is_left_out_is_as_one_without_text(
        self, prompt, prediction, steps, sources
    ):
        def proposals(without, prompt=prompt, prediction=prediction, steps=steps):
            return live(Matcher(prompt, prediction, sources - without), steps)

        undrafted = [step for step in steps if "draft" not in step[0]]
        assert proposals({Source.PROMPT}) == proposals(set(), prompt=[])
        assert proposals({Source.PREDICTION}) == proposals(set(), prediction=None)
        assert proposals(OF_DRAFTS) == proposals(set(), steps=undrafted)

    @given(token_lists, token_lists, token_lists, subsets)
    @many
    def test_reasoning_that_is_left_out_does_not_count_in_the_answer(
        self, prompt, reasoning, answer, sources
    ):
        without = sources - {Source.REASONING}
        matcher = Matcher(prompt, sources=without)
        matcher.extend_reasoning(reasoning)
        matcher.start_answer()
        bare = answering(prompt=prompt, sources=without)
        assert decode(matcher, answer) == decode(bare, answer)


@pytest.mark.parametrize("source", Source)
def test_each_source_is_found_alone(source):
    matcher = Matcher(DRAFT, DRAFT, {source})
    matcher.extend_reasoning(DRAFT)
    matcher.add_draft(DRAFT)
    matcher.start_answer()
    proposals = decode(matcher, DRAFT + DRAFT[:50])
    assert sources_of(proposals) == {source}


class TestPrefix:
    def test_the_beginning_of_a_draft_is_followed_to_the_first_difference(self):
        answer = [*DRAFT[:30], 1, *DRAFT[31:]]
        proposals = decode(answering(DRAFT, sources=PREFIX), answer, max_tokens=9)
        begun = decode(answering(DRAFT), answer, max_tokens=9)[:4]
        assert proposals[:4] == begun
        assert sources_of(begun) == PREFIX
        assert not any(proposals[4:])

    def test_of_several_drafts_those_that_still_agree_are_followed(self):
        matcher = answering([1, 2, 3, 4], [1, 8, 9], sources=PREFIX)
        assert matcher.propose(5).tokens == [1, 8, 9]
        matcher.extend_answer([1, 2])
        assert matcher.propose(5) == Proposal([3, 4], Source.DRAFT_PREFIX)
        matcher.extend_answer([8])
        assert matcher.propose(5) is None

    def test_there_is_none_in_the_thinking(self):
        matcher = Matcher(DRAFT, sources=PREFIX)
        matcher.add_draft(DRAFT)
        matcher.extend_reasoning(DRAFT[:20])
        assert matcher.propose(8) is None


class TestSuffix:
    def test_the_beginning_is_found_after_the_answers_first_token(self):
        proposals = decode(answering(DRAFT, sources=SUFFIX), DRAFT)
        assert proposals[0] is None
        assert proposals[1].tokens[:4] == DRAFT[1:5]
        assert sources_of(proposals) == SUFFIX
        assert len(proposals) <= len(decode(answering(DRAFT), DRAFT)) + 2

    def test_what_follows_a_difference_is_found(self):
        answer = [1, *DRAFT[40:]]
        proposals = decode(answering(DRAFT, sources=SUFFIX), answer)
        assert sources_of(proposals) == SUFFIX
        assert len(proposals) < 10

    def test_the_prediction_is_still_followed_from_its_beginning(self):
        both = SUFFIX | {Source.PREDICTION}
        matcher = answering(DRAFT, prediction=DRAFT, sources=both)
        assert matcher.propose(3) == Proposal(DRAFT[:3], Source.PREDICTION)

    def test_the_thinking_is_looked_up_in_drafts(self):
        for sources in (SUFFIX, ALL):
            matcher = Matcher([], sources=sources)
            matcher.add_draft(DRAFT)
            matcher.extend_reasoning(DRAFT[:20])
            assert matcher.propose(3) == Proposal(DRAFT[20:23], Source.DRAFT_SUFFIX)


def test_a_source_that_is_left_out_does_not_hide_another():
    answer = [5, 1] * 40 + [5]
    hidden = answering(prompt=[4, 5, 6, 7, 8])
    seen = answering(prompt=[4, 5, 6, 7, 8], sources={Source.PROMPT})
    for matcher in (hidden, seen):
        matcher.extend_answer(answer)
    assert hidden.propose(3).source is Source.ANSWER
    assert seen.propose(3) == Proposal([6, 7, 8], Source.PROMPT)
