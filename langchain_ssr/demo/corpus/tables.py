"""Small tables: their columns, rows and types, drawn at random."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Literal

from langchain_ssr.demo.corpus.example import Draw

Kind = Literal["name", "str", "int", "float", "bool"]
"""The type of a column: `"name"` names the rows."""

_LIGHTEST, _HEAVIEST = 80, 260

_FIRST_KEYS = (
    *("name", "item", "product", "title", "label"),
    *("person", "place", "thing", "member", "article"),
)
_USUAL_KEYS: dict[Kind, str] = {
    "str": "city color owner category team brand status group room origin_city "
    "home_town main_color sales_team",
    "int": "stock count age year quantity points floor seats rank id item_count "
    "order_number unit_count user_id",
    "float": "price weight rate score height width cost distance unit_price "
    "total_weight net_cost average_score",
}
_KEYS = {kind: words.split() for kind, words in _USUAL_KEYS.items()}


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: its key and the type of its cells."""

    key: str
    kind: Kind


@dataclasses.dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        columns: The columns; one of them names the rows and has distinct cells.
        rows: The cells of each row, spelled as in the request.
        root: The key that the list of rows is put under; empty if none.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    root: str = ""

    @property
    def keys(self) -> list[str]:
        """The keys in order."""
        return [column.key for column in self.columns]

    def cells(self, index: int) -> list[str]:
        """The cells of one column, from the first row to the last."""
        return [row[index] for row in self.rows]

    def values(self) -> Any:
        """The table as JSON data: a list of objects, under `root` if there is one."""
        rows = [
            {
                column.key: typed(cell, column.kind)
                for column, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]
        return {self.root: rows} if self.root else rows

    def grid(self) -> list[list[str]]:
        """The table as strings: the header, then the rows."""
        return [self.keys, *map(list, self.rows)]


def typed(cell: str, kind: Kind) -> str | int | float | bool:
    """Turn a cell into the value that JSON and YAML hold for it."""
    if kind == "int":
        return int(cell)
    if kind == "float":
        return float(cell)
    if kind == "bool":
        return cell in {"yes", "true"}
    return cell


def draw_decimal(draw: Draw) -> str:
    """Draw a number with one or two decimals, the last one not 0."""
    whole = draw.rng.randint(0, draw.pick(9, 99))
    middle = draw.pick("", "", *"0123456789")
    return f"{whole}.{middle}{draw.rng.randint(1, 9)}"


def draw_whole(draw: Draw) -> str:
    """Draw a whole number with one to four digits."""
    return str(draw.rng.randint(1, draw.pick(9, 99, 999, 9999)))


def draw_name(draw: Draw, source: str) -> str:
    """Draw a string value.

    Args:
        draw: The choices.
        source: `"person"`, `"place"`, `"word"` or `"pair"` (two words).
    """
    words = draw.words
    if source == "person":
        return words.person()
    if source == "place":
        return words.place()
    if source == "pair":
        return f"{words.adjective()} {words.word()}"
    return words.word()


def draw_key(draw: Draw, kind: Kind, taken: list[str]) -> str:
    """Draw a key that is not taken: a usual one for its type, or any words."""
    while True:
        usual = draw.chance(0.5) and kind in _KEYS
        key: str = (
            draw.pick(*_KEYS[kind]) if usual else draw.words.snake(draw.pick(1, 1, 2))
        )
        if key not in taken:
            return key


def _draw_cells(draw: Draw, kind: Kind, count: int) -> list[str]:
    if kind == "int":
        return [draw_whole(draw) for _ in range(count)]
    if kind == "float":
        return [draw_decimal(draw) for _ in range(count)]
    source = draw.pick("person", "place", "word", "word", "pair")
    return [draw_name(draw, source) for _ in range(count)]


def _draw_names(draw: Draw, count: int) -> list[str]:
    source = draw.pick("person", "place", "word", "word", "pair")
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw_name(draw, source)] = None
    return list(found)


def _draw_columns(draw: Draw, width: int) -> list[Column]:
    first: str = draw.pick(*_FIRST_KEYS) if draw.chance(0.7) else draw.words.word()
    columns = [Column(first, "name")]
    for _ in range(width - 1):
        kind: Kind = draw.pick("str", "str", "int", "float")
        key = draw_key(draw, kind, [column.key for column in columns])
        columns.append(Column(key, kind))
    return columns


def _weight(columns: list[Column], cells: list[list[str]]) -> float:
    """Estimate the tokens of a table whose rows repeat the keys."""
    keys = "".join(column.key for column in columns) * len(cells[0])
    text = keys + "".join(map("".join, cells))
    letters = sum(map(str.isalpha, text))
    # Digits and underscores are a token each, words are a few; and each cell has
    # punctuation and white space around it.
    punctuation = 4 * len(cells) * len(cells[0])
    return letters / 3 + len(text) - letters + punctuation


def draw_table(draw: Draw, *, spaced: bool) -> Table:
    """Draw a table of 3 to 6 rows and 2 to 4 columns, in which no cell occurs twice.

    A tiny model finds a cell by the one before it. Where that one occurs twice, it
    would have to count rows.

    Args:
        draw: The choices.
        spaced: Whether keys have spaces (`unit price`) instead of underscores.

    Returns:
        The table as the request gives it.
    """
    while True:
        rows, width = draw.pick(3, 4, 4, 5, 5, 6), draw.pick(2, 3, 3, 4, 4)
        columns = _draw_columns(draw, width)
        cells = [_draw_names(draw, rows)]
        cells += [_draw_cells(draw, column.kind, rows) for column in columns[1:]]
        distinct = len(set(itertools.chain(*cells))) == rows * width
        if distinct and _LIGHTEST <= _weight(columns, cells) <= _HEAVIEST:
            break
    if spaced:
        columns = [Column(c.key.replace("_", " "), c.kind) for c in columns]
    return Table(tuple(columns), tuple(zip(*cells, strict=True)))
