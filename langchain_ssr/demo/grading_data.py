"""Judges for answers with data and for short answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_FENCE = re.compile(r"```[ \t]*([A-Za-z]*)[ \t]*\n(.*?)\n?```", re.DOTALL)
_FENCE_NAMES = {
    "json": {"", "json"},
    "yaml": {"", "yaml", "yml"},
    "csv": {"", "csv"},
    "markdown": {"", "markdown", "md"},
}


def judge_data(answer: str, expected: Any) -> str | None:
    """Parse an answer and compare it with the data that was asked for.

    Args:
        answer: The assistant message.
        expected: `format` (`"json"`, `"yaml"`, `"csv"` or `"markdown"`); `value`, JSON
            data for the first two and a list of rows of strings, the header first, for
            the others; and `raw`, whether the data has to come without a fence. The
            order of keys does not count, that of rows and items does.

    Returns:
        `None` if it is right, else the reason why not, in one line.
    """
    kind = expected["format"]
    text = answer.strip()
    if expected["raw"]:
        if "```" in text:
            return "a fence, though raw data was asked for"
    else:
        blocks = _FENCE.findall(text)
        if len(blocks) != 1:
            return f"{len(blocks)} fenced blocks instead of one"
        [(name, text)] = blocks
        if name.lower() not in _FENCE_NAMES[kind]:
            return f"the fence is marked {name!r}"
    try:
        found = _PARSERS[kind](text)
    except ValueError as error:
        return f"no {kind}: {' '.join(str(error).split())}"
    return _difference(found, expected["value"], "the data")


def judge_text(answer: str, expected: Any) -> str | None:
    """Compare a short answer with the accepted ones.

    Args:
        answer: The assistant message.
        expected: The accepted answers; case, white space and a final full stop or
            exclamation mark do not count.

    Returns:
        `None` if it is right, else the reason why not, in one line.
    """
    if _plain(answer) in {_plain(accepted) for accepted in expected}:
        return None
    return f"{answer[:80]!r} instead of {expected[0]!r}"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")


def _parse_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_duplicates)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _parse_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _parse_csv(text: str) -> list[list[str]]:
    import csv

    try:
        return list(csv.reader(text.strip().splitlines(), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _parse_markdown(text: str) -> list[list[str]]:
    rows = []
    for line in text.strip().splitlines():
        inner = line.strip()
        if not (inner.startswith("|") and inner.endswith("|") and len(inner) > 1):
            raise ValueError(f"{line!r} is no row of a table")
        rows.append([cell.strip() for cell in inner[1:-1].split("|")])
    dashes = rows[1] if len(rows) > 1 else []
    if not dashes or not all(re.fullmatch(r":?-+:?", cell) for cell in dashes):
        raise ValueError("the second line of the table has no dashes")
    if len(dashes) != len(rows[0]):
        raise ValueError("the second line of the table is too short or long")
    return [rows[0], *rows[2:]]


_PARSERS: dict[str, Callable[[str], Any]] = {
    "json": _parse_json,
    "yaml": _parse_yaml,
    "csv": _parse_csv,
    "markdown": _parse_markdown,
}


def _kind(value: Any) -> str:
    """Name the type of a value; JSON has one type of number, and no bool is one."""
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _difference(found: Any, wanted: Any, where: str) -> str | None:
    """Say where two values differ first, or return `None`."""
    if _kind(found) != _kind(wanted):
        return f"{where} is a {_kind(found)} instead of a {_kind(wanted)}"
    if not isinstance(wanted, dict | list):
        return None if found == wanted else f"{where} is {found!r}, not {wanted!r}"
    places: list[Any] = list(range(len(wanted)))
    if isinstance(wanted, dict):
        places = list(wanted)
        if set(found) != set(places):
            return f"{where} has the keys {list(found)} instead of {places}"
    elif len(found) != len(wanted):
        return f"{where} has {len(found)} items instead of {len(wanted)}"
    reasons = (
        _difference(found[place], wanted[place], f"{where}[{place!r}]")
        for place in places
    )
    return next(filter(None, reasons), None)
