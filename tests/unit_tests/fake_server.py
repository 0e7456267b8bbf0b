"""A server that answers from memory, asked by real clients over a fake transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import httpx
from langchain_core.messages import AIMessage, AIMessageChunk

from langchain_ssr import ChatSSR

URL = "http://server.test/v1"
USAGE = {
    "prompt_tokens": 3,
    "completion_tokens": 9,
    "total_tokens": 12,
    "completion_tokens_details": {"reasoning_tokens": 4},
}
HEAD = {"id": "r1", "object": "chat.completion", "model": "m"}
REPORT = {
    "schema_version": 1,
    "mode": "ssr",
    "reason": None,
    "num_reasoning_steps": 4,
    "num_answer_steps": 2,
    "sources": {},
    "drafts": [],
    "overhead": {},
    "timing": {},
}
WAYS = ("invoke", "ainvoke", "stream", "astream")


def response(content: str | None = "Hi", finish: str = "stop", **fields) -> dict:
    """Write a whole answer; fields of the message, and `usage` and `metrics`."""
    rest = {k: fields.pop(k) for k in ("metrics", "logprobs") if k in fields}
    message = {"role": "assistant", "content": content, **fields}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    if "logprobs" in rest:
        choice["logprobs"] = rest.pop("logprobs")
    return {**HEAD, "choices": [choice], "usage": USAGE, **rest}


def delta(finish: str | None = None, usage: dict | None = None, **fields) -> dict:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {**HEAD, "choices": [choice], "usage": usage}


LAST = {**HEAD, "choices": [], "usage": USAGE}
CHUNKS = [
    delta(role="assistant", content=""),
    delta(reasoning="They greet."),
    delta(content="H"),
    delta(content="i"),
    delta("stop"),
    LAST,
]


def sse(*chunks: dict | str, done: bool = True) -> list[bytes]:
    """Write a stream's events; a string is sent as it is."""
    events = [
        (c if isinstance(c, str) else f"data: {json.dumps(c)}\n\n").encode()
        for c in chunks
    ]
    return events + ([b"data: [DONE]\n\n"] if done else [])


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A response's body in parts; an exception among them is raised."""

    def __init__(self, parts: list) -> None:
        self.parts, self.read, self.closed = parts, 0, False

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            self.read += 1
            if isinstance(part, Exception):
                raise part
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            await asyncio.sleep(0)
            yield part

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


class Failure:
    """An answer that is an error."""

    def __init__(self, status: int, body: object = None, **headers: str) -> None:
        self.status, self.body = status, body
        self.headers = {k.replace("_", "-"): v for k, v in headers.items()}


class FakeServer:
    """Gives one answer after the other; the last one again and again.

    An answer is a dictionary (whole), a list (parts of a stream), a `Failure`, text
    (a page), or an exception.
    """

    def __init__(self, *answers: object, url: str = URL) -> None:
        self.answers, self.url = list(answers), url
        self.other: dict[str, object] = {"/models": {"data": [{"id": "m"}]}}
        self.requests: list[dict] = []
        self.headers: list[httpx.Headers] = []
        self.paths: list[str] = []
        self.bodies: list[Body] = []

    def llm(self, **settings) -> ChatSSR:
        transport = httpx.MockTransport(self.handle)
        given = {
            "model": "m",
            "base_url": self.url,
            "http_client": httpx.Client(transport=transport),
            "http_async_client": httpx.AsyncClient(transport=transport),
        }
        return ChatSSR(**{**given, **settings})

    @property
    def request(self) -> dict:
        """The last request for an answer."""
        return self.requests[-1]

    def handle(self, request: httpx.Request) -> httpx.Response:
        path = str(request.url).removeprefix(self.url)
        self.paths.append(path)
        self.headers.append(request.headers)
        if path != "/chat/completions":
            return self._respond(self.other.get(path, Failure(404, {"detail": "no"})))
        sent = json.loads(request.content)
        self.requests.append(sent)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return self._respond(answer(sent) if callable(answer) else answer)

    def _respond(self, answer: object) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Failure):
            text = answer.body if isinstance(answer.body, str) else None
            data = None if text is not None else answer.body
            return httpx.Response(
                answer.status, headers=answer.headers, text=text, json=data
            )
        if isinstance(answer, list):
            self.bodies.append(Body(list(answer)))
            kind = {"content-type": "text/event-stream"}
            return httpx.Response(200, headers=kind, stream=self.bodies[-1])
        if isinstance(answer, str):
            return httpx.Response(200, html=answer)
        return httpx.Response(200, json=answer)


def ask(llm: ChatSSR, way: str, prompt: str = "hi", **call) -> AIMessage:
    """Ask in one of the `WAYS`; streams are added up."""

    async def astream() -> AIMessageChunk:
        chunks = [chunk async for chunk in llm.astream(prompt, **call)]
        return _sum(chunks)

    if way == "invoke":
        return llm.invoke(prompt, **call)
    if way == "ainvoke":
        return asyncio.run(llm.ainvoke(prompt, **call))
    if way == "stream":
        return _sum(list(llm.stream(prompt, **call)))
    return asyncio.run(astream())


def _sum(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    return sum(chunks[1:], chunks[0])


def both(whole: object, stream: list) -> object:
    """Answer whole or as a stream, as a request asks."""
    return lambda request: stream if request.get("stream") else whole


def plain(**fields) -> FakeServer:
    """Answer with reasoning under vLLM's name, without SSR."""
    return FakeServer(both(response(reasoning="They greet."), sse(*CHUNKS)), **fields)


def with_ssr() -> FakeServer:
    metrics = {"queue_time_ms": 1.0, "ssr": REPORT}
    return FakeServer(
        both(
            response(reasoning="They greet.", metrics=metrics),
            sse(*CHUNKS[:-1], {**LAST, "metrics": metrics}),
        )
    )
