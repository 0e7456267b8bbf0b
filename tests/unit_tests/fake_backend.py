"""A backend that answers from memory, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Generator

HEAD = {"id": "r1", "model": "smollm2"}
USAGE = {
    "prompt_tokens": 3,
    "completion_tokens": 9,
    "total_tokens": 12,
    "completion_tokens_details": {"reasoning_tokens": 4},
}
CALL = {
    "id": "c0",
    "type": "function",
    "function": {"name": "f", "arguments": '{"city": "Zürich"}'},
}
MESSAGE = {
    "role": "assistant",
    "content": "Hi 🙂 there",
    "reasoning": "They greet.",
    "tool_calls": [CALL],
}


def _delta(finish: str | None = None, **fields) -> dict:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {**HEAD, "choices": [choice]}


def _part(arguments: str, **fields) -> dict:
    function = {"arguments": arguments, **fields.pop("function", {})}
    return _delta(tool_calls=[{"index": 0, **fields, "function": function}])


CHUNKS = [
    _delta(role="assistant", content=""),
    _delta(reasoning="They "),
    _delta(reasoning="greet.", content="Hi"),
    _delta(content=" 🙂 there"),
    _part("", id="c0", type="function", function={"name": "f"}),
    _part('{"city": '),
    _part('"Zürich"}'),
    _delta(finish="tool_calls"),
    {**HEAD, "choices": [], "usage": USAGE, "metrics": {"queue_time_ms": 1.0}},
]


class FakeBackend:
    """Gives the same answer, whole or in chunks."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.open_streams = 0

    @property
    def request(self) -> dict:
        """The last request."""
        return self.requests[-1]

    def complete(self, request: dict) -> dict:
        self.requests.append(request)
        choices = [
            {"index": i, "message": MESSAGE, "finish_reason": "tool_calls"}
            for i in range(request.get("n", 1))
        ]
        answer = {"choices": choices, "usage": USAGE, "metrics": {"queue_time_ms": 1.0}}
        return copy.deepcopy({**HEAD, **answer})

    async def acomplete(self, request: dict) -> dict:
        await asyncio.sleep(0)
        return self.complete(request)

    def stream(self, request: dict) -> Generator[dict]:
        self.requests.append(request)
        self.open_streams += 1
        try:
            yield from copy.deepcopy(CHUNKS)
        finally:
            self.open_streams -= 1

    async def astream(self, request: dict) -> AsyncGenerator[dict]:
        self.requests.append(request)
        self.open_streams += 1
        try:
            for chunk in copy.deepcopy(CHUNKS):
                await asyncio.sleep(0)
                yield chunk
        finally:
            self.open_streams -= 1
