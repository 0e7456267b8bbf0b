"""Instructions that change a table: rename a column, drop one, sort, and so on.

Each is a sentence of the request, what the reasoning concludes from it, and the table
that results. So whatever the reasoning overlooks first is determined by the request.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tables import SORTABLE_ROWS, Column, Table, draw_key
from langchain_ssr.demo.corpus.wording import ticks


@dataclasses.dataclass(frozen=True)
class Change:
    """One instruction.

    Attributes:
        kind: Its name; a request has each kind at most once.
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


def _free(table: Table, taken: frozenset[str]) -> list[int]:
    """Columns that do not name the rows and that no change is about yet."""
    return [
        index
        for index, column in enumerate(table.columns)
        if column.kind != "name" and column.key not in taken
    ]


def _with_column(table: Table, index: int, column: Column) -> Table:
    columns = (*table.columns[:index], column, *table.columns[index + 1 :])
    return dataclasses.replace(table, columns=columns)


def _select(table: Table, indices: list[int]) -> Table:
    return dataclasses.replace(
        table,
        columns=tuple(table.columns[i] for i in indices),
        rows=tuple(tuple(row[i] for i in indices) for row in table.rows),
    )


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
        f"use `{new}` instead of `{old}`",
        f"change the name of `{old}` to `{new}`",
    )
    after = _with_column(table, index, Column(new, column.kind))
    return Change("rename", sentence, f"So `{old}` becomes `{new}`.", after, (old, new))


