"""Changes of mind: what a request says at its end and the reasoning notices last.

A change is determined by the request, so the final decision can be judged. It begins
with a cue and changes one decision: a tiny model learns to copy it, not to search.
"""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_change import Change
from langchain_ssr.demo.corpus.class_change_kinds import MAKERS
from langchain_ssr.demo.corpus.class_source import decisions, method_name
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.example import Draw

_CUES = ("One more thing: ", "Oh, and ", "Before I forget: ", "P.S. ", "Correction: ")


def draw_changes(
    draw: Draw, spec: ClassSpec, count: int
) -> tuple[ClassSpec, list[Change]]:
    """Draw changes of mind that do not touch each other's fields.

    Args:
        draw: The choices.
        spec: A class.
        count: How many changes at most.

    Returns:
        The class as it is planned first, and the changes in the order of the request.
    """
    makers = list(MAKERS)
    draw.rng.shuffle(makers)
    cues = draw.rng.sample(_CUES, len(_CUES))
    changes: list[Change] = []
    taken: set[int] = set()
    for make in makers:
        if len(changes) == count:
            break
        change = make(draw, spec)
        if change is None or taken & change.keys:
            continue
        if not _is_sound(change.before, [*changes, change]):
            continue
        spec = change.before
        taken |= change.keys
        tail = cues[len(changes)] + change.tail
        changes.append(dataclasses.replace(change, tail=tail))
    return spec, changes


def changed_lines(old: ClassSpec, new: ClassSpec) -> list[str]:
    """Return the decisions that a change makes differ."""
    known = set(decisions(old))
    return [line for line in decisions(new) if line not in known]


def _is_sound(spec: ClassSpec, changes: list[Change]) -> bool:
    """Say whether each change makes one line differ and all names still differ."""
    for change in changes:
        new = change.apply(spec)
        if len(changed_lines(spec, new)) != 1:
            return False
        spec = new
    names = [field.name for field in spec.fields]
    names += [method_name(spec, method) for method in spec.methods]
    return len(set(names)) == len(names)
