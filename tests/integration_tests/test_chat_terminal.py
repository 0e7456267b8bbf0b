"""`langchain-ssr chat` in a terminal, with a real engine, as a user has it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from langchain_ssr.demo.prompts import PROMPTS
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_faults import assert_no_process_left

pytestmark = pytest.mark.engine

SECONDS = 180
"""Longest wait for what is to be shown; the first includes the engine's start."""
LONG = f'"""\n{PROMPTS[0].text}\n"""'
SHORT = "Does the list Oslo, Lima, Porto contain Bern?"
PROMPT = r"[\s\S]*\n\S*> $"
"""A Ctrl-D that is typed before the prompt is shown is not read as one."""
STATUS = r"\d+ tokens \(\d+ thinking\) in \d+ steps, .* saved, \d+ drafts, [\d.]+ s"


class Terminal:
    """A program with a terminal of its own, what it shows, and what is typed."""

    def __init__(self, command: list[str]) -> None:
        self._keys, screen = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(screen)
        self.shown = ""

    def type(self, keys: str) -> None:
        self.shown = ""
        os.write(self._keys, keys.encode())

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def press_ctrl_c_impatiently(self) -> None:
        """Send the signals, not the keys: those drop what is not yet shown."""
        self.shown = ""
        for _ in range(3):
            os.killpg(self.process.pid, signal.SIGINT)

    def wait_for(self, pattern: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not re.search(pattern, self.shown):
            left = deadline - time.monotonic()
            assert left > 0, f"no {pattern!r} in {self.shown!r}"
            if select.select([self._keys], [], [], min(left, 1))[0]:
                self.shown += os.read(self._keys, 1 << 16).decode(errors="replace")

    def wait_for_the_end(self) -> int:
        with contextlib.suppress(OSError):  # nobody holds the other end
            while os.read(self._keys, 1 << 16):
                pass
        os.close(self._keys)
        return self.process.wait(SECONDS)


@pytest.fixture
def terminal(pool: EnginePool) -> Iterator[Terminal]:
    pool.close()
    terminal = Terminal([sys.executable, "-m", "langchain_ssr", "chat"])
    yield terminal
    terminal.process.kill()


def test_a_chat(terminal: Terminal) -> None:
    terminal.wait_for(f"Ctrl-D ends{PROMPT}")
    for interrupt in (terminal.press_ctrl_c, terminal.press_ctrl_c_impatiently):
        terminal.type(f"{LONG}\n")
        terminal.wait_for("The user wants the class")  # it thinks
        interrupt()
        terminal.wait_for(f"stopped{PROMPT}")
    terminal.type(f"{SHORT}\n")
    terminal.wait_for(f"{STATUS}{PROMPT}")
    terminal.type("/new\n")
    terminal.wait_for(f"forgotten{PROMPT}")
    terminal.type("\x04")
    assert terminal.wait_for_the_end() == 0
    assert_no_process_left(terminal.process, 20)
