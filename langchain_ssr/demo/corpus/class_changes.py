"""Changes of mind: what a request says at its end and the reasoning overlooks first.

A change is determined by the request, so the final decision can be judged.
"""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_change import Change
from langchain_ssr.demo.corpus.class_change_kinds import MAKERS
from langchain_ssr.demo.corpus.class_source import method_name
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.example import Draw


def draw_changes(
    draw: Draw, spec: ClassSpec, count: int
) -> tuple[ClassSpec, list[Change]]:
    """Draw changes of mind that do not touch each other's fields.

    Args:
        draw: The choices.
        spec: A class.
        count: How many changes at most.

    Returns:
        The class as it is planned first, and the changes.
    """
    makers = list(MAKERS)
    draw.rng.shuffle(makers)
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
        changes.append(change)
    return spec, changes


def _is_sound(spec: ClassSpec, changes: list[Change]) -> bool:
    """Say whether all names of the class after all changes differ."""
    for change in changes:
        spec = change.apply(spec)
    names = [field.name for field in spec.fields]
    names += [method_name(spec, method) for method in spec.methods]
    return len(set(names)) == len(names)
