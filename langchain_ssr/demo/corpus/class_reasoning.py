"""Plans a class step by step, with or without a change of mind.

Each step quotes the request's own words, in their order, and decides right after them.
A tiny model copies forward well, and decides well on words that it has just written.
For the same reason the wording never varies, and a change of mind quotes the whole line
that it replaces: from the name, which the request says, to the number at its end.
"""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_change import Change
from langchain_ssr.demo.corpus.class_changes import changed_lines
from langchain_ssr.demo.corpus.class_request import Request
from langchain_ssr.demo.corpus.class_source import decisions
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Method

NOTICED = "Wait, the request also says"
"""How each change of mind begins."""


def _about(spec: ClassSpec, method: Method) -> str:
    """State what the signature depends on: the field's line and the style."""
    text = ""
    if len(method.keys) == 1:
        field = spec.field(method.keys[0])
        text = f" on {field.line} ({spec.fields.index(field) + 1})"
    return text if spec.hints else f"{text}, no type hints"


def _numbered(line: str) -> str:
    """Repeat the number of a field or method at the end of its line."""
    number, dot, _ = line.partition(". ")
    return f"{line} ({number})" if dot and number.isdigit() else line


def _replaced(old: ClassSpec, new: ClassSpec) -> list[str]:
    """Quote the line that a change replaces, then write the new one."""
    (before,), (after,) = changed_lines(new, old), changed_lines(old, new)
    return [_numbered(before).partition(" ")[2], _numbered(after)]


def write_reasoning(
    spec: ClassSpec, changes: list[Change], request: Request
) -> tuple[str, ClassSpec]:
    """Write the reasoning.

    Args:
        spec: The class as it is planned first.
        changes: The changes of mind, in the order of the request.
        request: What the user says.

    Returns:
        The reasoning, which ends with the decisions, and the class decided on.
    """
    lines = iter([_numbered(line) for line in decisions(spec)])
    style = f'"{request.style}"' if request.style else "none"
    parts = [f"The user wants the class `{spec.name}`.\nStyle: {style}\n{next(lines)}"]
    for words in request.fields:
        line = next(lines)
        parts.append(line if request.plain else f'"{words}"\n{line}')
    for words, method in zip(request.methods, spec.methods, strict=True):
        parts.append(f'"{words}"{_about(spec, method)}\n{next(lines)}')
    for words, change in zip(request.tails, changes, strict=True):
        new = change.apply(spec)
        before, after = _replaced(spec, new)
        parts.append(f'{NOTICED} "{words}" {change.thought}\n{before} becomes\n{after}')
        spec = new
    if not changes:
        parts.append("Nothing else is said.")
    closing = "\n".join(["Final decisions:", *decisions(spec)])
    return "\n\n".join(["\n".join(parts), closing]), spec
