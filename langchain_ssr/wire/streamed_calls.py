"""The tool calls of a stream: numbered, joined, and ended where they were cut.

langchain-core completes the JSON of a call whenever it adds up a stream's chunks: of
`{"path": "/", "recursive": tr` it makes a call with `recursive=True`, and an agent
would run it. No later chunk can take back what is there. But one more character can
make sure that the text is not the beginning of any JSON, and then the sum is an
`invalid_tool_call`, whoever adds it up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolCallChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.utils.json import parse_partial_json

ENDINGS = ("", "]", "}", '"]', '"}', '""]', '""}')
"""Nothing, or a wrong bracket: right away, or after the end of a string, which may have
been cut after a backslash."""


@dataclass
class _Call:
    """What has come of a call so far; `id` is the server's own, if it sends any."""

    index: int
    id: str | None
    name: str = ""
    arguments: str = ""

    def is_over(self, function: Mapping[str, Any]) -> bool:
        """Whether a piece without an id begins the next call, at the same index.

        Servers may repeat the name in each piece.

        Args:
            function: The piece's `function`.
        """
        name, arguments = function.get("name"), function.get("arguments")
        if not name or not self.arguments:
            return False
        more = bool(arguments and arguments.strip())
        return name != self.name or (more and _is_json(self.arguments))


class StreamedCalls:
    """The tool calls of one stream, piece by piece."""

    def __init__(self) -> None:
        """Create the calls of a stream that has had none."""
        self._calls: list[_Call] = []
        self._known: dict[tuple[Any, str | None], _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def read(self, calls: Sequence[Mapping[str, Any]]) -> list[ToolCallChunk]:
        """Convert a delta's pieces of calls, one for each call.

        A burst can hold a call's name and its arguments as two pieces. langchain-core
        joins pieces of several chunks, but not those of one. The first piece of a call
        has its id, made up if the server sends none, and no later one has.

        Args:
            calls: The delta's `tool_calls`.
        """
        pieces: dict[int, ToolCallChunk] = {}
        for piece in calls:
            function, begun = piece.get("function") or {}, len(self._calls)
            call = self._call_of(piece)
            read = pieces.setdefault(call.index, tool_call_chunk(index=call.index))
            if call.index == begun:
                read["id"] = call.id or new_call_id()
            name = function.get("name")
            if name and name != call.name:
                read["name"] = (read["name"] or "") + name
                call.name += name
            elif name == "" and not call.name:  # of a call that is none
                read["name"] = read["name"] or ""
            if arguments := function.get("arguments"):
                read["args"] = (read["args"] or "") + arguments
                call.arguments += arguments
        return list(pieces.values())

    def _call_of(self, piece: Mapping[str, Any]) -> _Call:
        """Find a piece's call, or begin one.

        Some servers send index 0 for every call, some send no ids, and some no index.
        """
        index, id_ = piece.get("index"), piece.get("id") or None
        function = piece.get("function") or {}
        call, latest = self._known.get((index, id_)), self._known.get((index, None))
        if id_ is None and latest and latest.is_over(function):
            call = None
        elif call is None and latest and not latest.id and not function.get("name"):
            call, latest.id = latest, id_  # it comes late
        if call is None:
            call = _Call(index=len(self._calls), id=id_)
            self._calls.append(call)
        self._known[index, id_] = self._known[index, None] = call
        return call

    def endings(self, *, cut: bool) -> list[ToolCallChunk]:
        """Return what keeps calls that are not whole from being taken for whole ones.

        Args:
            cut: Whether the stream ended before the model did. Then a last call that
                has no arguments yet is not whole; otherwise it takes none.
        """
        last = len(self._calls) - 1
        endings = {
            call.index: ending_of(
                call.arguments or ("{" if cut and call.index == last else "{}")
            )
            for call in self._calls
        }
        return [
            tool_call_chunk(args=ending, index=index)
            for index, ending in endings.items()
            if ending
        ]


def new_call_id() -> str:
    """Make an id for a call that came without one: agents tell calls apart by ids."""
    return f"call_{uuid4().hex}"


def ending_of(arguments: str) -> str:
    """Return what has to follow arguments, so that no half a call counts as a whole.

    Args:
        arguments: All that a stream had of a call's arguments.

    Returns:
        One of `ENDINGS`; nothing for whole JSON, and for what langchain-core does not
        take for the beginning of an object.
    """
    if _is_json(arguments):
        return ""
    return next(end for end in ENDINGS if not _completed(arguments + end))


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def _completed(arguments: str) -> bool:
    """Whether langchain-core makes an object of it."""
    try:
        return isinstance(parse_partial_json(arguments), dict)
    except ValueError:
        return False
