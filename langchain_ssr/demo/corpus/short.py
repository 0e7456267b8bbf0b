"""Short questions: a name, a number, yes or no, small talk, what was said before."""

from __future__ import annotations

from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.short_facts import FACT_MAKERS
from langchain_ssr.demo.corpus.short_lists import LIST_MAKERS
from langchain_ssr.demo.corpus.short_numbers import NUMBER_MAKERS
from langchain_ssr.demo.corpus.short_question import ShortMaker
from langchain_ssr.demo.corpus.short_talk import TALK_MAKERS
from langchain_ssr.demo.corpus.short_turns import TURN_MAKERS
from langchain_ssr.demo.corpus.wording import conversation

_SENTENCE_WISHES = (
    "Answer in a sentence.",
    "Answer in one short sentence.",
    "Please answer with a sentence.",
    "Use a full sentence.",
)
_SHORT_WISHES = (
    "Answer in one word.",
    "Just the answer, please.",
    "Only the answer.",
    "Keep it short.",
    "No explanation, please.",
)
_GROUPS: tuple[tuple[dict[str, ShortMaker], float], ...] = (
    (LIST_MAKERS, 0.28),
    (NUMBER_MAKERS, 0.24),
    (FACT_MAKERS, 0.18),
    (TURN_MAKERS, 0.14),
    (TALK_MAKERS, 0.16),
)


def make_short(draw: Draw) -> Example:
    """Ask a short question.

    Args:
        draw: The choices.

    Returns:
        The conversation; its kind is `"most"`, `"sum"`, `"talk"` or alike.
    """
    groups, weights = zip(*_GROUPS, strict=True)
    (makers,) = draw.rng.choices(groups, weights)
    name, make = draw.pick(*makers.items())
    short = make(draw)
    *before, question = short.turns
    answer, thought = short.answer, short.reasoning
    accepted = [answer, *short.also]
    if short.sentence:
        thought = f"{thought}\nSo the answer is `{answer}`."
        gap = "\n" if "\n" in question else " "
        if draw.chance(0.25):
            question = f"{question}{gap}{draw.pick(*_SENTENCE_WISHES)}"
            thought += " It has to be a sentence."
            answer = short.sentence
            accepted = [answer]
        elif draw.chance(0.3):
            question = f"{question}{gap}{draw.pick(*_SHORT_WISHES)}"
    return conversation(
        draw,
        ("short", name),
        [*before, question],
        (thought, answer),
        Check("text", accepted),
    )
