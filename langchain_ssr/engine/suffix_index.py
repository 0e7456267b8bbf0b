"""An index over growing token sequences that finds what the end of a text matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

_SHIFT = 32
"""A place is kept as one int, `sequence << _SHIFT | position`: ints are smaller than
tuples, and the garbage collector need not visit them."""
_MASK = (1 << _SHIFT) - 1
_FEW = 8
"""Tokens up to which a plain loop is faster than one over zipped slices."""
_NOWHERE = -1


class Match(NamedTuple):
    """A place in a sequence before which stands the end of a text."""

    sequence: int
    """Number of the sequence, as returned by `SuffixIndex.add`."""
    position: int
    """Index of the token that follows the matched ones; that token exists."""
    length: int
    """Matched tokens, at most the index's `max_length`."""


@dataclass
class _Chains:
    """The places of all n-grams of one n, linked from newer to older."""

    size: int
    """The n."""
    newest: dict[int, int] = field(default_factory=dict)
    """By hash of the n-gram: the place after its latest occurrence."""
    older: list[list[int]] = field(default_factory=list)
    """By sequence and position less n: the next older place of the same n-gram."""


class SuffixIndex:
    """Finds the longest matches of a text's end in several sequences that only grow.

    The hash chains of LZ77 compressors (RFC 1951, section 4): a dictionary leads from
    the text's last n tokens to the places after them, newest first, and each is
    compared backwards. Several n are kept. Where a longer n-gram is found, no place
    found by a shorter one alone can match longer, so the usually much longer chain of
    the shorter one is not followed.

    Growing costs one dictionary entry per token and n. A search reads at most
    `max_places` places, which bounds its time on texts that repeat an n-gram all over;
    up to that many, it is exact.

    Args:
        sizes: The values of n, descending. The last is the shortest match found.
        max_length: Matches are measured up to this many tokens.
        max_places: Places read in one search.
    """

    def __init__(
        self,
        *,
        sizes: Sequence[int] = (4, 1),
        max_length: int = 64,
        max_places: int = 16,
    ) -> None:
        self.sequences: list[list[int]] = []
        self._levels = [_Chains(size) for size in sizes]
        self._levels_of: list[list[_Chains]] = []
        self._max_length = max_length
        self._max_places = max_places

    def add(self, tokens: Sequence[int] = (), *, searched: bool = True) -> int:
        """Add a sequence.

        Args:
            tokens: Its tokens so far.
            searched: Whether matches are found in it.

        Returns:
            Its number: 0, 1, ...
        """
        number = len(self.sequences)
        self.sequences.append([])
        self._levels_of.append(self._levels if searched else [])
        for level in self._levels:
            level.older.append([])
        self.extend(number, tokens)
        return number

    def extend(self, number: int, tokens: Sequence[int]) -> None:
        """Append tokens to a sequence."""
        sequence = self.sequences[number]
        old = len(sequence)
        sequence.extend(tokens)
        for level in self._levels_of[number]:
            size, newest, older = level.size, level.newest, level.older[number]
            # An n-gram gets its place only when the token after it is known.
            first = max(size, old)
            if len(tokens) <= _FEW:
                for position in range(first, len(sequence)):
                    key = hash(tuple(sequence[position - size : position]))
                    older.append(newest.get(key, _NOWHERE))
                    newest[key] = number << _SHIFT | position
                continue
            window = sequence[first - size : -1]
            grams = zip(*(window[i:] for i in range(size)), strict=False)
            for place, key in enumerate(map(hash, grams), number << _SHIFT | first):
                older.append(newest.get(key, _NOWHERE))
                newest[key] = place

    def matches(self, text: Sequence[int]) -> Iterator[Match]:
        """Find places before which stands the end of `text`.

        The longest matches are among them, as far as `max_places` allows; shorter ones
        may be left out.
        """
        for level in self._levels:
            size = level.size
            place = level.newest.get(hash(tuple(text[-size:])), _NOWHERE)
            if place == _NOWHERE or len(text) < size:
                continue
            for _ in repeat(None, self._max_places):
                number, position = place >> _SHIFT, place & _MASK
                length = self.common(number, position, text)
                if length >= size:  # else two n-grams have the same hash
                    yield Match(number, position, length)
                place = level.older[number][position - size]
                if place == _NOWHERE:
                    break
            return

    def common(self, number: int, position: int, text: Sequence[int]) -> int:
        """Count the tokens before a position of a sequence that equal `text`'s end."""
        sequence = self.sequences[number]
        limit = min(position, len(text), self._max_length)
        length = 0
        while length < limit and sequence[position - 1 - length] == text[-1 - length]:
            length += 1
        return length


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two sequences have in common at their start."""
    for count, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return count
    return min(len(first), len(second))
