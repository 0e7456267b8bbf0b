"""A chat model's engine: found at each call, started ahead of time, given up."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, Self

from langchain_ssr.backends.base import Backend
from langchain_ssr.configured_model import ConfiguredModel
from langchain_ssr.errors import SettingsError


class EngineOwner(ConfiguredModel):
    """A chat model that can be asked for its engine."""

    @property
    def _backend(self) -> Backend:
        if self.base_url or os.environ.get("SSR_BASE_URL"):
            raise SettingsError(
                "base_url: this version runs embedded engines only; leave base_url "
                "and SSR_BASE_URL unset"
            )
        return self._embedded

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

        Returns:
            The model itself.

        Raises:
            ModelError: As a first call would.
        """
        self._embedded.engine()
        return self

    async def awarmup(self) -> Self:
        """Start the engine now; see `warmup`."""
        await self._embedded.aengine()
        return self

    def engine_info(self) -> dict[str, Any]:
        """Describe the engine (started if need be): versions, sizes, limits."""
        info: dict[str, Any] = self._embedded.engine().info()
        return info

    def close(self) -> None:
        """Give the engine up. It ends unless another open model uses it too.

        The model stays usable: its next call starts an engine again.
        """
        self._embedded.close()

    async def aclose(self) -> None:
        """Give the engine up; see `close`."""
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
