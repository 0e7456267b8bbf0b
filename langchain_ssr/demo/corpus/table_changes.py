"""Instructions that change a table: rename a column, wrap the rows, and so on.

Each is a sentence of the request, what the reasoning concludes from it, and the table
that results. So whatever the reasoning overlooks first is determined by the request.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tables import Column, Table, draw_key


@dataclasses.dataclass(frozen=True)
class Change:
    """One instruction.

    Attributes:
        kind: Its name.
        sentence: What the request says, an imperative without its full stop.
        conclusion: What the reasoning concludes, whole sentences.
        table: The table after it.
        keys: Keys that it is about, so that no other change undoes it.
    """

    kind: str
    sentence: str
    conclusion: str
    table: Table
    keys: tuple[str, ...] = ()


_Make = Callable[[Draw, Table, frozenset[str]], Change | None]


def _walk(before: Table, after: Table) -> str:
    """Go through the keys up to the last that changes.

    A tiny model does not know the number of a key, but it can go on in a list until it
    meets the key: then the number stands there.
    """
    pairs = list(zip(before.keys, after.keys, strict=True))
    while pairs[-1][0] == pairs[-1][1]:
        pairs.pop()
    steps = [
        f"{n} `{old}`" + (f" becomes {n} `{new}`" if new != old else "")
        for n, (old, new) in enumerate(pairs, 1)
    ]
    return f"So {', '.join(steps)}."


def _rename(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    free = [i for i, key in enumerate(table.keys) if key not in taken]
    if not free:
        return None
    index = draw.pick(*free)
    column = table.columns[index]
    old, new = column.key, draw_key(draw, column.kind, [*table.keys, *taken])
    sentence = draw.pick(
        f"rename `{old}` to `{new}`",
        f"call `{old}` `{new}`",
        f"change the name of `{old}` to `{new}`",
    )
    columns = list(table.columns)
    columns[index] = Column(new, column.kind)
    after = dataclasses.replace(table, columns=tuple(columns))
    return Change("rename", sentence, _walk(table, after), after, (old, new))


def _snake(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    spaced = [key for key in table.keys if " " in key]
    if not spaced or taken.intersection(spaced):
        return None
    sentence = draw.pick(
        "use snake_case keys",
        "write the keys in snake_case",
        "use underscores in the keys",
        "put underscores instead of spaces into the keys",
    )
    columns = (Column(c.key.replace(" ", "_"), c.kind) for c in table.columns)
    after = dataclasses.replace(table, columns=tuple(columns))
    return Change("snake", sentence, _walk(table, after), after)


def _root(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    key = draw_key(draw, "name", [*table.keys, *taken])
    sentence = draw.pick(
        f"put the rows under the key `{key}`",
        f"wrap the list in an object with the key `{key}`",
        f"use `{key}` as the top key",
    )
    conclusion = f"So the top key is `{key}`."
    after = dataclasses.replace(table, root=key)
    return Change("root", sentence, conclusion, after, (key,))


# Changes that few tables allow have the large weights.
_PLAIN: list[tuple[_Make, int]] = [(_rename, 6), (_snake, 20)]
_TYPED: list[tuple[_Make, int]] = [*_PLAIN, (_root, 5)]
KEY_CHANGES = frozenset({"rename", "snake"})
"""Kinds that change the keys of columns."""
_OFTEN = frozenset({"rename"})
"""Kinds of which a request may have several, each about other keys."""


def draw_changes(draw: Draw, table: Table, count: int, *, typed: bool) -> list[Change]:
    """Draw changes, each applied to the table of the one before.

    A tiny model can make changes of a cell or a key where they stand. Those that move
    or drop cells it can't: it would have to leave the order in which it reads.

    Args:
        draw: The choices.
        table: The table to begin with.
        count: How many changes.
        typed: Whether the target has types (JSON, YAML).

    Returns:
        The changes.
    """
    makers, weights = zip(*(_TYPED if typed else _PLAIN), strict=True)
    changes: list[Change] = []
    while len(changes) < count:
        (make,) = draw.rng.choices(makers, weights)
        taken = frozenset(key for change in changes for key in change.keys)
        change = make(draw, changes[-1].table if changes else table, taken)
        kinds = {done.kind for done in changes} - _OFTEN
        if change and change.kind not in kinds:
            changes.append(change)
    return changes
