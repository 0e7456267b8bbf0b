"""Fenced blocks of code in Markdown and MDX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)")


class PageError(ValueError):
    """A page has a block without an end, or a mark that means nothing."""


@dataclass(frozen=True)
class Fence:
    """A fenced block.

    Attributes:
        start: Index of the line that opens it.
        end: Index of the line that closes it.
        indent: Blanks before its fence.
        language: The first word behind the opening fence, in lower case.
        code: What is in it, without the indentation that the page adds.
    """

    start: int
    end: int
    indent: int
    language: str
    code: str


def fence_at(lines: Sequence[str], start: int) -> Fence | None:
    """Return the block that a line opens; none if it opens none.

    Args:
        lines: The page's lines.
        start: Index of the line.

    Raises:
        PageError: If the block does not end; it names the line.
    """
    opening = _FENCE.fullmatch(lines[start])
    if opening is None:
        return None
    marks, indent = opening["marks"], len(opening["indent"])
    for end in range(start + 1, len(lines)):
        closing = lines[end].strip()
        if set(closing) == {marks[0]} and len(closing) >= len(marks):
            code = "".join(f"{line[indent:]}\n" for line in lines[start + 1 : end])
            language = opening["info"].strip().split(" ")[0].lower()
            return Fence(start, end, indent, language, code)
    raise PageError(f"{start + 1}: this block does not end")


def fences(lines: Sequence[str]) -> Iterator[Fence]:
    """Yield the blocks of a page in order.

    Args:
        lines: The page's lines.

    Raises:
        PageError: If a block does not end.
    """
    at = 0
    while at < len(lines):
        fence = fence_at(lines, at)
        if fence:
            yield fence
        at = (fence.end if fence else at) + 1
