"""Ctrl-C where it means something, and nowhere else."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Ctrl-C raises `KeyboardInterrupt` once within `allowed`; elsewhere it is ignored.

    An impatient second Ctrl-C comes while the first is still being handled: while the
    screen is restored and the request cancelled. Python's own handler would raise
    there, too, and leave both half done.
    """

    def __init__(self) -> None:
        """Ignore nothing yet."""
        self._allowed = self._came = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Take over Ctrl-C; not outside of the main thread, where it never comes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:  # None: whoever embeds Python has its own, which Python cannot set
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let Ctrl-C interrupt what is done here.

        Raises:
            KeyboardInterrupt: On the first Ctrl-C.
        """
        self._allowed, self._came = True, False
        try:
            yield
        finally:
            self._allowed = False

    def check(self) -> None:
        """Raise what Python swallowed, as it does in finalizers.

        Raises:
            KeyboardInterrupt: There was a Ctrl-C, and the work went on.
        """
        if self._came:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._allowed:
            self._allowed, self._came = False, True
            signal.default_int_handler(number, frame)
