"""Statistics as tables; the cells are the same in text and in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_ssr.rendering.looks import look_of
from langchain_ssr.stats import SpeculationStats


@dataclass(frozen=True)
class Table:
    """A table with a head. The first column holds names, the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables_of(stats: SpeculationStats) -> list[Table]:
    """Return the tables of an answer: phases, sources that proposed, and drafts."""
    tables = [_phases(stats), _sources(stats), _drafts(stats)]
    return [table for table in tables if table.rows]


def as_text(tables: Iterable[Table]) -> str:
    """Write tables below each other, their columns aligned."""
    return "\n\n".join(_text(table) for table in tables)


def _text(table: Table) -> str:
    lines = [table.head, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([name, *numbers]).rstrip()


def _phases(stats: SpeculationStats) -> Table:
    thinking = (stats.num_reasoning_tokens, stats.num_reasoning_steps)
    answer = (stats.num_answer_tokens, stats.num_answer_steps)
    both = (thinking[0] + answer[0], thinking[1] + answer[1])
    return Table(
        ("phase", "tokens", "steps", "tokens/step"),
        [
            (name, str(tokens), str(steps), f"{tokens / steps:.2f}" if steps else "-")
            for name, (tokens, steps) in (
                ("thinking", thinking),
                ("answer", answer),
                ("both", both),
            )
        ],
    )


def _sources(stats: SpeculationStats) -> Table:
    return Table(
        ("source", "proposed", "accepted", "share"),
        [
            (
                look_of(name)[1].label,
                str(count.num_draft_tokens),
                str(count.num_accepted_draft_tokens),
                f"{count.num_accepted_draft_tokens / count.num_draft_tokens:.0%}",
            )
            for name, count in stats.sources.items()
            if count.num_draft_tokens
        ],
    )


def _drafts(stats: SpeculationStats) -> Table:
    return Table(
        ("draft", "forked at", "tokens", "accepted", "ms", "end"),
        [
            (
                str(number),
                _cell(draft.get("num_reasoning_tokens")),
                _cell(draft.get("num_tokens")),
                _cell(draft.get("num_accepted_draft_tokens")),
                _cell(draft.get("duration_ms")),
                _cell(draft.get("finish_reason")),
            )
            for number, draft in enumerate(stats.drafts, 1)
        ],
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if isinstance(value, float) else str(value)
