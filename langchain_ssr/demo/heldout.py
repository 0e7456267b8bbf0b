"""Held-out conversations, and the proof that training has not seen them."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import re
from collections.abc import Collection, Iterator
from typing import Any

from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.demo.corpus.mixture import conversation

CLOSED_KINDS = frozenset(
    {
        *("talk", "beyond", "next_name"),
        *("sum", "minus", "compare", "even", "next_number"),
    }
)
"""Short questions of which some have no name in them: "How are you?", "What is 2 + 3?".
There are so few of these that a long training has asked most of them."""
_WORD = re.compile(r"[A-Z]?[a-z]+")


@dataclasses.dataclass(frozen=True)
class Seen:
    """What the conversations of a training hold.

    Attributes:
        size: How many conversations these are.
        prompts: Digests of their prompts.
        words: Every word in them, in lower case.
    """

    size: int
    prompts: frozenset[bytes]
    words: frozenset[str]


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """Conversations to evaluate with, each with its place in the held-out stream.

    Attributes:
        chosen: The conversations; whole ones, as `Example.cut` would spoil them.
        excluded: Those of a closed kind that training has; they were left out.
        leaked: Those of the chosen whose prompt training has. There must be none.
        new_words: For each skill, the share of chosen prompts with at least one word
            that is in no training conversation.
    """

    chosen: list[tuple[int, Example]]
    excluded: list[tuple[int, Example]]
    leaked: list[tuple[int, Example]]
    new_words: dict[str, float]


def prompt_of(example: Example) -> str:
    """Return what the model is told before the first turn that it has to answer.

    Args:
        example: The conversation.

    Returns:
        All that system, user and tools say, and the declared tools; any white space
        is one space.
    """
    answers = [i for i, m in enumerate(example.messages) if m["role"] == "assistant"]
    before = example.messages[: answers[-len(example.checks)]]
    said = [m["content"] for m in before if m["role"] != "assistant"]
    return " ".join(" ".join(_strings([said, example.tools])).split())


def read_training(seed: int, size: int) -> Seen:
    """Make the conversations of a training again, and remember what they hold.

    Args:
        seed: The stream that was trained on.
        size: How many conversations of it.
    """
    prompts: set[bytes] = set()
    words: set[str] = set()
    for index in range(size):
        example = conversation(seed, index)
        prompts.add(_digest(prompt_of(example)))
        words.update(_words(" ".join(_strings([example.messages, example.tools]))))
    return Seen(size, frozenset(prompts), frozenset(words))


def choose(seed: int, num: int, skills: Collection[str], seen: Seen) -> HeldOut:
    """Take conversations from the held-out stream.

    Args:
        seed: The stream.
        num: How many conversations of each skill.
        skills: The skills.
        seen: What training has.
    """
    room = dict.fromkeys(skills, num)
    new = dict.fromkeys(skills, 0)
    found = HeldOut([], [], [], {})
    for index in itertools.count():
        if not any(room.values()):
            break
        example = conversation(seed, index, "heldout")
        if not room.get(example.skill):
            continue
        entry = index, dataclasses.replace(example, cut=None, tight=False)
        prompt = prompt_of(example)
        if _digest(prompt) in seen.prompts:
            if example.skill == "short" and example.kind in CLOSED_KINDS:
                found.excluded.append(entry)
                continue
            found.leaked.append(entry)
        found.chosen.append(entry)
        room[example.skill] -= 1
        new[example.skill] += not seen.words.issuperset(_words(prompt))
    found.new_words.update({skill: count / num for skill, count in new.items()})
    return found


def report(held_out: HeldOut, seen: Seen) -> dict[str, Any]:
    """Describe in JSON what was compared and what was found."""

    def brief(entries: list[tuple[int, Example]]) -> list[dict[str, Any]]:
        return [
            {"index": index, "kind": example.kind, "prompt": prompt_of(example)}
            for index, example in entries
        ]

    return {
        "num_training_conversations": seen.size,
        "num_held_out_conversations": len(held_out.chosen),
        "new_words": held_out.new_words,
        "leaked": brief(held_out.leaked),
        "excluded": brief(held_out.excluded),
    }


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in JSON data, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _words(text: str) -> Iterator[str]:
    """Split text and names, `BoldRiver` and `bold_river` alike, into words."""
    return (word.lower() for word in _WORD.findall(text))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
