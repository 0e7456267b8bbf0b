"""Stop strings that the client applies, to what a server without SSR answers.

Such a server looks for stop strings in all of its output, so one that occurs in the
reasoning would end the reply before there is an answer. It is not told of them; the
client reads the answer's text and cuts it at the first one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

JSON = dict[str, Any]


class ClientStops:
    """Reads the answer of one choice, piece by piece, up to the first stop string.

    Args:
        stops: The stop strings, none empty.
        keep: Whether the stop string belongs to the text.
    """

    def __init__(self, stops: Sequence[str], *, keep: bool = False) -> None:
        """Create a reader that has read nothing."""
        self._stops = tuple(stops)
        self._keep = keep
        self._held = ""
        self.found: str | None = None

    def delta(self, choice: JSON) -> None:
        """Cut the choice of a stream's chunk in place.

        What may be the beginning of a stop string is held back until more is known.

        Args:
            choice: One of the chunk's `choices`.
        """
        delta = choice.get("delta") or {}
        calls, ended = delta.get("tool_calls"), choice.get("finish_reason")
        text = delta.get("content") or ""
        shown, extra = self._read(text, last=bool(calls or ended))
        if shown or text:
            choice["delta"] = {**delta, "content": shown}
        self._end(choice, extra)

    def message(self, choice: JSON) -> None:
        """Cut the choice of a whole response in place.

        Args:
            choice: One of the response's `choices`.
        """
        message = choice.get("message") or {}
        shown, extra = self._read(message.get("content") or "", last=True)
        if self.found is not None:
            message["content"] = shown
            message.pop("tool_calls", None)  # they come after the text
        self._end(choice, extra)

    def _read(self, text: str, *, last: bool) -> tuple[str, int]:
        """Return the text to show, and how many characters follow the stop string."""
        text, self._held = self._held + text, ""
        ends = [
            (text.find(stop) + len(stop), i)
            for i, stop in enumerate(self._stops)
            if stop in text
        ]
        if ends:
            end, i = min(ends)
            self.found = self._stops[i]
            return text[: end if self._keep else end - len(self.found)], len(text) - end
        held = 0 if last else self._begun(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held], 0

    def _begun(self, text: str) -> int:
        """Count the characters at the end that a stop string may begin with."""
        lengths = (
            length
            for stop in self._stops
            for length in range(1, len(stop))
            if text.endswith(stop[:length])
        )
        return max(lengths, default=0)

    def _end(self, choice: JSON, extra: int) -> None:
        if self.found is None:
            return
        choice["finish_reason"], choice["stop_reason"] = "stop", self.found
        logprobs = choice.get("logprobs") or {}
        if isinstance(content := logprobs.get("content"), list):
            choice["logprobs"] = {**logprobs, "content": _without(content, extra)}


def _without(tokens: Sequence[Mapping[str, Any]], extra: int) -> list[Any]:
    """Leave out the last tokens, as many as fit into so many characters."""
    kept = list(tokens)
    while kept and 0 < len(kept[-1].get("token") or "") <= extra:
        extra -= len(kept.pop().get("token") or "")
    return kept
