"""The text of one tool call in Hermes' format, read piece by piece."""

from __future__ import annotations

import json
import re

BEGIN, END = "<tool_call>", "</tool_call>"
_NAME = r'"name"\s*:\s*"([^"\\]+)"'
_HEAD = re.compile(rf'\s*\{{\s*{_NAME}\s*,\s*"arguments"\s*:\s*(?=\{{)')
"""What comes before arguments that need not wait for the end of the call."""


class CallText:
    """What stands between the marks: `{"name": ..., "arguments": {...}}`.

    The pieces that `read` and `close` return join to the same name and arguments,
    however the text was cut.
    """

    def __init__(self) -> None:
        """Create a call that nothing is known of."""
        self._text = ""
        self._at: int | None = None  # up to here, arguments were returned
        self._depth = 0
        self._in_string = self._escaped = self._ended = False

    def read(self, text: str) -> tuple[str | None, str]:
        """Read on.

        Returns:
            The name, once, when the call has one and arguments; new arguments.
        """
        self._text += text
        if self._at is not None:
            return None, self._arguments(self._at)
        # Only a brace can complete it: a long text is not searched for each piece.
        head = _HEAD.match(self._text) if "{" in text else None
        if head is None:
            return None, ""
        return head[1], self._arguments(head.end())

    def _arguments(self, begin: int) -> str:
        """Return the arguments from `begin` to their end, or as far as they go."""
        at = begin
        while at < len(self._text) and not self._ended:
            letter = self._text[at]
            at += 1
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = letter == "\\"
                self._in_string = letter != '"'
            elif letter == '"':
                self._in_string = True
            elif letter in "{[":
                self._depth += 1
            elif letter in "}]":
                self._depth -= 1
                self._ended = self._depth == 0
        self._at = at
        return self._text[begin:at]

    def close(self) -> tuple[str | None, str]:
        """End the call.

        Returns:
            What is still missing of name and arguments. If the text is no call, the
            arguments are the text itself with its opening mark: no JSON.
        """
        if self._at is None:
            return self._whole()
        rest = self._text[self._at :]
        return None, "" if not rest.strip() or self._object() else rest

    def _whole(self) -> tuple[str, str]:
        call = self._object()
        name, arguments = call.get("name"), call.get("arguments", {})
        if (
            isinstance(name, str)
            and name
            and isinstance(arguments, dict)
            and ("arguments" in call or len(call) == 1)
        ):
            return name, json.dumps(arguments, ensure_ascii=False)
        found = re.search(_NAME, self._text)
        return found[1] if found else "", BEGIN + self._text

    def _object(self) -> dict[str, object]:
        """Return the text as an object; an empty one if it is none."""
        try:
            value = json.loads(self._text, strict=False)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}
