"""Questions about data: a table turned into another format, a configuration."""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_ssr.demo.corpus import render
from langchain_ssr.demo.corpus.config import make_config
from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.layout import Layout, draw_layout
from langchain_ssr.demo.corpus.render import FORMAT_NAMES, Format
from langchain_ssr.demo.corpus.table_changes import KEY_CHANGES, Change, draw_changes
from langchain_ssr.demo.corpus.tables import Table, draw_table
from langchain_ssr.demo.corpus.wording import (
    EARLY_CUES,
    LATE_CUES,
    capitalized,
    conversation,
    noticed,
    numbered,
    ticks,
)

__all__ = ["make_config", "make_table"]

_SOURCE_NAMES = {
    "markdown": ("Markdown table", "table"),
    "csv": ("CSV", "CSV data", "CSV file"),
    "list": ("list", "bullet list"),
}
_TARGET_NAMES: dict[Format, tuple[str, ...]] = {
    "json": ("JSON", "a JSON array", "a JSON array of objects"),
    "yaml": ("YAML", "a YAML list", "YAML"),
    "csv": ("CSV", "a CSV file", "CSV"),
    "markdown": ("a Markdown table", "a table in Markdown"),
}
_TARGETS: tuple[Format, ...] = ("json",) * 4 + ("yaml",) * 2 + ("csv", "markdown")
_ORDERS = (
    "Convert this {s} to {t}.",
    "Convert the {s} below into {t}.",
    "Turn this {s} into {t}.",
    "Turn the following {s} into {t}.",
    "Rewrite this {s} as {t}.",
    "Write this {s} as {t}.",
    "Please give me this {s} as {t}.",
    "I need this {s} as {t}.",
    "Please make {t} from this {s}.",
    "Transform this {s} into {t}.",
    "Export this {s} as {t}.",
    "Change this {s} to {t}.",
    "Please format this {s} as {t}.",
)
_QUESTIONS = (
    "Can you convert this {s} to {t}?",
    "Could you turn this {s} into {t}?",
    "Would you write this {s} as {t} for me?",
    "Can I have this {s} as {t}?",
    "How does this {s} look as {t}?",
    "What is this {s} as {t}?",
    "Could you please change this {s} into {t}?",
)


@dataclasses.dataclass(frozen=True)
class _Task:
    """What is asked, and at which point the reasoning sees which change."""

    source: str
    target: Format
    table: Table
    known: list[Change]
    early: list[Change]
    late: list[Change]
    layout: Layout
    one_line: bool

    def before_walk(self) -> Table:
        seen = [*self.known, *self.early]
        return seen[-1].table if seen else self.table

    def final(self) -> Table:
        return self.late[-1].table if self.late else self.before_walk()


def _draw_task(draw: Draw) -> _Task:
    source: str = draw.pick(*_SOURCE_NAMES)
    target: Format = draw.pick(*_TARGETS)
    while target == source:
        target = draw.pick(*_TARGETS)
    spaced = draw.chance(0.25)
    table = draw_table(draw, spaced=spaced)
    known = draw.pick(0, 0, 1, 1, 1, 2)
    early = late = 0
    if draw.chance(0.5):
        early, late = draw.pick((1, 0), (1, 0), (0, 1), (0, 1), (1, 1))
    # A table of two columns has no room for more.
    known = min(known, 2 - early - late)
    changes = draw_changes(
        draw, table, known + early + late, typed=target in {"json", "yaml"}
    )
    return _Task(
        source,
        target,
        table,
        changes[:known],
        changes[known : known + early],
        changes[known + early :],
        draw_layout(draw),
        target == "json" and draw.chance(0.35),
    )


def _source_text(draw: Draw, task: _Task) -> str:
    if task.source == "markdown":
        return render.markdown(task.table)
    if task.source == "csv":
        text = render.csv(task.table)
        return f"```\n{text}\n```" if draw.chance(0.3) else text
    return render.bullets(task.table, draw.pick(", ", ", ", "; "))


