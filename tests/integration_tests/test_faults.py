"""Killed, interrupted, nothing to write to: an error that says so, and then it works.

Every wait is bounded. What fails before an engine starts is in test_start_faults.py.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends import heartbeat
from langchain_ssr.errors import (
    EngineDiedError,
    EngineStartError,
    InvalidRequestError,
)
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle, engine_processes, running
from tests.integration_tests.test_life_calls import LONG, wait_until_served
from tests.integration_tests.test_standalone import processes_of_session

pytestmark = pytest.mark.engine

SECONDS = float(os.environ.get("SSR_FAULT_SECONDS", "30"))
"""Longest wait for an error, and for the next answer; slow machines may want more."""


def kill_engine() -> None:
    for process in engine_processes():
        os.kill(process.pid, signal.SIGKILL)


class Caller(threading.Thread):
    """Makes a call and keeps what became of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.call = call
        self.outcome: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.outcome = self.call()
        except BaseException as error:  # noqa: BLE001 - it is the outcome
            self.outcome = error

    def result(self) -> Any:
        self.join(SECONDS)
        assert not self.is_alive(), "the call hangs"
        return self.outcome


async def read(llm: ChatSSR) -> list[Any]:
    return [part async for part in llm.astream("hello", **LONG)]


WAYS: tuple[Callable[[ChatSSR], Any], ...] = (
    lambda llm: llm.invoke("hello", **LONG),
    lambda llm: list(llm.stream("hello", **LONG)),
    lambda llm: asyncio.run(llm.ainvoke("hello", **LONG)),
    lambda llm: asyncio.run(read(llm)),
    lambda llm: llm.batch(["hello"] * 2, **LONG),
)


def assert_works_again(llm: ChatSSR, since: float) -> None:
    assert llm.invoke("hello").usage_metadata["output_tokens"] == 24
    assert time.monotonic() - since < SECONDS
    assert_idle(llm)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_kill_at_a_random_moment_reaches_every_caller(
    pool: EnginePool, seed: int
) -> None:
    llm = pool.model("qwen3")
    before = running(llm)
    callers = [Caller(lambda way=way: way(llm)) for way in WAYS]
    wait_until_served(llm, len(WAYS) + 1)
    time.sleep(random.Random(seed).uniform(0, 1))
    killed = time.monotonic()
    kill_engine()
    for caller in callers:
        assert isinstance(caller.result(), EngineDiedError), caller.outcome
        assert caller.outcome.is_retryable
        assert "stderr" in str(caller.outcome)
    assert time.monotonic() - killed < SECONDS / 3
    assert_works_again(llm, killed)
    assert running(llm) is not before


def test_a_kill_between_two_calls_costs_one_call_at_most(pool: EnginePool) -> None:
    llm = pool.model("qwen3")
    killed = time.monotonic()
    kill_engine()
    outcome = Caller(lambda: llm.invoke("hello")).result()
    if isinstance(outcome, BaseException):
        assert isinstance(outcome, EngineDiedError)
    assert_works_again(llm, killed)


def test_a_kill_in_mid_start_is_a_failed_start(pool: EnginePool) -> None:
    pool.close()
    llm = ChatSSR(**pool.settings("qwen3"))
    caller = Caller(lambda: llm.invoke("hello"))
    deadline = time.monotonic() + SECONDS
    while not engine_processes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(random.Random(3).uniform(0, 2))
    killed = time.monotonic()
    kill_engine()
    assert isinstance(caller.result(), EngineStartError)
    assert "stderr" in str(caller.outcome)
    llm = pool.model("qwen3")
    assert_works_again(llm, killed)


def test_an_engine_that_is_silent_is_replaced(
    pool: EnginePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.close()
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.2)
    llm = pool.model("qwen3")
    assert llm.timeout is None
    callers = [Caller(lambda way=way: way(llm)) for way in WAYS]
    wait_until_served(llm, len(WAYS) + 1)
    for process in engine_processes():
        process.suspend()
    for caller in callers:
        assert isinstance(caller.result(), EngineDiedError), caller.outcome
    assert_works_again(llm, time.monotonic())
    pool.close()


# --- other processes ------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.make(tmp_path_factory.mktemp("tiny") / "qwen3", "qwen3")


@pytest.fixture
def alone(pool: EnginePool) -> None:
    """No engine beside those of other processes: they would slow each other down."""
    pool.close()


STARTING = """
import signal
from langchain_ssr import ChatSSR, progress
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
phase = progress.Progress.phase
def tell(self, text):
    phase(self, text)
    print(text, flush=True)
progress.Progress.phase = tell
llm = ChatSSR(model={model!r}, max_tokens=5)
try:
    llm.invoke("hi")
except KeyboardInterrupt:
    print("interrupted", flush=True)
if {again}:
    print(llm.invoke("hi").usage_metadata["output_tokens"])
"""


def start(model: Path, *, again: bool) -> subprocess.Popen[str]:
    return run_script(STARTING.format(model=str(model), again=again))


def run_script(script: str) -> subprocess.Popen[str]:
    """Start a program in a session of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    for each in process.stdout:
        if each.strip() == line:
            return
    raise AssertionError(process.communicate())


def assert_no_process_left(process: subprocess.Popen[str], within: float) -> None:
    deadline = time.monotonic() + within
    while left := processes_of_session(process.pid):
        if time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(left)
        time.sleep(0.1)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("phase", "delay", "again"),
    [
        ("importing vLLM", 1, False),
        ("loading the model", 3, False),
        ("loading the model", 1, True),
    ],
    ids=["import", "loading", "and again"],
)
def test_ctrl_c_while_the_engine_starts(
    model: Path, phase: str, delay: float, again: bool
) -> None:
    process = start(model, again=again)
    wait_for_line(process, phase)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=2 * SECONDS)
    assert process.returncode == 0, err
    expected = ["interrupted", "5"] if again else ["interrupted"]
    assert [line for line in out.split("\n") if line != "loading the model"] == [
        *expected,
        "",
    ]
    assert "Traceback" not in err
    assert_no_process_left(process, 10)


ASK = """
from langchain_ssr import ChatSSR
from langchain_ssr.errors import EngineStartError
try:
    ChatSSR(model={model!r}).invoke("hi")
except EngineStartError as error:
    print(error)
"""
CACHES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HF_HOME", "VLLM_CACHE_ROOT")
CACHES += ("VLLM_CONFIG_ROOT", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@pytest.mark.usefixtures("alone")
def test_no_cache_can_be_written(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    nowhere = dict.fromkeys(CACHES, str(tmp_path / "file" / "cache"))
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(model=str(model))],
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "file" / "cache") in done.stdout
    assert "folders that can be written" in done.stdout


def test_no_chat_template_and_no_reasoning_parser(
    pool: EnginePool, model: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(model, tmp_path / "model"))
    (folder / "chat_template.jinja").unlink()
    kwargs = {"trust_request_chat_template": True, "reasoning_parser": None}
    llm = pool.model(str(folder), engine_kwargs=kwargs)
    for call in (llm.invoke, lambda text: list(llm.stream(text))):
        with pytest.raises(
            InvalidRequestError, match=r"engine_kwargs=\{'chat_template'"
        ):
            call("hi")
    template = {"chat_template": "{{ messages[0].content }}"}
    answer = llm.invoke("hi", extra_body=template)
    assert answer.usage_metadata["output_tokens"] == 24
    assert answer.response_metadata["speculation"]["reason"] == "no_reasoning"
    assert_idle(llm)