def _drop_column(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    free = _free(table, taken)
    if not free or len(table.columns) < 3:  # noqa: PLR2004
        return None
    index = draw.pick(*free)
    key = table.keys[index]
    sentence = draw.pick(
        f"drop `{key}`",
        f"leave out `{key}`",
        f"remove the column `{key}`",
        f"omit `{key}`",
    )
    after = _select(table, [i for i in range(len(table.columns)) if i != index])
    return Change("drop_column", sentence, f"So `{key}` goes.", after, (key,))


def _put_first(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    free = [index for index in _free(table, taken) if index]
    if not free:
        return None
    index = draw.pick(*free)
    key = table.keys[index]
    sentence = draw.pick(
        f"put `{key}` first",
        f"start with `{key}`",
        f"make `{key}` the first column",
    )
    others = [i for i in range(len(table.columns)) if i != index]
    after = dataclasses.replace(_select(table, [index, *others]), key_order=True)
    return Change("first", sentence, f"So `{key}` comes first.", after, (key,))


def _as_string(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    numbers = [
        i for i in _free(table, taken) if table.columns[i].kind in {"int", "float"}
    ]
    if not numbers:
        return None
    index = draw.pick(*numbers)
    key = table.keys[index]
    sentence = draw.pick(
        f"keep `{key}` as a string",
        f"write `{key}` as a string",
        f"use strings for `{key}`",
        f"put the values of `{key}` in quotes",
    )
    conclusion = f"So `{key}` is a string with quotes, not a number."
    after = _with_column(table, index, Column(key, "text"))
    return Change("string", sentence, conclusion, after, (key,))


def _sort(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    free = [
        i
        for i in _free(table, taken)
        if table.columns[i].kind == "int"
        and all(len(cell) == 1 for cell in table.cells(i))
        and len(set(table.cells(i))) == len(table.rows)
    ]
    if not free or len(table.rows) > SORTABLE_ROWS:
        return None
    index = draw.pick(*free)
    key, down = table.keys[index], draw.chance(0.4)
    how = "largest first" if down else "smallest first"
    sentence = draw.pick(f"sort by `{key}`", f"sort the rows by `{key}`") + f", {how}"
    rows = sorted(table.rows, key=lambda row: int(row[index]), reverse=down)
    after = dataclasses.replace(table, rows=tuple(rows), order=f"by `{key}`, {how}")
    conclusion = (
        f"The values of `{key}` are {ticks(table.cells(index))}. "
        f"Sorted, {how}: {ticks(after.cells(index))}. "
        f"So the order is {ticks(after.cells(table.name_index))}."
    )
    return Change("sort", sentence, conclusion, after, (key,))


def _drop_row(draw: Draw, table: Table, _taken: frozenset[str]) -> Change | None:
    if len(table.rows) <= 3:  # noqa: PLR2004
        return None
    names = table.cells(table.name_index)
    name = draw.pick(*names)
    sentence = draw.pick(
        f"leave out the row of `{name}`",
        f"drop the row `{name}`",
        f"skip `{name}`",
        f"ignore the row `{name}`",
    )
    rows = (row for row in table.rows if row[table.name_index] != name)
    after = dataclasses.replace(table, rows=tuple(rows))
    return Change("drop_row", sentence, f"So the row of `{name}` goes.", after)


def _constant(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    key, value = draw_key(draw, "text", [*table.keys, *taken]), draw.words.word()
    sentence = draw.pick(
        f"add the column `{key}` with the value `{value}` in every row",
        f"add `{key}` with the value `{value}` to each row",
        f"set `{key}` to `{value}` in all rows",
    )
    after = dataclasses.replace(
        table,
        columns=(*table.columns, Column(key, "str")),
        rows=tuple((*row, value) for row in table.rows),
    )
    conclusion = f"So `{key}` comes last and is always `{value}`."
    return Change("constant", sentence, conclusion, after, (key,))


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
    pairs = "; ".join(f"`{key}` becomes `{key.replace(' ', '_')}`" for key in spaced)
    columns = (Column(c.key.replace(" ", "_"), c.kind) for c in table.columns)
    after = dataclasses.replace(table, columns=tuple(columns))
    return Change("snake", sentence, f"So {pairs}.", after)


def _true_false(draw: Draw, table: Table, _taken: frozenset[str]) -> Change | None:
    if not any(column.kind == "bool" for column in table.columns):
        return None
    sentence = draw.pick(
        "write `true` and `false` instead of `yes` and `no`",
        "use `true` and `false` for `yes` and `no`",
        "turn `yes` into `true` and `no` into `false`",
    )
    spelling = {"yes": "true", "no": "false"}
    rows = (
        tuple(
            spelling.get(cell, cell) if column.kind == "bool" else cell
            for column, cell in zip(table.columns, row, strict=True)
        )
        for row in table.rows
    )
    conclusion = "So `yes` becomes `true` and `no` becomes `false`."
    after = dataclasses.replace(table, rows=tuple(rows))
    return Change("true_false", sentence, conclusion, after)


def _root(draw: Draw, table: Table, taken: frozenset[str]) -> Change | None:
    key = draw_key(draw, "text", [*table.keys, *taken])
    sentence = draw.pick(
        f"put the rows under the key `{key}`",
        f"wrap the list in an object with the key `{key}`",
        f"use `{key}` as the top key",
    )
    conclusion = f"So the top is an object with the key `{key}`."
    after = dataclasses.replace(table, root=key)
    return Change("root", sentence, conclusion, after, (key,))


# Changes that few tables allow have the large weights.
_ANY: list[tuple[_Make, int]] = [
    (_rename, 6),
    (_drop_column, 5),
    (_put_first, 4),
    (_sort, 18),
    (_drop_row, 4),
    (_constant, 3),
    (_snake, 20),
]
_TYPED: list[tuple[_Make, int]] = [*_ANY, (_as_string, 5), (_root, 3)]
_PLAIN: list[tuple[_Make, int]] = [*_ANY, (_true_false, 14)]


def draw_changes(draw: Draw, table: Table, count: int, *, typed: bool) -> list[Change]:
    """Draw changes of different kinds, each applied to the table of the one before.

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
        if change and change.kind not in {done.kind for done in changes}:
            changes.append(change)
    return changes
