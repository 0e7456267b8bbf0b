"""Drills in writing the same things in another form.

In a table that becomes JSON, in fields that become a signature, the next item stands
behind other signs than those in front of it now. To find it, attention has to look up
the item before, and go on from there past whatever follows it. Conversations ask for
this at few of their tokens; here nearly every token does.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from langchain_ssr.demo.corpus import render
from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tables import Table, draw_table
from langchain_ssr.demo.corpus.vocabulary import Vocabulary

Piece = tuple[str, bool]
"""A text, and whether it is to be learned."""
_TYPES = ("int", "str", "float", "bool", "list[str]", "list[int]", "set[int]", "dict")
_MOST_FORMS = 4


def transcription(seed: int, index: int) -> list[Piece]:
    """Make one drill: some things in one form, then in others.

    Args:
        seed: The stream.
        index: Its place in the stream, from 0.

    Returns:
        The first form, which is given, and the others, which are to be learned. Each
        begins with its name.
    """
    rng = random.Random(f"{seed}/transcription/{index}")
    draw = Draw(rng, Vocabulary(rng, "train"))
    forms = draw.pick(_tables, _tables, _fields, _lists)(draw)
    chosen = rng.sample(sorted(forms), min(len(forms), rng.randint(2, _MOST_FORMS)))
    pieces: list[Piece] = []
    for number, name in enumerate(chosen):
        pieces += [(f"# {name}\n", False), (f"{forms[name]}\n", number > 0)]
    return pieces


def _tables(draw: Draw) -> dict[str, str]:
    table = draw_table(draw, spaced=False)
    return {
        "csv": render.csv(table),
        "markdown": render.markdown(table),
        "json": render.json(table, one_line=False),
        "json lines": render.json(table, one_line=True),
        "yaml": render.yaml(table),
        "bullets": render.bullets(table, ", "),
        "rows": _rows(table, "Row {}: ", lambda value: f"`{value}`"),
        "decisions": _rows(table, "- row {}: ", json.dumps),
        "columns": "\n".join(
            f"`{key}`: {_ticks(table.cells(i))}" for i, key in enumerate(table.keys)
        ),
    }


def _rows(table: Table, head: str, spell: Callable[[str], str]) -> str:
    return "\n".join(
        head.format(number)
        + ", ".join(f"{k} {spell(v)}" for k, v in zip(table.keys, row, strict=True))
        for number, row in enumerate(table.rows, 1)
    )


def _fields(draw: Draw) -> dict[str, str]:
    names = _distinct(draw, draw.rng.randint(3, 8))
    types = [draw.pick(*_TYPES) for _ in names]
    both = list(zip(names, types, strict=True))
    return {
        "fields": "\n".join(f"- `{name}`: {kind}" for name, kind in both),
        "numbered": "\n".join(
            f"{i}. {kind} `{name}`" for i, (name, kind) in enumerate(both, 1)
        ),
        "of type": "\n".join(f"- {name} of type {kind}" for name, kind in both),
        "decided": "\n\n".join(
            f"- `{name}`: `{kind}`, required" for name, kind in both
        ),
        "signature": f"({', '.join(f'{name}: {kind}' for name, kind in both)})",
        "assigned": "\n".join(f"        self.{name} = {name}" for name in names),
        "declared": "\n".join(f"    {name}: {kind}" for name, kind in both),
        "names": _ticks(names),
        "data": ", ".join(f'data["{name}"]' for name in names),
    }


def _lists(draw: Draw) -> dict[str, str]:
    items = _distinct(draw, draw.rng.randint(3, 9))
    renamed, gone = draw.rng.sample(items, 2)
    new = draw.words.snake(draw.pick(1, 2))
    return {
        "plain": ", ".join(items),
        "ticks": _ticks(items),
        "quoted": ", ".join(f'"{item}"' for item in items),
        "bullets": "\n".join(f"- {item}" for item in items),
        "numbers": "\n".join(f"{i}. `{item}`" for i, item in enumerate(items, 1)),
        "json": json.dumps(items, indent=2),
        "backwards": _ticks(items[::-1]),
        f"`{renamed}` becomes `{new}`": "\n".join(
            f"- `{new if item == renamed else item}`" for item in items
        ),
        f"without `{gone}`": "\n".join(f"- `{x}`" for x in items if x != gone),
    }


def _distinct(draw: Draw, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw.words.snake(draw.pick(1, 1, 2))] = None
    return list(found)


def _ticks(items: Sequence[str]) -> str:
    return ", ".join(f"`{item}`" for item in items)
