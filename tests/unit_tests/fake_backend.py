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


LAST = {**HEAD, "choices": [], "usage": USAGE, "metrics": {"queue_time_ms": 1.0}}
CHUNKS = [
    _delta(role="assistant", content=""),
    _delta(reasoning="They "),
    _delta(reasoning="greet.", content="Hi"),
    _delta(content=" 🙂 there"),
    _part("", id="c0", type="function", function={"name": "f"}),
    _part('{"city": '),
    _part('"Zürich"}'),
    _delta(finish="tool_calls"),
    LAST,
]


def letters(message: dict, finish: str) -> list[dict]:
    """Cut a message into the smallest chunks."""
    chunks = [_delta(reasoning=letter) for letter in message.get("reasoning", "")]
    for name in ("content", "refusal"):
        chunks += [_delta(**{name: letter}) for letter in message.get(name) or ""]
    for i, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        head = {"index": i, "id": call["id"], "function": {"name": function["name"]}}
        chunks.append(_delta(tool_calls=[head]))
        pieces = [
            {"index": i, "function": {"arguments": x}} for x in function["arguments"]
        ]
        chunks += [_delta(tool_calls=[piece]) for piece in pieces]
    return [*chunks, _delta(finish=finish), LAST]


def called(name: str, arguments: str, id_: str | None = "c0") -> dict:
    """Write a tool call as the API does."""
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function}


class FakeBackend:
    """Gives the same answer, whole or in chunks."""

    def __init__(self) -> None:
        self.message, self.chunks, self.finish = MESSAGE, CHUNKS, "tool_calls"
        self.requests: list[dict] = []
        self.open_streams = 0

    @property
    def request(self) -> dict:
        """The last request."""
        return self.requests[-1]

    def answer(self, finish: str = "stop", **message) -> None:
        """Give this message from now on, streamed letter by letter."""
        self.message = {"role": "assistant", "content": None, **message}
        self.chunks, self.finish = letters(message, finish), finish

    def complete(self, request: dict) -> dict:
        self.requests.append(request)
        choices = [
            {"index": i, "message": self.message, "finish_reason": self.finish}
            for i in range(min(request.get("n", 1), 9))
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
            yield from copy.deepcopy(self.chunks)
        finally:
            self.open_streams -= 1

    async def astream(self, request: dict) -> AsyncGenerator[dict]:
        self.requests.append(request)
        self.open_streams += 1
        try:
            for chunk in copy.deepcopy(self.chunks):
                await asyncio.sleep(0)
                yield chunk
        finally:
            self.open_streams -= 1
