"""Held-out conversations of the demo model as requests, judged as in its evaluation."""

from __future__ import annotations

import functools
import itertools
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_ssr.bench.items import Item, Verdict, messages_to_json, right_or_wrong
from langchain_ssr.demo.asking import history
from langchain_ssr.demo.corpus.example import Example, Skill
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.demo.grading import grade
from langchain_ssr.errors import SettingsError

SKILLS: tuple[str, ...] = typing.get_args(Skill)


def demo_items(skills: Iterable[str], num: int, seed: int = 0) -> list[Item]:
    """Take conversations from the demo model's held-out stream.

    Every turn of a conversation is a request; the turns before it are as the corpus
    has them, so that all modes answer the same one.

    Args:
        skills: Whose conversations.
        num: How many conversations of each.
        seed: Of the stream.

    Raises:
        SettingsError: If there is no such skill.
    """
    chosen = list(skills)
    if unknown := set(chosen) - set(SKILLS):
        raise SettingsError(
            f"the demo model has no skill {min(unknown)!r}; it has {', '.join(SKILLS)}"
        )
    return [
        item
        for skill in chosen
        for index, example in itertools.islice(_of_skill(skill, seed), num)
        for item in _turns(f"{skill}-{seed}-{index}", example)
    ]


def _of_skill(skill: str, seed: int) -> Iterator[tuple[int, Example]]:
    for index in itertools.count():
        example = conversation(seed, index, "heldout")
        if example.skill == skill:
            yield index, example


def _turns(name: str, example: Example) -> Iterator[Item]:
    for turn in range(len(example.checks)):
        yield Item(
            f"{name}-{turn}",
            f"demo {example.skill}",
            messages_to_json(history(example, turn)),
            tools=example.tools,
            settings={"enable_thinking": example.enable_thinking},
            conversation=name,
            judge=functools.partial(_judge, example, turn),
        )


def _judge(example: Example, turn: int, message: Mapping[str, Any]) -> Verdict:
    return right_or_wrong(grade(example, turn, message))
