"""An engine's process ends with the one that started it, and no other process does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

from langchain_ssr.engine.owner import OWNER_VARIABLE, follow_owner

ENGINE = """
import os, time
from langchain_ssr.engine.owner import follow_owner
follow_owner()
print(os.getpid(), flush=True)
time.sleep(60)
"""
OWNER = """
import os, subprocess, sys, time
environment = {{**os.environ, {variable!r}: str(os.getpid())}}
subprocess.Popen([sys.executable, "-c", {engine!r}], env=environment)
time.sleep(60)
"""


def test_a_killed_owner_takes_the_engine_along():
    code = OWNER.format(variable=OWNER_VARIABLE, engine=ENGINE)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    engine = int(owner.stdout.readline())
    os.kill(engine, 0)  # it is there
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert owner.stdout.read() == b""  # the engine held the pipe's other end


def follow_late() -> None:
    print(os.getpid(), flush=True)  # noqa: T201 - to the test
    owner = multiprocessing.parent_process()
    while os.getppid() == owner.pid:
        time.sleep(0.01)
    follow_owner()
    time.sleep(60)


HASTY_OWNER = f"""
import multiprocessing, os, time
from tests.unit_tests.test_owner import follow_late
os.environ[{OWNER_VARIABLE!r}] = str(os.getpid())
multiprocessing.get_context("spawn").Process(target=follow_late).start()
time.sleep(60)
"""


def test_an_owner_that_is_killed_while_the_engine_loads_takes_it_along():
    command = [sys.executable, "-c", HASTY_OWNER]
    owner = subprocess.Popen(command, stdout=subprocess.PIPE)
    engine = int(owner.stdout.readline())
    os.kill(engine, 0)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert owner.stdout.read() == b""


def watchers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "ssr-o" in thread.name]


def test_a_process_that_nobody_embedded_is_left_alone(monkeypatch):
    monkeypatch.delenv(OWNER_VARIABLE, raising=False)
    follow_owner()
    assert watchers() == []


def test_a_process_of_the_engine_itself_is_left_alone(monkeypatch):
    """vLLM ends its workers by itself; their parent is the engine, not the owner."""
    monkeypatch.setenv(OWNER_VARIABLE, str(os.getppid() + 1))
    follow_owner()
    assert watchers() == []
