"""The pool of engines for `--backend remote`: each one is a server."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from langchain_ssr import ChatSSR
from langchain_ssr.backends.launch import to_flags
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import SERVE, free_port, running


class ServedPool(EnginePool):
    """Hands out chat models that ask `langchain-ssr serve`, one server at a time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder
        self._server = ExitStack()
        self._command: list[str] = []
        self._url = ""

    def model(self, name: str = "smollm2", **settings: Any) -> ChatSSR:
        """Return a model on a server with its engine settings.

        One that never speculates gets a server without SSR.
        """
        own = self.settings(name, **settings)
        plain = own.get("speculation") is False
        flags = to_flags(own.pop("engine_kwargs"))
        most = own.get("num_speculative_tokens")
        if most is not None and not plain:
            flags += ["--ssr-limits", json.dumps({"num_speculative_tokens": most})]
        command = [*SERVE, own["model"], *flags]
        if plain:
            command = ["env", "SSR_DISABLE=1", *command]
        if command != self._command:
            self.close()
            port = free_port()
            log = self._folder / f"server-{port}"
            server = running([*command, "--port", str(port)], port, log)
            self._url = f"{self._server.enter_context(server).url}/v1"
            self._command = command
        return ChatSSR(**own, base_url=self._url)

    def close(self) -> None:
        """End the running server."""
        self._command = []
        self._server.close()
