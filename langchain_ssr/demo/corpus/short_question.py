"""What a generator of short questions makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.example import Draw


@dataclasses.dataclass(frozen=True)
class Short:
    """A short question with its answer.

    Attributes:
        turns: Texts of user and assistant in turn, the question last.
        reasoning: What leads to the answer.
        answer: The answer.
        sentence: The answer as a sentence; empty if it is none other than `answer`.
        also: Other answers that are as good.
    """

    turns: list[str]
    reasoning: str
    answer: str
    sentence: str = ""
    also: tuple[str, ...] = ()


ShortMaker = Callable[[Draw], Short]


def distinct_names(draw: Draw, count: int) -> list[str]:
    """Draw different names of one sort: people, places or words."""
    source = draw.pick(draw.words.person, draw.words.place, draw.words.word)
    found: dict[str, None] = {}
    while len(found) < count:
        found[source()] = None
    return list(found)


def people(draw: Draw, count: int) -> list[str]:
    """Draw different people."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw.words.person()] = None
    return list(found)
