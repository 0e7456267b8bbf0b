"""The chunks of a stream -> the response that the server would have given whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")
_HEAD = ("id", "model", "system_fingerprint", "usage", "metrics")


class Assembly:
    """Adds up the chunks of one choice. Tool calls are not among them."""

    def __init__(self) -> None:
        """Create an assembly of no chunk."""
        self._response: dict[str, Any] = {}
        self._choice: dict[str, Any] = {"index": 0, "finish_reason": None}
        self._message: dict[str, Any] = {"role": "assistant", "content": ""}
        self._logprobs: list[Any] = []

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add a chunk."""
        for name in _HEAD:
            if chunk.get(name) is not None:
                self._response[name] = chunk[name]
        for choice in chunk.get("choices") or []:
            for name in ("finish_reason", "stop_reason"):
                if choice.get(name) is not None:
                    self._choice[name] = choice[name]
            delta = choice.get("delta") or {}
            for name in _TEXTS:
                if text := delta.get(name):
                    self._message[name] = self._message.get(name, "") + text
            self._logprobs += (choice.get("logprobs") or {}).get("content") or []

    def response(self) -> dict[str, Any]:
        """Return the response."""
        choice = {**self._choice, "message": self._message}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {**self._response, "choices": [choice]}
