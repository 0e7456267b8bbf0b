"""The matcher and its parts."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher, Proposal, Source
from langchain_ssr.engine.pace import Pace
from langchain_ssr.engine.suffix_index import SuffixIndex

# Few different tokens, so that texts repeat themselves and each other.
token_lists = st.lists(st.integers(0, 3), max_size=40)
DRAFT = list(range(100, 200))


def answering(*drafts, prompt=(), prediction=None):
    matcher = Matcher(prompt, prediction)
    for draft in drafts:
        matcher.add_draft(draft)
    matcher.start_answer()
    return matcher


def decode(matcher, answer, max_tokens=32):
    """Decode a known answer; returns the proposals, one a step."""
    proposals = []
    done = 0
    while done < len(answer):
        proposal = matcher.propose(max_tokens)
        tokens = proposal.tokens if proposal else []
        rest = answer[done:]
        accepted = 0
        while accepted < min(len(tokens), len(rest)) and (
            tokens[accepted] == rest[accepted]
        ):
            accepted += 1
        matcher.extend_answer(rest[: accepted + 1])
        proposals.append(proposal)
        done += accepted + 1
    return proposals


def longest_match(sequences, text, max_length):
    """The longest match of the text's end before any token: by brute force."""
    best = 0
    for sequence in sequences:
        for position in range(len(sequence)):
            length = 0
            while (
                length < min(position, len(text), max_length)
                and sequence[position - 1 - length] == text[-1 - length]
            ):
                length += 1
            best = max(best, length)
    return best


class TestSuffixIndex:
    @given(
        st.lists(token_lists, max_size=4),
        token_lists,
        st.sampled_from([(1,), (3, 1), (4, 1), (5, 3, 2)]),
        st.sampled_from([6, 64]),
    )
    def test_finds_the_longest_match(self, sequences, text, sizes, max_length):
        index = SuffixIndex(sizes=sizes, max_length=max_length, max_places=1000)
        for sequence in sequences:
            index.add(sequence)
        found = list(index.matches(text))
        longest = longest_match(sequences, text, max_length)
        if longest < sizes[-1]:
            assert not found
        else:
            assert max(match.length for match in found) == longest
        for match in found:
            sequence = sequences[match.sequence]
            assert match.position < len(sequence)
            before = sequence[match.position - match.length : match.position]
            assert before == text[-match.length :]

    @given(st.lists(st.tuples(st.integers(0, 2), token_lists), max_size=8), token_lists)
    def test_growing_equals_building_at_once(self, pieces, text):
        growing = SuffixIndex(max_places=1000)
        for _ in range(3):
            growing.add()
        for number, tokens in pieces:
            growing.extend(number, tokens)
        built = SuffixIndex(max_places=1000)
        for sequence in growing.sequences:
            built.add(sequence)
        assert set(growing.matches(text)) == set(built.matches(text))

    def test_newest_places_come_first_and_are_limited(self):
        index = SuffixIndex(max_places=3)
        index.add([7] * 50)
        assert [match.position for match in index.matches([7])] == [49, 48, 47]

    def test_the_end_of_a_sequence_is_no_place(self):
        index = SuffixIndex()
        index.add([1, 2, 3])
        assert list(index.matches([1, 2, 3])) == []
        index.extend(0, [4])
        assert [tuple(match) for match in index.matches([1, 2, 3])] == [(0, 3, 3)]

    def test_a_hash_collision_is_no_match(self):
        # Python hashes -1 like -2.
        index = SuffixIndex(sizes=(1,))
        index.add([-1, 5])
        assert list(index.matches([-2])) == []


class TestPace:
    def test_length_grows_with_confidence(self):
        lengths = [Pace().length(confidence, factor=2.0) for confidence in range(6)]
        assert lengths == [0, 2, 4, 6, 8, 10]

    def test_rejections_shorten_and_acceptances_restore(self):
        pace = Pace()
        for _ in range(50):
            pace.record(proposed=20, emitted=1)
        assert pace.length(10, factor=2.0) < 3
        for _ in range(50):
            pace.record(proposed=20, emitted=21)
        assert pace.length(10, factor=2.0) >= 19


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


@st.composite
def calls(draw):
    """A random life of a request, as (method, argument) pairs."""
    step = st.one_of(
        st.tuples(
            st.sampled_from(["extend", "add_draft", "extend_draft"]), token_lists
        ),
        st.tuples(st.just("accept"), st.integers(0, 8)),
        st.tuples(st.just("propose"), st.integers(0, 9)),
    )
    steps = draw(st.lists(step, max_size=30))
    steps.insert(draw(st.integers(0, len(steps))), ("start_answer", None))
    return steps


OWN_TEXT = {Source.REASONING, Source.ANSWER}


def test_a_text_that_repeats_itself_is_copied_on_over_its_end():
    matcher = Matcher([])
    matcher.start_answer()
    matcher.extend_answer([7, 8, 9] * 6)
    assert matcher.propose(7).tokens == [7, 8, 9, 7, 8, 9, 7]


class TestAnyLife:
    @given(token_lists, st.none() | token_lists, calls())
    @settings(max_examples=300)
    def test_proposals_are_spans_of_their_source(self, prompt, prediction, steps):
        matcher = Matcher(prompt, prediction)
        texts = {Source.PROMPT: [prompt], Source.PREDICTION: [prediction or []]}
        drafts, reasoning, answer = [], [], []
        texts[Source.DRAFT_PREFIX] = texts[Source.DRAFT_SUFFIX] = drafts
        texts[Source.REASONING], texts[Source.ANSWER] = [reasoning], [answer]
        answers, proposed = False, []
        for method, argument in steps:
            if method == "start_answer":
                matcher.start_answer()
                answers, proposed = True, []
            elif method in {"extend", "accept"}:
                tokens = proposed[:argument] if method == "accept" else argument
                (answer if answers else reasoning).extend(tokens)
                extend = matcher.extend_answer if answers else matcher.extend_reasoning
                extend(tokens)
                proposed = []
            elif method == "add_draft":
                assert matcher.add_draft(argument) == len(drafts)
                drafts.append(list(argument))
            elif method == "extend_draft" and drafts:
                matcher.extend_draft(0, argument)
                drafts[0].extend(argument)
            elif method == "propose":
                proposal = matcher.propose(argument)
                if proposal is None:
                    continue
                proposed = proposal.tokens
                assert 1 <= len(proposed) <= argument
                assert all(type(token) is int for token in proposed)
                # The text itself may be copied on over its end.
                own = proposed if proposal.source in OWN_TEXT else []
                assert any(
                    is_span(proposed, [*text, *own]) for text in texts[proposal.source]
                )
                if proposal.source is Source.DRAFT_PREFIX:
                    assert any(
                        draft[: len(answer) + len(proposed)] == answer + proposed
                        for draft in drafts
                    )

    @given(token_lists, token_lists, st.lists(st.integers(1, 5), max_size=40))
    def test_a_draft_in_pieces_equals_a_whole_one(self, draft, answer, sizes):
        whole = answering(draft)
        pieces = Matcher([])
        index = pieces.add_draft([])
        start = 0
        for size in sizes:
            pieces.extend_draft(index, draft[start : start + size])
            start += size
        pieces.extend_draft(index, draft[start:])
        pieces.start_answer()
        assert decode(whole, answer) == decode(pieces, answer)


def is_span(tokens, text):
    size = len(tokens)
    return any(text[i : i + size] == tokens for i in range(len(text) - size + 1))


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