def _request(draw: Draw, task: _Task) -> str:
    mark = draw.pick("`", "`", '"', "")
    first = draw.pick(*(_QUESTIONS if task.layout.sentence else _ORDERS)).format(
        s=draw.pick(*_SOURCE_NAMES[task.source]),
        t=draw.pick(*_TARGET_NAMES[task.target]),
    )
    said = [first]
    said += [f"{capitalized(change.sentence)}." for change in task.known]
    if task.one_line:
        said.append(draw.pick(*_ONE_LINE))
    if task.layout.raw:
        said.append(task.layout.request(FORMAT_NAMES[task.target]))
    after = [f"{draw.pick(*EARLY_CUES)}{change.sentence}." for change in task.early]
    after += [f"{draw.pick(*LATE_CUES)}{change.sentence}." for change in task.late]
    if not after and draw.chance(0.2):
        after = [draw.pick("Thank you.", "Thanks!", "That is all.")]
    before, end = (" ".join(s).replace("`", mark) for s in (said, after))
    parts = [before, _source_text(draw, task), end]
    if draw.chance(0.2):
        parts = [parts[1], f"{before} {end}"]
    return "\n\n".join(part.strip() for part in parts if part)


_ONE_LINE = (
    "Put each object on one line.",
    "Write one object per line.",
    "Keep every object on a single line.",
)


def _row(table: Table, values: list[str]) -> str:
    pairs = zip(table.keys, values, strict=True)
    return ", ".join(f"{key} `{value}`" for key, value in pairs)


def _decisions(task: _Task) -> tuple[str, ...]:
    table = task.final()
    lines = [f"- format: {FORMAT_NAMES[task.target]}", f"- form: {task.layout.form}"]
    if task.target == "json":
        lines.append(f"- layout: one line per {'object' if task.one_line else 'key'}")
    if task.target in {"json", "yaml"}:
        lines.append(f"- top key: {f'`{table.root}`' if table.root else 'none'}")
    lines += [
        f"- keys: {numbered(table.keys)}",
        f"- rows: {len(table.rows)}",
    ]
    for number, row in enumerate(table.rows, 1):
        values = render.literals(table, row, task.target)
        # Rows are written with keys where the answer repeats them in every row.
        keyed = task.target in {"json", "yaml"}
        lines.append(
            f"- row {number}: {_row(table, values) if keyed else ticks(values)}"
        )
    return tuple(lines)


def _new_keys(change: Change) -> list[str]:
    """Write the keys again where they have changed, one change at a time."""
    if change.kind not in KEY_CHANGES:
        return []
    return [f"Now the keys are {numbered(change.table.keys)}."]


def _reasoning(task: _Task, decisions: tuple[str, ...]) -> str:
    lines = [
        f"The user wants {FORMAT_NAMES[task.target]}.",
        f"The keys of the source are {numbered(task.table.keys)}.",
    ]
    for change in task.known:
        lines.append(f"It says to {change.sentence}. {change.conclusion}")
        lines += _new_keys(change)
    lines.append(f"The form is {task.layout.form}.")
    walked = task.before_walk()
    for change in task.early:
        lines.append(noticed(change.sentence, change.conclusion))
        lines += _new_keys(change)
    if task.target in {"json", "yaml"} and not walked.root:
        lines.append("There is no top key.")
    lines += [f"So the keys are {numbered(walked.keys)}.", "Row by row:"]
    lines += [
        f"Row {number}: {_row(walked, list(row))}"
        for number, row in enumerate(walked.rows, 1)
    ]
    for change in task.late:
        lines.append(noticed(change.sentence, change.conclusion))
        lines += _new_keys(change)
    final = task.final()
    lines += [f"That makes {len(final.rows)} rows.", "Final decisions:", *decisions]
    return "\n".join(lines)


def make_table(draw: Draw) -> Example:
    """Ask for a table in another format, with changes.

    Args:
        draw: The choices.

    Returns:
        The conversation; its kind is `"markdown_to_json"` or alike.
    """
    task = _draw_task(draw)
    table, target = task.final(), task.target
    text = render.table_text(table, target, one_line=task.one_line)
    decisions = _decisions(task)
    expected: dict[str, Any] = {
        "format": target,
        "value": table.values() if target in {"json", "yaml"} else table.grid(),
        "raw": task.layout.raw,
    }
    return conversation(
        draw,
        ("data", f"{task.source}_to_{target}"),
        [_request(draw, task)],
        (
            _reasoning(task, decisions),
            task.layout.answer(text, target, FORMAT_NAMES[target]),
        ),
        Check("data", expected, decisions),
    )
