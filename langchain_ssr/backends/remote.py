"""The backend that asks a server: vLLM with SSR, plain vLLM, or any OpenAI API.

What is the same with and without `await` is in `exchange.py`; here is when to ask what.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import openai
from langchain_core.exceptions import ModelError

from langchain_ssr.backends import clients
from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.clients import Connection
from langchain_ssr.backends.exchange import Exchange
from langchain_ssr.backends.http import Http, ids, some
from langchain_ssr.backends.openai_errors import like_openai
from langchain_ssr.backends.remote_errors import missing_endpoint, too_late
from langchain_ssr.backends.retries import aretrying, retrying
from langchain_ssr.backends.server import server_at
from langchain_ssr.errors import InvalidRequestError, ModelLoadError
from langchain_ssr.wire.assembly import Assembly

CHAT = "/chat/completions"
_AsyncOpened = tuple[openai.AsyncStream[object], JSON]


class RemoteBackend:
    """Answers by asking a server.

    Args:
        model: The served model's name.
        connection: How to reach the server.
        timeout: Seconds to wait for an answer or for a stream's next chunk.
        max_retries: How often to ask again where that may help.
    """

    def __init__(
        self,
        model: str,
        connection: Connection,
        timeout: float | None,
        max_retries: int,
    ) -> None:
        """Create a handle; nothing is sent yet."""
        self._model = model
        self._http = Http(connection, timeout)
        self._connection = connection
        self._timeout = timeout
        self._max_retries = max_retries
        self._server = server_at(connection.base_url)

    # --- answers ------------------------------------------------------------------

    def complete(self, request: JSON) -> JSON:
        """Return the whole response."""
        exchange = self._exchange(request)
        if not exchange.saves_by_streaming:
            with self._http.explaining(self._model):
                return retrying(self._max_retries)(self._whole, exchange)
        assembly = Assembly()
        with contextlib.closing(self._chunks(exchange)) as chunks:
            late = self._deadline()
            for chunk in chunks:
                assembly.add(chunk)
                late()
        return assembly.response()

    async def acomplete(self, request: JSON) -> JSON:
        """Return the whole response."""
        exchange = await self._aexchange(request)
        if not exchange.saves_by_streaming:
            async with self._http.aexplaining(self._model):
                return await aretrying(self._max_retries)(self._awhole, exchange)
        assembly = Assembly()
        async with contextlib.aclosing(self._achunks(exchange)) as chunks:
            late = self._deadline()
            async for chunk in chunks:
                assembly.add(chunk)
                late()
        return assembly.response()

    def _deadline(self) -> Callable[[], None]:
        """Return a check: that a whole answer, though it is streamed, is in time."""
        end = math.inf if self._timeout is None else time.monotonic() + self._timeout

        def late() -> None:
            if time.monotonic() > end:
                error = too_late(self._connection.base_url, self._timeout)
                raise like_openai(error, None)

        return late

    def stream(self, request: JSON) -> Generator[JSON]:
        """Yield the response's chunks."""
        return self._chunks(self._exchange(request))

    async def astream(self, request: JSON) -> AsyncGenerator[JSON]:
        """Yield the response's chunks."""
        exchange = await self._aexchange(request)
        async with contextlib.aclosing(self._achunks(exchange)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _whole(self, exchange: Exchange) -> JSON:
        body = exchange.body(stream=False)
        try:
            return exchange.whole(self._http.post(CHAT, body))
        except InvalidRequestError as error:
            if not self._server.refuses(body, str(error)):
                raise
        return self._whole(exchange)

    async def _awhole(self, exchange: Exchange) -> JSON:
        body = exchange.body(stream=False)
        try:
            return exchange.whole(await self._http.apost(CHAT, body))
        except InvalidRequestError as error:
            if not self._server.refuses(body, str(error)):
                raise
        return await self._awhole(exchange)

    # --- streams ------------------------------------------------------------------

    def _chunks(self, exchange: Exchange) -> Generator[JSON]:
        with self._http.explaining(self._model):
            stream, first = retrying(self._max_retries)(self._open, exchange)
        try:
            yield first
            while not exchange.stopped:
                chunk = self._next(stream, exchange)
                if chunk is None:
                    break
                yield chunk
            yield exchange.last()
        finally:
            stream.close()

    async def _achunks(self, exchange: Exchange) -> AsyncGenerator[JSON]:
        async with self._http.aexplaining(self._model):
            ask = aretrying(self._max_retries)
            opened: _AsyncOpened = await ask(self._aopen, exchange)
        stream, first = opened
        try:
            yield first
            while not exchange.stopped:
                chunk = await self._anext(stream, exchange)
                if chunk is None:
                    break
                yield chunk
            yield exchange.last()
        finally:
            await stream.close()

    def _open(self, exchange: Exchange) -> tuple[openai.Stream[object], JSON]:
        """Open a stream and read its first chunk. What fails here may be retried."""
        body = exchange.body(stream=True)
        try:
            stream = self._http.open(CHAT, body)
        except InvalidRequestError as error:
            if not self._server.refuses(body, str(error)):
                raise
            return self._open(exchange)
        try:
            chunk = some(self._next(stream, exchange), stream)
        except BaseException:
            stream.close()
            raise
        return stream, chunk

    async def _aopen(self, exchange: Exchange) -> _AsyncOpened:
        """Open a stream and read its first chunk. What fails here may be retried."""
        body = exchange.body(stream=True)
        try:
            stream = await self._http.aopen(CHAT, body)
        except InvalidRequestError as error:
            if not self._server.refuses(body, str(error)):
                raise
            return await self._aopen(exchange)
        try:
            chunk = some(await self._anext(stream, exchange), stream)
        except BaseException:
            await stream.close()
            raise
        return stream, chunk

    def _next(self, stream: openai.Stream[object], exchange: Exchange) -> JSON | None:
        with self._http.typed_errors(), contextlib.suppress(StopIteration):
            return exchange.chunk(next(stream))
        return None

    async def _anext(
        self, stream: openai.AsyncStream[object], exchange: Exchange
    ) -> JSON | None:
        with self._http.typed_errors(), contextlib.suppress(StopAsyncIteration):
            return exchange.chunk(await anext(stream))
        return None

    # --- does the server have SSR? ------------------------------------------------

    def _exchange(self, request: JSON) -> Exchange:
        if self._server.must_be_known(request):
            try:
                with self._http.explaining(self._model):
                    probe = self._server.probe(self._model)
                    retrying(self._max_retries)(self._http.post, CHAT, probe)
            except InvalidRequestError as error:
                self._server.read_refusal(self._model, str(error))
            else:
                self._server.read_refusal(self._model, None)
        return Exchange(request, self._server)

    async def _aexchange(self, request: JSON) -> Exchange:
        if self._server.must_be_known(request):
            try:
                async with self._http.aexplaining(self._model):
                    probe = self._server.probe(self._model)
                    await aretrying(self._max_retries)(self._http.apost, CHAT, probe)
            except InvalidRequestError as error:
                self._server.read_refusal(self._model, str(error))
            else:
                self._server.read_refusal(self._model, None)
        return Exchange(request, self._server)

    # --- other questions ----------------------------------------------------------

    def tokenize(self, what: JSON) -> JSON | None:
        """Have the server count tokens.

        Args:
            what: A `prompt`, or `messages` with what belongs to them.

        Returns:
            The server's answer with `count` and `tokens`; `None` if it has no endpoint
            for this.
        """
        url = f"{self._connection.root}/tokenize"
        with self._http.explaining(self._model):
            try:
                answer = self._http.post(url, {"model": self._model, **what})
            except ModelError as error:
                if missing_endpoint(error):
                    return None
                raise
        known = isinstance(answer, dict) and "count" in answer and "tokens" in answer
        return answer if known else None

    def check(self) -> None:
        """Ask whether the server is there and has the model.

        Raises:
            ModelError: If not; the message says what to do.
        """
        with self._http.explaining(self._model):
            self._check(retrying(self._max_retries)(self._http.models))

    async def acheck(self) -> None:
        """Ask whether the server is there and has the model; see `check`."""
        async with self._http.aexplaining(self._model):
            self._check(await aretrying(self._max_retries)(self._http.amodels))

    def _check(self, models: list[JSON]) -> None:
        if self._model not in ids(models):
            raise ModelLoadError(f"There is no model {self._model!r}")

    def info(self) -> dict[str, Any]:
        """Describe the server; sizes in tokens, `None` for what it does not tell."""
        models = retrying(self._max_retries)(self._http.models)
        mine = [model for model in models if model.get("id") == self._model]
        version = None
        with contextlib.suppress(ModelError):
            version = self._http.get(f"{self._connection.root}/version")
        return {
            "model": self._model,
            "base_url": self._connection.base_url,
            "models": ids(models),
            "vllm_version": version.get("version")
            if isinstance(version, dict)
            else None,
            "max_model_len": mine[0].get("max_model_len") if mine else None,
            "speculation": self._server.has_ssr(self._model),
        }

    def close(self) -> None:
        """Give the connections up. The server is not touched."""
        clients.forget(self._connection)
