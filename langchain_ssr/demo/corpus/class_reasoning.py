"""Plans a class step by step, with or without a change of mind."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_change import Change
from langchain_ssr.demo.corpus.class_kinds import fill, slots
from langchain_ssr.demo.corpus.class_request import Wish
from langchain_ssr.demo.corpus.class_source import (
    KINDS,
    decisions,
    method_name,
)
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.example import Draw

_OPENINGS = (
    "The user wants the class `<C>`. I plan it step by step.",
    "I have to write the class `<C>`. I go through the request step by step.",
    "A class `<C>` is needed. I start with the style, then come fields and methods.",
    "Let me plan the class `<C>` before I write it.",
)
_WAITS = ("Wait,", "Hold on,", "Hmm, wait,", "One moment:")
_CHECKS = (
    "I read the request once more. Nothing has to change.",
    "I compare this with the request again: it fits.",
    "All points of the request are covered, nothing changes.",
)
_METHOD_FORMS = (
    "For `<m>`: <h>.",
    "`<m>` is next: <h>.",
    "Now `<m>`: <h>.",
)


def _style_thought(spec: ClassSpec, wish: Wish) -> str:
    if wish.silent_style:
        return (
            "So far no style is asked for, so a plain class with type hints is right."
        )
    if spec.dataclass:
        style = "It is a dataclass, so there is no `__init__` to write."
    elif spec.hints:
        style = "No dataclass is asked for, so it gets an `__init__` with type hints."
    else:
        style = "It gets an `__init__`, and type hints are not wanted."
    docs = "Docstrings are wanted." if spec.docstrings else "Docstrings are not needed."
    return f"{style} {docs}"


def _changed_lines(old: ClassSpec, new: ClassSpec, steps: int) -> list[str]:
    """Return the lines of the first `steps` decisions that a change makes differ."""
    known = set(decisions(old))
    return [line for line in decisions(new)[:steps] if line not in known]


class _Plan:
    """Writes the steps and notices the changes at their places."""

    def __init__(
        self, draw: Draw, spec: ClassSpec, places: list[tuple[int, Change]], wish: Wish
    ) -> None:
        self.spec = spec
        self.parts: list[str] = []
        self._draw = draw
        self._places = places
        self._wish = wish

    def step(self, text: str, number: int) -> None:
        """Add a step and the changes that are noticed right after it."""
        self.parts.append(text)
        for place, change in self._places:
            if place != number:
                continue
            new = change.apply(self.spec)
            lines = _changed_lines(self.spec, new, number + 1)
            wait = f"{self._draw.pick(*_WAITS)} {change.thought}"
            self.parts.append("\n".join([wait, *lines]))
            self.spec = new


def _places(draw: Draw, changes: list[Change], last: int) -> list[tuple[int, Change]]:
    """Choose after which step each change is noticed: early or late."""
    found = []
    for change in changes:
        place = draw.pick(change.after, last, draw.rng.randint(change.after, last))
        found.append((change.after if change.at_once else place, change))
    return sorted(found, key=lambda pair: pair[0])


def write_reasoning(
    draw: Draw, spec: ClassSpec, changes: list[Change], wish: Wish
) -> tuple[str, ClassSpec]:
    """Write the reasoning.

    Args:
        draw: The choices.
        spec: The class as it is planned first.
        changes: The changes of mind.
        wish: What the request said.

    Returns:
        The reasoning, which ends with the decisions, and the class decided on.
    """
    last = len(spec.fields) + len(spec.methods)
    plan = _Plan(draw, spec, _places(draw, changes, last), wish)
    form = draw.pick(*_METHOD_FORMS)
    opening = fill(draw.pick(*_OPENINGS), {"C": spec.name})
    plan.step(f"{opening}\n\n{_style_thought(spec, wish)}\n{spec.line}", 0)
    num_fields = len(spec.fields)
    for number in range(1, num_fields + 1):
        plan.step(decisions(plan.spec)[number], number)
    for index, number in enumerate(range(num_fields + 1, last + 1)):
        now, method = plan.spec, plan.spec.methods[index]
        name = method_name(now, method)
        hint = fill(KINDS[method.kind].hint, slots(now, method))
        thought = fill(form, {"m": name, "h": hint})
        if not (wish.named or method.name or name.startswith("__")):
            thought += " The name is mine."
        plan.step(f"{thought}\n{decisions(now)[number]}", number)
    if not changes:
        plan.parts.append(draw.pick(*_CHECKS))
    closing = "\n".join(["Final decisions:", *decisions(plan.spec)])
    return "\n\n".join([*plan.parts, closing]), plan.spec
