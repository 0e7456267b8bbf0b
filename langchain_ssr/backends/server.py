"""What this process has learned of a server: whether it has SSR, what it refuses."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from langchain_ssr.backends.base import JSON
from langchain_ssr.wire.requests import speculation_of

WITHOUT_SSR = "server_without_ssr"
"""The reason in the statistics of a server's answers that has no SSR."""
REFUSAL = "vllm_xargs.ssr"
"""How a server with SSR begins its refusal of settings."""
OPTIONAL = ("vllm_xargs", "continuous_usage_stats")
"""Fields of vLLM's that a request can do without: answers are the same."""

logger = logging.getLogger(__name__)


class Server:
    """A server, known by its address.

    Attributes:
        url: Root of its OpenAI API.
    """

    def __init__(self, url: str) -> None:
        """Create a server of which nothing is known."""
        self.url = url
        self._has_ssr: dict[str, bool] = {}
        self._refused: set[str] = set()
        self._told = False

    def has_ssr(self, model: str) -> bool | None:
        """Say whether the engine of a model has SSR; `None` if that is not known."""
        return self._has_ssr.get(model)

    def learn(self, model: str, *, has_ssr: bool) -> None:
        """Remember whether a model's engine has SSR."""
        self._has_ssr[model] = has_ssr

    def missed(self) -> None:
        """Say, once for each server, that a request did without SSR."""
        if not self._told:
            self._told = True
            logger.warning(
                "The server at %s does not do SSR, so answers come without its "
                "speed-up. speculation=False says that this is all right.",
                self.url,
            )

    def must_be_known(self, request: JSON) -> bool:
        """Whether a request cannot be made before it is known if there is SSR.

        Where there is, the server applies stop strings to answers only.
        """
        known = self.has_ssr(str(request.get("model")))
        return known is None and bool(request.get("stop"))

    @staticmethod
    def probe(model: str) -> JSON:
        """Make a request that SSR refuses, and that costs one token without it."""
        return {
            "model": model,
            "messages": [{"role": "user", "content": "Hi"}],
            "max_completion_tokens": 1,
            "vllm_xargs": {"ssr": "Are you there?"},
        }

    def read_refusal(self, model: str, message: str | None) -> None:
        """Learn from what came of a probe.

        Args:
            model: The model that was asked.
            message: Why it was refused; `None` if it was not.
        """
        self.learn(model, has_ssr=message is not None and REFUSAL in message)

    def without_refused(self, request: JSON) -> JSON:
        """Leave out of a request what the server does not take."""
        if not self._refused:
            return request
        kept = {k: v for k, v in request.items() if k not in self._refused}
        if isinstance(options := kept.get("stream_options"), Mapping):
            kept["stream_options"] = {
                k: v for k, v in options.items() if k not in self._refused
            }
        return kept

    def refuses(self, request: JSON, message: str) -> bool:
        """Read from a refusal which field the server does not know.

        Args:
            request: What was sent.
            message: Why it was refused.

        Returns:
            Whether the request may be taken without fields that do not matter.
        """
        if REFUSAL in message:
            return False
        sent = {*request, *(request.get("stream_options") or {})}
        if set(request.get("vllm_xargs") or ()) - {"ssr"}:
            sent.discard("vllm_xargs")  # the user's own matter
        refused = {name for name in OPTIONAL if name in message and name in sent}
        self._refused |= refused
        return bool(refused)


_SERVERS: dict[str, Server] = {}


def server_at(url: str) -> Server:
    """Return what is known of the server with this address."""
    return _SERVERS.setdefault(url, Server(url))


def wants_ssr(request: Mapping[str, Any]) -> bool:
    """Whether a request asks for speculation, and for a report of it."""
    if "ssr" not in (request.get("vllm_xargs") or {}):
        return False
    settings = speculation_of(request)
    return (
        settings.get("speculation", True)
        and settings.get("speculation_stats") != "none"
    )
