"""Requests to a server by the openai client, with typed errors and without retries."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator
from typing import Any

import openai
from langchain_core.exceptions import ModelError, ModelNotFoundError

from langchain_ssr.backends import clients
from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.clients import Connection
from langchain_ssr.backends.openai_errors import like_openai
from langchain_ssr.backends.remote_errors import not_found, typed_error
from langchain_ssr.wire.checks import not_a_completion

_FOREIGN = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")
"""Packages whose errors get a type of ours."""


class Http:
    """Sends requests to one server.

    Args:
        connection: How to reach it.
        timeout: Seconds to wait for an answer or for a stream's next chunk.
    """

    def __init__(self, connection: Connection, timeout: float | None) -> None:
        """Create a handle; nothing is sent yet."""
        self.connection = connection
        self._timeout = timeout

    @contextlib.contextmanager
    def typed_errors(self) -> Generator[None]:
        """Give errors that come through a type of `langchain_ssr.errors`."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            package = type(error).__module__.partition(".")[0]
            if package not in _FOREIGN and not isinstance(error, ValueError):
                raise
            typed = typed_error(error, self.connection, self._timeout)
            raise like_openai(typed, error) from error

    @property
    def _options(self) -> Any:
        return {"timeout": clients.request_timeout(self._timeout)}

    # --- one answer ---------------------------------------------------------------

    def post(self, url: str, body: JSON) -> Any:
        """Send an object, and return the JSON of the answer."""
        with self.typed_errors():
            client = clients.client(self.connection)
            return client.post(url, cast_to=object, body=body, options=self._options)

    async def apost(self, url: str, body: JSON) -> Any:
        """Send an object, and return the JSON of the answer."""
        with self.typed_errors():
            client = clients.async_client(self.connection)
            return await client.post(
                url, cast_to=object, body=body, options=self._options
            )

    def get(self, url: str) -> Any:
        """Return the JSON that is at an address."""
        with self.typed_errors():
            client = clients.client(self.connection)
            return client.get(url, cast_to=object, options=self._options)

    async def aget(self, url: str) -> Any:
        """Return the JSON that is at an address."""
        with self.typed_errors():
            client = clients.async_client(self.connection)
            return await client.get(url, cast_to=object, options=self._options)

    # --- streams ------------------------------------------------------------------

    def open(self, url: str, body: JSON) -> openai.Stream[object]:
        """Send an object, and return the stream of the answer's events."""
        with self.typed_errors():
            return clients.client(self.connection).post(
                url,
                cast_to=object,
                body=body,
                options=self._options,
                stream=True,
                stream_cls=openai.Stream[object],
            )

    async def aopen(self, url: str, body: JSON) -> openai.AsyncStream[object]:
        """Send an object, and return the stream of the answer's events."""
        with self.typed_errors():
            return await clients.async_client(self.connection).post(
                url,
                cast_to=object,
                body=body,
                options=self._options,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )

    # --- models -------------------------------------------------------------------

    def models(self) -> list[JSON]:
        """Return the server's models, as its API describes them."""
        return _models(self.get("/models"))

    async def amodels(self) -> list[JSON]:
        """Return the server's models, as its API describes them."""
        return _models(await self.aget("/models"))

    @contextlib.contextmanager
    def explaining(self, model: str) -> Generator[None]:
        """Say in a "not found" which models there are."""
        try:
            yield
        except ModelNotFoundError as error:
            served = None
            with contextlib.suppress(ModelError):
                served = ids(self.models())
            raise self._not_found(error, model, served) from error

    @contextlib.asynccontextmanager
    async def aexplaining(self, model: str) -> AsyncGenerator[None]:
        """Say in a "not found" which models there are."""
        try:
            yield
        except ModelNotFoundError as error:
            served = None
            with contextlib.suppress(ModelError):
                served = ids(await self.amodels())
            raise self._not_found(error, model, served) from error

    def _not_found(
        self, error: ModelNotFoundError, model: str, served: list[str] | None
    ) -> ModelError:
        told = not_found(error, self.connection.base_url, model, served)
        return like_openai(told, error)


def ids(models: list[JSON]) -> list[str]:
    """Return the names of models."""
    return [str(model.get("id")) for model in models]


def some(chunk: JSON | None, stream: Any) -> JSON:
    """Return a stream's first chunk.

    Args:
        chunk: The chunk; `None` if the stream has ended without any.
        stream: The stream.

    Raises:
        ServerError: If there is none. Perhaps it is no stream of events at all.
    """
    if chunk is None:
        kind = stream.response.headers.get("content-type", "no type")
        raise not_a_completion(f"an empty stream, {kind}")
    return chunk


def _models(answer: Any) -> list[JSON]:
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise not_a_completion(answer)
    return data
