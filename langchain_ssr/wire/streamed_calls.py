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
from typing import Any

from langchain_core.messages import ToolCallChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.utils.json import parse_partial_json

ENDINGS = ("", "]", "}", '"]', '"}', '""]', '""}')
"""Nothing, or a wrong bracket: right away, or after the end of a string, which may have
been cut after a backslash."""


class StreamedCalls:
    """The tool calls of one stream, piece by piece."""

    def __init__(self) -> None:
        """Create the calls of a stream that has had none."""
        self._arguments: dict[int, str] = {}
        self._ids: list[str] = []
        self._index: dict[Any, int] = {}

    def __bool__(self) -> bool:
        return bool(self._arguments)

    def read(self, calls: Sequence[Mapping[str, Any]]) -> list[ToolCallChunk]:
        """Convert a delta's pieces of calls, one for each call.

        A burst can hold a call's name and its arguments as two pieces. langchain-core
        joins pieces of several chunks, but not those of one.

        Args:
            calls: The delta's `tool_calls`.
        """
        pieces: dict[int, ToolCallChunk] = {}
        for call in calls:
            function, index = call.get("function") or {}, self._index_of(call)
            piece = pieces.setdefault(index, tool_call_chunk(index=index))
            piece["id"] = piece["id"] or call.get("id")
            piece["name"] = piece["name"] or function.get("name")
            if arguments := function.get("arguments"):
                piece["args"] = (piece["args"] or "") + arguments
                self._arguments[index] += arguments
        return list(pieces.values())

    def _index_of(self, call: Mapping[str, Any]) -> int:
        """Number calls by their ids: some servers send index 0 for every call."""
        given, id_ = call.get("index"), call.get("id")
        if id_ and id_ not in self._ids:
            self._index[given] = len(self._ids)
            self._ids.append(id_)
        index = self._index.setdefault(given, len(self._ids))
        self._arguments.setdefault(index, "")
        return index

    def endings(self, *, cut: bool) -> list[ToolCallChunk]:
        """Return what keeps calls that are not whole from being taken for whole ones.

        Args:
            cut: Whether the stream ended before the model did. Then a last call that
                has no arguments yet is not whole; otherwise it takes none.
        """
        last = max(self._arguments, default=None)
        endings = {
            index: ending_of(arguments or ("{" if cut and index == last else "{}"))
            for index, arguments in self._arguments.items()
        }
        return [
            tool_call_chunk(args=ending, index=index)
            for index, ending in endings.items()
            if ending
        ]


def ending_of(arguments: str) -> str:
    """Return what has to follow arguments, so that no half a call counts as a whole.

    Args:
        arguments: All that a stream had of a call's arguments.

    Returns:
        One of `ENDINGS`; nothing for whole JSON, and for what langchain-core does not
        take for the beginning of an object.
    """
    try:
        json.loads(arguments, strict=False)
    except ValueError:
        return next(end for end in ENDINGS if not _completed(arguments + end))
    return ""


def _completed(arguments: str) -> bool:
    """Whether langchain-core makes an object of it."""
    try:
        return isinstance(parse_partial_json(arguments), dict)
    except ValueError:
        return False
