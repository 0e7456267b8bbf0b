"""Places for tables in a Markdown file: between markers, and never written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_END = "<!-- end of figures -->"
_ENDS = re.compile(rf"^{_END}$", re.MULTILINE)
_STARTS = re.compile(r"^<!-- figures: ([\w.@-]+) -->\n", re.MULTILINE)
_PLACE = re.compile(
    rf"(?P<start>{_STARTS.pattern})(?P<body>(?:(?!{_STARTS.pattern}).)*?)"
    rf"(?P<end>{_ENDS.pattern})",
    re.MULTILINE | re.DOTALL,
)
"""The second group is the name."""


def place(name: str) -> str:
    """Return an empty place."""
    return f"<!-- figures: {name} -->\n{_END}"


def fill(text: str, tables: Mapping[str, str]) -> str:
    """Put tables in their places; a place without a table becomes empty.

    Args:
        text: Markdown with places.
        tables: Markdown by the name of the place.
    """

    def filled(found: re.Match[str]) -> str:
        table = tables.get(found[2])
        body = "" if table is None else f"\n{table}\n"
        return found["start"] + body + found["end"]

    return _PLACE.sub(filled, text)


def misplaced(text: str, tables: Mapping[str, str]) -> Iterator[str]:
    """Say which places and tables do not belong to each other, a sentence each."""
    started = [found[1] for found in _STARTS.finditer(text)]
    closed = [found[2] for found in _PLACE.finditer(text)]
    num_ends = len(_ENDS.findall(text))
    if len(started) != num_ends:
        yield f"there are {len(started)} places, but {num_ends} times `{_END}`"
    for name in sorted({*started, *tables}):
        if name not in started:
            yield f"{name}: it has figures, but no place `<!-- figures: {name} -->`"
        elif started.count(name) > 1:
            yield f"{name}: it has {started.count(name)} places"
        elif name not in closed:
            yield f"{name}: its place has no end, `{_END}`"
        elif name not in tables:
            yield f"{name}: it has a place, but no figures"


def edited(text: str, tables: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the places that hold something else than their tables."""
    after = {found[2]: found["body"] for found in _PLACE.finditer(fill(text, tables))}
    for found in _PLACE.finditer(text):
        if found[2] in tables and found["body"] != after[found[2]]:
            yield found[2]
