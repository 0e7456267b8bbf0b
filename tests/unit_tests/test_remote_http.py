"""Real connections to a server on this machine: slow, broken off, left, cancelled."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends import clients, retries, server
from langchain_ssr.errors import RequestTimeoutError, ServerConnectionError
from tests.unit_tests.fake_server import CHUNKS, WAYS, ask, delta, response, sse

pytestmark = pytest.mark.enable_socket
every_way = pytest.mark.parametrize("way", WAYS)
in_streams = pytest.mark.parametrize("way", ["stream", "astream"])
PATIENCE = 20


class Server(ThreadingHTTPServer):
    """Answers as `script` says, and counts connections that clients have closed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: Callable[[Handler, dict], None] = answer
        self.num_requests = 0
        self.asked = threading.Event()
        self.left = threading.Event()
        self.stop = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def llm(self, **settings) -> ChatSSR:
        return ChatSSR(model="m", base_url=self.url, max_retries=0, **settings)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.num_requests += 1
        self.server.asked.set()
        self.server.script(self, json.loads(body))

    def log_message(self, *args: object) -> None:
        pass

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def part(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def whole(self, answer: dict) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def wait_until_left(self) -> None:
        """Wait until the client closes its end."""
        self.connection.settimeout(PATIENCE)
        if self.connection.recv(1) == b"":
            self.server.left.set()
        self.close_connection = True


def answer(handler: Handler, sent: dict) -> None:
    if not sent.get("stream"):
        handler.whole(response(reasoning="They greet."))
        return
    handler.begin_stream()
    for event in sse(*CHUNKS):
        handler.part(event)
    handler.part(b"")


def say_nothing(handler: Handler, sent: dict) -> None:
    handler.wait_until_left()


def begin_and_stall(handler: Handler, sent: dict) -> None:
    handler.begin_stream()
    for event in sse(*CHUNKS[:3], done=False):
        handler.part(event)
    handler.wait_until_left()


def drip(handler: Handler, sent: dict) -> None:
    """Send an answer piece by piece, each in good time."""
    if not sent.get("stream"):  # the question whether it has SSR
        handler.whole(response())
        return
    handler.begin_stream()
    for _ in range(60):
        handler.part(sse(delta(content="x"), done=False)[0])
        if handler.server.stop.wait(0.05):
            break
    handler.wait_until_left()


def break_off(handler: Handler, sent: dict) -> None:
    handler.begin_stream()
    for event in sse(*CHUNKS[:3], done=False):
        handler.part(event)
    handler.wfile.write(b"40\r\ndata: {")  # a chunk that does not come whole
    handler.close_connection = True


def go_on(handler: Handler, sent: dict) -> None:
    """Stream until the client has left."""
    handler.begin_stream()
    try:
        while not handler.server.stop.wait(0.01):
            handler.part(sse(delta(content="x"), done=False)[0])
    except OSError:
        handler.server.left.set()
    handler.close_connection = True


@pytest.fixture
def http(monkeypatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(server, "_SERVERS", {})
    monkeypatch.setattr(retries, "seconds_to_wait", lambda _: 0)
    for kept in ("_SYNC", "_ASYNC"):
        monkeypatch.setattr(clients, kept, clients._Clients())
    http = Server()
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield http
    http.stop.set()
    http.shutdown()
    http.server_close()


@every_way
def test_answer(http, way):
    message = ask(http.llm(), way)
    assert message.content == "Hi"
    assert message.additional_kwargs["reasoning_content"] == "They greet."


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_slow_server_against_the_timeout(http, way):
    http.script = say_nothing
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"timeout=0\.3"):
        ask(http.llm(timeout=0.3).model_copy(update={"max_retries": 3}), way)
    assert time.monotonic() - start < PATIENCE / 2
    assert http.left.wait(PATIENCE)
    assert http.num_requests == 1


@in_streams
def test_slow_chunk_against_the_timeout(http, way):
    http.script = begin_and_stall
    with pytest.raises(RequestTimeoutError, match=r"timeout=0\.3"):
        ask(http.llm(timeout=0.3), way)
    assert http.left.wait(PATIENCE)
    assert http.num_requests == 1


@in_streams
def test_connection_that_is_broken_off(http, way):
    http.script = break_off
    with pytest.raises(ServerConnectionError, match="was lost"):
        ask(http.llm().model_copy(update={"max_retries": 3}), way)
    assert http.num_requests == 1


@every_way
def test_nobody_listens(http, way):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    llm = ChatSSR(model="m", base_url=f"http://127.0.0.1:{port}/v1", max_retries=1)
    with pytest.raises(ServerConnectionError, match="No server can be reached"):
        ask(llm, way)


@pytest.mark.kind(22)
def test_leaving_a_stream_closes_the_connection(http):
    http.script = go_on
    for chunk in http.llm().stream("hi"):
        assert chunk.content == "x"
        break
    gc.collect()
    assert http.left.wait(PATIENCE)


@pytest.mark.kind(22)
async def test_leaving_an_asynchronous_stream_closes_the_connection(http):
    http.script = go_on
    chunks = http.llm().astream("hi")
    await anext(chunks)
    await chunks.aclose()
    assert await asyncio.to_thread(http.left.wait, PATIENCE)


@pytest.mark.kind(22)
@pytest.mark.parametrize("script", [say_nothing, begin_and_stall])
@pytest.mark.parametrize("streams", [False, True])
async def test_cancelling_closes_the_connection(http, script, streams):
    http.script = script
    llm = http.llm()

    async def read() -> None:
        async for _ in llm.astream("hi"):
            pass

    task = asyncio.create_task(read() if streams else llm.ainvoke("hi"))
    assert await asyncio.to_thread(http.asked.wait, PATIENCE)
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(http.left.wait, PATIENCE)


@pytest.mark.kind(21)
def test_event_loops_one_after_the_other(http):
    """No connection outlives its loop, and no client is kept for it."""
    llm = http.llm()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        for _ in range(3):
            assert asyncio.run(llm.ainvoke("hi")).content == "Hi"
        gc.collect()
    assert len(clients._ASYNC._kept) == 1


def test_clients_are_shared_and_given_up(http):
    llm = http.llm()
    for one in (llm, llm.model_copy(), http.llm()):
        ask(one, "invoke")
    assert len(clients._SYNC._kept) == 1
    http.llm(api_key="other").close()
    assert len(clients._SYNC._kept) == 1
    llm.close()
    assert clients._SYNC._kept == {}
    assert ask(llm, "invoke").content == "Hi"


def test_no_more_clients_are_kept_than_fit(http, monkeypatch):
    monkeypatch.setattr(clients, "MOST_CLIENTS", 2)
    made = [clients.Connection(http.url, headers=(("x", str(i)),)) for i in range(3)]
    for connection in made:
        clients.client(connection)
    assert [key[0] for key in clients._SYNC._kept] == made[1:]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_timeout_is_for_the_whole_answer_also_where_it_is_streamed(http, way):
    """An answer is streamed where the client looks for the stop string itself."""
    http.script = drip
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"timeout=0\.5"):
        ask(http.llm(timeout=0.5, stop=["zzz"]), way)
    assert time.monotonic() - began < PATIENCE / 2
