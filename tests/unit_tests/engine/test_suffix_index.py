"""The matcher's parts: the index of suffixes and the pace of acceptance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.pace import Pace
from langchain_ssr.engine.suffix_index import SuffixIndex
from tests.unit_tests.engine.matching import token_lists


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

    @given(st.lists(st.tuples(token_lists, st.booleans()), max_size=4), token_lists)
    def test_what_is_not_searched_is_as_if_it_were_empty(self, sequences, text):
        index, other = SuffixIndex(), SuffixIndex()
        for tokens, searched in sequences:
            number = index.add(tokens[:5], searched=searched)
            index.extend(number, tokens[5:])
            assert index.sequences[number] == tokens
            other.extend(other.add(), tokens[:5] if searched else [])
            other.extend(number, tokens[5:] if searched else [])
        assert list(index.matches(text)) == list(other.matches(text))

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

    @pytest.mark.parametrize(
        ("cost", "length"),
        [(0.0, 80), (0.2, 80), (0.21, 75), (0.5, 20), (0.8, 5), (1.0, 0)],
    )
    def test_costly_tokens_are_proposed_sparingly(self, cost, length):
        assert Pace().length(20, factor=4.0, cost=cost) == length
