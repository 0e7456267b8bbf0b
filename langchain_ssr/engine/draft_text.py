"""Turns drafted token ids into text for clients that want to see drafts early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

WINDOW = 16
"""Tokens before the new ones that are sent again: outputs between two reads of the
front end are merged, and only the last one's report is seen."""
_BROKEN = "\ufffd"


class Tokenizer(Protocol):
    """What is needed of a tokenizer."""

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        """Return the text of token ids."""


class DraftReader:
    """Collects the drafts of one request and tells what is new.

    A report holds an offset and a window of tokens, never bare deltas, so a lost report
    leaves no gap unless it held more than `WINDOW` tokens; then the draft's text goes
    on after the gap.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Create a reader with the model's tokenizer."""
        self._tokenizer = tokenizer
        self._index = -1
        self._tokens: list[int] = []
        self._length = 0
        self._text = ""

    def read(self, draft: Mapping[str, Any]) -> tuple[int, str] | None:
        """Take `{"index", "offset", "token_ids"}`; return index and new text."""
        if draft["index"] != self._index:
            self._index = draft["index"]
            self._tokens, self._length, self._text = [], 0, ""
        known = max(0, self._length - draft["offset"])
        new = draft["token_ids"][known:]
        if not new:
            return None
        self._tokens += new
        self._length = draft["offset"] + len(draft["token_ids"])
        text = self._tokenizer.decode(self._tokens, skip_special_tokens=True)
        if text.endswith(_BROKEN):  # a character whose last byte is still to come
            return None
        added, self._text = text[len(self._text) :], text
        return (self._index, added) if added else None
