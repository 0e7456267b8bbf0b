"""A chat model's engine, here or on a server: found, started, given up."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

from langchain_ssr.backends.base import Backend
from langchain_ssr.configured_model import ConfiguredModel


class EngineOwner(ConfiguredModel):
    """A chat model that can be asked for its engine."""

    @property
    def _backend(self) -> Backend:
        return self._remote if self.base_url else self._embedded

    @property
    def _remote(self) -> Any:
        from langchain_ssr.backends.clients import Connection
        from langchain_ssr.backends.remote import RemoteBackend

        connection = Connection(
            base_url=str(self.base_url),
            api_key=self.api_key,
            headers=tuple((self.default_headers or {}).items()),
            http_client=self.http_client,
            http_async_client=self.http_async_client,
        )
        return RemoteBackend(self.model, connection, self.timeout, self.max_retries)

    @property
    def _embedded(self) -> Any:
        from langchain_ssr.backends.embedded import EmbeddedBackend

        return EmbeddedBackend(
            self.model,
            self.engine_kwargs,
            self.timeout,
            self,
            self.num_speculative_tokens if self._speculates else None,
        )

    def warmup(self) -> Self:
        """Start the engine now, so that the first call does not wait for it.

        With `base_url`: ask whether the server is there and has the model.

        Returns:
            The model itself.

        Raises:
            ModelError: As a first call would.

        Example:
            ```python
            llm = ChatSSR(model="demo").warmup()
            ```
        """
        if self.base_url:
            self._remote.check()
        else:
            self._embedded.engine()
        return self

    async def awarmup(self) -> Self:
        """Start the engine now; see `warmup`.

        Example:
            ```python
            await llm.awarmup()
            ```
        """
        if self.base_url:
            await self._remote.acheck()
        else:
            await self._embedded.aengine()
        return self

    def engine_info(self) -> dict[str, Any]:
        """Describe the engine (started if need be): versions, sizes, limits.

        A server tells less: what is not known of it is `None`.

        Example:
            ```python
            info = llm.engine_info()
            info["max_model_len"], info["speculation"]
            ```
        """
        engine = self._remote if self.base_url else self._embedded.engine()
        info: dict[str, Any] = engine.info()
        return info

    def close(self) -> None:
        """Give the engine up. It ends unless another open model uses it too.

        The model stays usable: its next call starts an engine again. A server goes on;
        only the connections to it are given up.

        Example:
            ```python
            llm = ChatSSR(model="demo").warmup()
            llm.close()
            ```
        """
        (self._remote if self.base_url else self._embedded).close()

    async def aclose(self) -> None:
        """Give the engine up; see `close`.

        Example:
            ```python
            await llm.aclose()
            ```
        """
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        """Return the model."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the engine up."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the model."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the engine up."""
        await self.aclose()
