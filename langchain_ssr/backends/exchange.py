"""One request to a server and its answer, without the HTTP in between.

Checks what comes back, applies stop strings where the server cannot, and says in the
statistics if the server has no SSR.
"""

from __future__ import annotations

from typing import Any

from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.openai_errors import like_openai
from langchain_ssr.backends.server import WITHOUT_SSR, Server, wants_ssr
from langchain_ssr.errors import ServerConnectionError
from langchain_ssr.wire.checks import check_response
from langchain_ssr.wire.client_stops import ClientStops
from langchain_ssr.wire.responses import stats_from_wire


class Exchange:
    """A request as it is sent, and what reads its answer.

    Attributes:
        stopped: Whether a stop string has ended the answer.
    """

    def __init__(self, request: JSON, server: Server) -> None:
        """Prepare a request.

        Args:
            request: The request as the engine of this process would get it.
            server: What is known of the server.
        """
        self._request, self._server = request, server
        self._model = str(request.get("model"))
        self._asks = wants_ssr(request)
        self._tail: JSON = {}
        self._finished = False
        self._stops: ClientStops | None = None
        if request.get("stop") and server.has_ssr(self._model) is False:
            self._stops = self._new_stops()
        self.stopped = False

    def _new_stops(self) -> ClientStops:
        keep = bool(self._request.get("include_stop_str_in_output"))
        stops = self._request["stop"]
        return ClientStops([stops] if isinstance(stops, str) else stops, keep=keep)

    @property
    def saves_by_streaming(self) -> bool:
        """Whether a stream can be left at the stop, and a whole answer could not.

        Servers read tool calls best from whole answers.
        """
        alone = self._request.get("n", 1) == 1 and not self._request.get("tools")
        return self._stops is not None and alone

    def body(self, *, stream: bool) -> JSON:
        """Return the request as the server takes it."""
        body = dict(self._request)
        if stream:
            body["stream"] = True
            body.setdefault("stream_options", {"include_usage": True})
        if self._stops is not None:
            del body["stop"]
            if stream:  # a stream that is left early has no usage chunk
                options = {**body["stream_options"], "continuous_usage_stats": True}
                body["stream_options"] = options
        return self._server.without_refused(body)

    def whole(self, data: Any) -> JSON:
        """Read a whole answer.

        Raises:
            ModelError: If it is none.
        """
        response = check_response(data, stream=False)
        if self._stops is not None:
            for choice in response["choices"]:
                self._new_stops().message(choice)
        return {**response, **self._with_report(response)}

    def chunk(self, data: Any) -> JSON:
        """Read a stream's chunk.

        Raises:
            ModelError: If it is none.
        """
        chunk = check_response(data, stream=True)
        for name in ("usage", "metrics"):
            if chunk.get(name):
                self._tail[name] = chunk[name]
        for choice in chunk.get("choices") or []:
            if self._stops is not None:
                self._stops.delta(choice)
                self.stopped = self._stops.found is not None
            self._finished |= choice.get("finish_reason") is not None
        return chunk

    def last(self) -> JSON:
        """Return a chunk for the end of a stream, with usage and statistics.

        Raises:
            ServerConnectionError: If the stream has ended before the answer.
        """
        if not self._finished:
            error = ServerConnectionError(
                f"The server at {self._server.url} ended its stream in the middle of "
                "the answer."
            )
            raise like_openai(error, None)
        return {"choices": [], **self._tail, **self._with_report(self._tail)}

    def _with_report(self, response: JSON) -> JSON:
        """Return the answer's `metrics` where they have to be others."""
        metrics, readable = response.get("metrics") or {}, _is_readable(response)
        kept = metrics if readable else {}
        changed = {} if readable else {"metrics": kept}
        if not self._asks:
            return changed
        has_ssr = "ssr" in kept
        if not self.stopped:  # else the report did not come this far
            self._server.learn(self._model, has_ssr=has_ssr)
        if has_ssr:
            return changed
        self._server.missed()
        return {"metrics": {**kept, "ssr": {"reason": WITHOUT_SSR}}}


def _is_readable(response: JSON) -> bool:
    """Whether this version understands a response's metrics, which are no standard."""
    try:
        stats_from_wire(response)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True
