"""One process for each GPU: the same command, each with a part of the requests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from langchain_ssr.errors import EngineStartError, SettingsError

VARIABLE = "CUDA_VISIBLE_DEVICES"
_POLL_SECONDS = 0.5


def parse_shard(text: str) -> tuple[int, int]:
    """Read `PART/PARTS`, the part from 0.

    Raises:
        SettingsError: If it is of another form.
    """
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and int(part) < int(parts)):
        raise SettingsError(f"--shard {text!r} is not of the form PART/PARTS")
    return int(part), int(parts)


def devices(number: int, environment: Mapping[str, str]) -> list[str]:
    """Return a GPU for each worker, as `CUDA_VISIBLE_DEVICES` names them.

    Args:
        number: How many workers.
        environment: Environment variables; the GPUs that they show are used in order.

    Raises:
        SettingsError: If they show fewer.
    """
    if not environment.get(VARIABLE):
        return [str(index) for index in range(number)]
    shown = environment[VARIABLE].split(",")
    if len(shown) < number:
        raise SettingsError(
            f"--workers {number}, but {VARIABLE} shows only {len(shown)} GPUs"
        )
    return shown[:number]


def run_workers(
    arguments: Sequence[str],
    number: int,
    folder: Path,
    progress: Callable[[], None],
    program: Sequence[str] = (sys.executable, "-m", "langchain_ssr"),
) -> None:
    """Run a command several times at once and wait for all.

    Args:
        arguments: Its arguments; each process gets `--shard` on top.
        number: How many processes, each on a GPU of its own.
        folder: Where each writes what it prints: `worker-PART.log`.
        progress: Called from time to time.
        program: What takes the arguments.

    Raises:
        SettingsError: If there are fewer GPUs.
        EngineStartError: If a process fails; the others are ended.
    """
    running: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as files:
        try:
            for part, device in enumerate(devices(number, os.environ)):
                log = files.enter_context((folder / f"worker-{part}.log").open("ab"))
                process = subprocess.Popen(  # noqa: S603 - our own command
                    [*program, *arguments, "--shard", f"{part}/{number}"],
                    stdout=log,
                    stderr=log,
                    env={**os.environ, VARIABLE: device},
                )
                running.append(process)
            while any(process.poll() is None for process in running):
                progress()
                _raise_if_failed(running, folder)
                time.sleep(_POLL_SECONDS)
            _raise_if_failed(running, folder)
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait()


def _raise_if_failed(running: Sequence[subprocess.Popen[bytes]], folder: Path) -> None:
    for part, process in enumerate(running):
        if process.poll():
            raise EngineStartError(
                f"Worker {part} ended with code {process.returncode}; "
                f"{folder / f'worker-{part}.log'} says why. What is done is kept."
            )
