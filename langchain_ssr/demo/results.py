"""Counts what was answered rightly, and compares it with what is asked for."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

RUNAWAY = "runaway"
_MOST_MESSAGES = 10
"""Wrong answers of a skill that are kept in full."""


@dataclasses.dataclass(frozen=True)
class Turn:
    """One judged answer.

    Attributes:
        reason: Why it is wrong; None if it is right.
        runaway: Whether it hit the limit of its length, or its reasoning has no end.
        num_tokens: Length of the output, in tokens.
        num_steps: Engine steps that these took.
        message: The answer as a chat-completions message.
    """

    reason: str | None
    runaway: bool
    num_tokens: int
    num_steps: int
    message: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Graded:
    """One conversation with all its turns judged; right if all of them are.

    Attributes:
        index: Its place in the held-out stream.
        skill: What it needs.
        kind: The finer name within the skill.
        turns: Its turns, in order.
    """

    index: int
    skill: str
    kind: str
    turns: Sequence[Turn]

    @property
    def right(self) -> bool:
        """Whether every turn is right."""
        return all(turn.reason is None for turn in self.turns)


def parse_minimum(text: str) -> dict[str, float]:
    """Read what `--min` says.

    Args:
        text: For example `"code=0.9,runaway=0"`: the least share of right
            conversations for a skill, the largest share of turns for `runaway`.

    Returns:
        The shares, by name.

    Raises:
        ValueError: If it is spelled in another way, or a share is not in 0..1.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*", part)
        if not found or not 0 <= float(found[2]) <= 1:
            raise ValueError(f"{part!r} is not of the form name=share")
        if found[1] in shares:
            raise ValueError(f"{found[1]} is there twice")
        shares[found[1]] = float(found[2])
    return shares


def summarize(graded: Iterable[Graded]) -> dict[str, Any]:
    """Count.

    Args:
        graded: The judged conversations.

    Returns:
        JSON data: `skills` (for each its right conversations and turns, also by kind),
        `runaway`, `num_tokens`, `num_steps` and `failures` (every wrong turn; the first
        few of a skill with the whole message).
    """
    ordered = sorted(graded, key=lambda one: one.index)
    by_skill: dict[str, list[Graded]] = collections.defaultdict(list)
    for one in ordered:
        by_skill[one.skill].append(one)
    turns = [turn for one in ordered for turn in one.turns]
    runaway = sum(turn.runaway for turn in turns)
    return {
        "skills": {
            skill: {**_count(all_of_it), "kinds": _by_kind(all_of_it)}
            for skill, all_of_it in sorted(by_skill.items())
        },
        RUNAWAY: {
            "turns": runaway,
            "of": len(turns),
            "share": runaway / max(len(turns), 1),
        },
        "num_tokens": sum(turn.num_tokens for turn in turns),
        "num_steps": sum(turn.num_steps for turn in turns),
        "failures": [f for part in by_skill.values() for f in _failures(part)],
    }


def shortfalls(summary: Mapping[str, Any], minimum: Mapping[str, float]) -> list[str]:
    """Name what is worse than asked for.

    Args:
        summary: What `summarize` returned.
        minimum: What `parse_minimum` returned.

    Returns:
        A sentence each; none if all is well.
    """
    found = []
    for name, wanted in minimum.items():
        if name == RUNAWAY:
            share = summary[RUNAWAY]["share"]
            if share > wanted:
                found.append(f"{name}: {share:.3f} is more than {wanted:g}")
        else:
            share = summary["skills"].get(name, {}).get("accuracy", 0.0)
            if share < wanted:
                found.append(f"{name}: {share:.3f} is less than {wanted:g}")
    return found


def one_line(summary: Mapping[str, Any]) -> str:
    """Say in one line how many conversations of each skill are right."""
    parts = [
        f"{skill} {count['accuracy']:.3f} ({count['right']}/{count['of']})"
        for skill, count in summary["skills"].items()
    ]
    return ", ".join([*parts, f"{RUNAWAY} {summary[RUNAWAY]['turns']}"])


def _count(graded: Sequence[Graded]) -> dict[str, Any]:
    turns = [turn.reason is None for one in graded for turn in one.turns]
    right = sum(one.right for one in graded)
    return {
        "right": right,
        "of": len(graded),
        "accuracy": right / len(graded),
        "turns": {"right": sum(turns), "of": len(turns)},
    }


def _by_kind(graded: Sequence[Graded]) -> dict[str, Any]:
    kinds: dict[str, list[Graded]] = collections.defaultdict(list)
    for one in graded:
        kinds[one.kind].append(one)
    return {kind: _count(part) for kind, part in sorted(kinds.items())}


def _failures(graded: Sequence[Graded]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for one in graded:
        for number, turn in enumerate(one.turns):
            if turn.reason is not None:
                where = {"index": one.index, "skill": one.skill, "kind": one.kind}
                failure = {**where, "turn": number, "reason": turn.reason}
                if len(found) < _MOST_MESSAGES:
                    failure["message"] = dict(turn.message)
                found.append(failure)
    return found
