"""The openai clients of this process: one for equal settings, made when first needed.

Chat models hold none, so they can be copied and pickled. An asynchronous client belongs
to the event loop that uses it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import openai
from pydantic import SecretStr

from langchain_ssr.errors import SettingsError

CONNECT_SECONDS = 10.0
"""Longest wait for a connection."""
MOST_CLIENTS = 64
"""More clients than this are not kept; the oldest goes first."""
_NO_KEY = "EMPTY"
"""What a server gets that needs no key, as vLLM's documentation has it."""


@dataclasses.dataclass(frozen=True)
class Connection:
    """How to reach a server.

    Attributes:
        base_url: Root of its OpenAI API.
        api_key: Its key, or `None` if it needs none.
        headers: Names and values of headers that every request has.
        http_client: The user's own `httpx.Client`, or `None`.
        http_async_client: The user's own `httpx.AsyncClient`, or `None`.
    """

    base_url: str
    api_key: SecretStr | None = None
    headers: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False)
    http_client: Any = dataclasses.field(default=None, repr=False)
    http_async_client: Any = dataclasses.field(default=None, repr=False)

    @property
    def root(self) -> str:
        """Where the server has what is not of OpenAI's API."""
        return self.base_url.removesuffix("/v1")


class _Clients:
    """Keeps clients by their settings."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        with self._lock:
            client = self._kept.get(key)
            if client is None:
                while len(self._kept) >= MOST_CLIENTS:
                    del self._kept[next(iter(self._kept))]
                client = self._kept[key] = make()
            return client

    def forget(self, unwanted: Callable[[tuple[Any, ...]], bool]) -> None:
        with self._lock:
            for key in [key for key in self._kept if unwanted(key)]:
                del self._kept[key]


_SYNC, _ASYNC = _Clients(), _Clients()


def client(connection: Connection) -> openai.OpenAI:
    """Return the client for a connection.

    Args:
        connection: With a client of the user's own, the result only wraps it.
    """
    if connection.http_client is not None:
        return _make(openai.OpenAI, connection, connection.http_client)
    return _SYNC.get((connection,), lambda: _make(openai.OpenAI, connection))


def async_client(connection: Connection) -> openai.AsyncOpenAI:
    """Return the client for a connection and the running event loop."""
    if connection.http_async_client is not None:
        return _make(openai.AsyncOpenAI, connection, connection.http_async_client)
    _ASYNC.forget(lambda key: key[1].is_closed())
    # An open connection would outlive `asyncio.run`, and could never be closed.
    connection_ends = {"Connection": "close"}
    return _ASYNC.get(
        (connection, asyncio.get_running_loop()),
        lambda: _make(openai.AsyncOpenAI, connection, **connection_ends),
    )


def forget(connection: Connection) -> None:
    """Give up the clients for a connection; requests in flight are not disturbed."""
    for clients in (_SYNC, _ASYNC):
        clients.forget(lambda key: key[0] == connection)


def request_timeout(timeout: float | None) -> openai.Timeout:
    """Translate the setting: nobody waits long for a connection.

    Args:
        timeout: Seconds between two parts of a response; `None` for no limit.
    """
    connect = CONNECT_SECONDS if timeout is None else min(timeout, CONNECT_SECONDS)
    return openai.Timeout(timeout, connect=connect)


def _make(
    kind: type[Any], connection: Connection, http_client: Any = None, **headers: str
) -> Any:
    key = _key(connection.api_key)
    made = kind(
        base_url=connection.base_url,
        api_key=key,
        default_headers={
            "Authorization": f"Bearer {key}",
            **headers,
            **dict(connection.headers),
        },
        http_client=http_client,
        timeout=None,  # each request brings its own
        max_retries=0,
    )
    made.organization = made.project = None  # from OPENAI_...: not this server's
    return made


def _key(secret: SecretStr | None) -> str:
    key = secret.get_secret_value().strip() if secret else ""
    if not (key.isascii() and key.isprintable()):
        raise SettingsError("api_key: a key has printable ASCII characters only")
    return key or _NO_KEY
