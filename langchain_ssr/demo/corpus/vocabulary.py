"""Names for the corpus, split into those for training and those held out.

A name belongs to the held-out split by a hash of its letters, so the split never
depends on the order of the lists. Made-up words, in both splits, keep the model from
learning names by heart: it has to copy them.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.resources
import keyword
import random
from typing import Literal

_HELD_OUT_SHARE = 0.12
_MADE_UP_SHARE = 0.3
"""Of the words that names consist of; the others are nouns."""
_MADE_UP_PROPER_SHARE = 0.2
"""Of people, places and adjectives."""
_NEW_SHARE = 0.5
"""Of the words in held-out conversations; the others are in new combinations."""
_PIECES_SHARE = 0.6
"""Made-up words that are put together from the tokenizer's letter groups."""
_LONGEST = 12
_TAKEN = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "cls"}

_ONSETS = (
    *"bcdfghjklmnprstvwz",
    *("br", "ch", "cl", "dr", "fl", "gr", "kl", "pl", "qu", "sh", "sk", "st", "tr"),
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "io", "ou")
_CODAS = ("", "", "", "l", "m", "n", "r", "s", "t", "x", "nd", "rk")

Part = Literal["train", "heldout"]


def part_of(word: str) -> Part:
    """Say which split a word belongs to.

    Args:
        word: Any word; upper and lower case are the same.

    Returns:
        `"heldout"` for about 12 % of all words.
    """
    digest = hashlib.sha256(word.lower().encode()).digest()
    share = int.from_bytes(digest[:4], "big") / 2**32
    return "heldout" if share < _HELD_OUT_SHARE else "train"


@functools.cache
def _words(name: str, part: Part) -> tuple[str, ...]:
    folder = importlib.resources.files(__package__) / "words"
    words = (folder / f"{name}.txt").read_text(encoding="utf-8").split()
    return tuple(word for word in words if part_of(word) == part)


@functools.cache
def _pieces() -> tuple[str, ...]:
    """Read the letter groups that are tokens of the demo model's tokenizer.

    A token that is part of no training name would never be copied in training, and
    the model could not copy a held-out name that has it.
    """
    file = importlib.resources.files(__package__) / "words" / "pieces.txt"
    return tuple(file.read_text(encoding="utf-8").split())


class Vocabulary:
    """Draws names for conversations of one split.

    Training conversations have no held-out word. Of the words in held-out ones, half
    are held out, as in real requests words of all kinds stand side by side.

    Args:
        rng: The source of every choice.
        part: The split.
    """

    def __init__(self, rng: random.Random, part: Part) -> None:
        self._rng = rng
        self._part = part
        self._pieces = _pieces()

    @property
    def part(self) -> Part:
        """The split that the names belong to."""
        return self._part

    def noun(self) -> str:
        """Draw a noun, lower case."""
        return self._listed("nouns")

    def adjective(self) -> str:
        """Draw an adjective, lower case."""
        return self._proper("adjectives")

    def person(self) -> str:
        """Draw a first name."""
        return self._proper("people").capitalize()

    def place(self) -> str:
        """Draw a city."""
        return self._proper("places").capitalize()

    def _proper(self, name: str) -> str:
        if self._rng.random() < _MADE_UP_PROPER_SHARE:
            return self.made_up()
        return self._listed(name)

    def _listed(self, name: str) -> str:
        return self._rng.choice(_words(name, self._split()))

    def _split(self) -> Part:
        """Say from which split the next word comes: held-out ones are among others."""
        if self._part == "heldout" and self._rng.random() < _NEW_SHARE:
            return "heldout"
        return "train"

    def made_up(self) -> str:
        """Make a word that nobody knows, lower case, of two or three parts."""
        part = self._split()
        while True:
            count = self._rng.choice((2, 2, 3))
            if self._rng.random() < _PIECES_SHARE:
                word = "".join(self._rng.choice(self._pieces) for _ in range(count))
            else:
                word = "".join(self._syllable() for _ in range(count))
            fits = len(word) <= _LONGEST and word not in _TAKEN
            if fits and part_of(word) == part:
                return word

    def _syllable(self) -> str:
        choice = self._rng.choice
        return choice(_ONSETS) + choice(_VOWELS) + choice(_CODAS)

    def word(self) -> str:
        """Draw a lower-case word: a noun or a made-up one."""
        return self.made_up() if self._rng.random() < _MADE_UP_SHARE else self.noun()

    def snake(self, longest: int = 2) -> str:
        """Draw an identifier in snake case.

        Args:
            longest: The most words that it may consist of.

        Returns:
            For example `"river_count"` or `"bold_river"`.
        """
        count = self._rng.randint(1, longest)
        words = [self.word() for _ in range(count)]
        if count > 1 and self._rng.random() < 0.3:  # noqa: PLR2004
            words[0] = self.adjective()
        return "_".join(words)

    def title(self, longest: int = 2) -> str:
        """Draw a class name, for example `"RiverBudget"`."""
        return "".join(word.capitalize() for word in self.snake(longest).split("_"))

    def distinct(self, count: int, longest: int = 2) -> list[str]:
        """Draw `count` different identifiers in snake case."""
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.snake(longest)] = None
        return list(found)
