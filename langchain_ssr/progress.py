"""Tells on stderr how the start of an engine goes, so that nobody waits in the dark."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

PROGRESS_VARIABLE = "SSR_PROGRESS"
INTERVAL = 0.5
"""Seconds between two updates on a terminal."""


class Progress:
    """A status line: live on a terminal, one line at each end elsewhere.

    `SSR_PROGRESS=0` in the environment silences it.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        """Create a status line; it shows from `__enter__` to `__exit__`."""
        self._title = title
        self._stream = stream or sys.stderr
        off = os.environ.get(PROGRESS_VARIABLE, "1") == "0"
        # A program without a console has no stderr, or a closed one.
        self._silent = off or self._stream is None or self._stream.closed
        self._live = not self._silent and self._stream.isatty()
        self._phase = ""
        self._start = time.monotonic()
        self._done = threading.Event()
        self._ticker: threading.Thread | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the status line was shown."""
        return time.monotonic() - self._start

    def phase(self, text: str) -> None:
        """Say what is being done now."""
        self._phase = text

    def __enter__(self) -> Self:
        """Show the line."""
        self._start = time.monotonic()
        if self._live:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        else:
            self._write(f"{self._title} ...\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Replace the line by how it ended."""
        self._done.set()
        if self._ticker:
            self._ticker.join()
        end = "failed after" if kind else "done in"
        start = "\r\x1b[K" if self._live else ""
        self._write(f"{start}{self._title}: {end} {self.seconds:.0f} s\n")

    def _tick(self) -> None:
        while not self._done.wait(INTERVAL):
            phase = f" ({self._phase})" if self._phase else ""
            self._write(f"\r\x1b[K{self._title}{phase} {self.seconds:.0f} s")

    def _write(self, text: str) -> None:
        if self._silent:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a closed stream must not stop the engine
            self._silent = True
