"""What the chat model needs of a backend."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any, Protocol

JSON = dict[str, Any]
"""An object of the chat-completions API."""


class Backend(Protocol):
    """Answers chat-completions requests; raises the errors of `langchain_ssr.errors`.

    Closing a stream early, or cancelling an asynchronous call, ends the request.
    """

    def complete(self, request: JSON) -> JSON:
        """Return the whole response."""

    async def acomplete(self, request: JSON) -> JSON:
        """Return the whole response."""

    def stream(self, request: JSON) -> Generator[JSON]:
        """Yield the response's chunks."""

    def astream(self, request: JSON) -> AsyncGenerator[JSON]:
        """Yield the response's chunks."""
