"""Scripts without a main guard, `python -c`, Ctrl-C and exits, in other processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

VLLM_NOTE = "Triton is installed, but doesn't include CPU backend."


@pytest.fixture(scope="module", autouse=True)
def no_other_engine(pool: EnginePool) -> None:
    pool.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.make(tmp_path_factory.mktemp("tiny") / "qwen3", "qwen3"))


def arguments(pool: EnginePool, model: str, backend: str) -> str:
    """Write the arguments of `ChatSSR` that say which model, and where it is."""
    if backend == "embedded":
        return f"model={model!r}"
    llm = pool.model("qwen3")
    return f"model={llm.model!r}, base_url={llm.base_url!r}"


def lines_of_others(stderr: str) -> list[str]:
    """Lines on stderr that neither we nor vLLM's known note explain."""
    return [
        line
        for line in stderr.splitlines()
        if line.strip()
        and not line.startswith("langchain-ssr: starting vLLM")
        and VLLM_NOTE not in line
    ]


@pytest.mark.kind(23)
def test_a_plain_script_of_three_lines(
    pool: EnginePool, model: str, backend: str, tmp_path: Path
) -> None:
    script = tmp_path / "three.py"
    script.write_text(
        "from langchain_ssr import ChatSSR\n"
        f"llm = ChatSSR({arguments(pool, model, backend)}, max_tokens=5)\n"
        "print(llm.invoke('hi').usage_metadata['output_tokens'])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "5\n"
    assert lines_of_others(done.stderr) == []


INTERRUPTED = """
import asyncio, signal
from langchain_ssr import ChatSSR
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
llm = ChatSSR(model={model!r}, max_tokens=5)
print(len(llm.batch(["hi"] * 2)), flush=True)
before = llm._embedded.running()
try:
    llm.invoke(
        "hi", max_tokens=3500, speculation=False, extra_body={{"ignore_eos": True}}
    )
    print("too fast", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(asyncio.run(llm.ainvoke("hi")).usage_metadata["output_tokens"])
print(llm._embedded.running() is before)
"""


@pytest.mark.embedded
@pytest.mark.kind(23)
def test_ctrl_c_ends_the_request_and_not_the_engine(model: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(model=model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "2\n"
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=120)
    assert out == "interrupted\n5\nTrue\n", err
    assert process.returncode == 0
    assert lines_of_others(err) == []


LEFT = """
import sys
from langchain_ssr import ChatSSR
llm = ChatSSR(model={model!r}, draft_budget=8, thinking_budget=3000)
stream = llm.stream("hi", max_tokens=3500, extra_body={{"ignore_eos": True}})
print(next(stream).type, flush=True)
sys.exit(3)
"""


@pytest.mark.embedded
def test_leaving_the_interpreter_in_mid_stream_leaves_no_process(model: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LEFT.format(model=model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = process.communicate(timeout=120)
    assert (out, process.returncode) == ("AIMessageChunk\n", 3), err
    assert lines_of_others(err) == []
    assert_no_process_left(process)


KILLED = LEFT.replace("sys.exit(3)", "import time; time.sleep(60)")


@pytest.mark.embedded
def test_an_engine_ends_with_the_process_that_is_killed(model: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(model=model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "AIMessageChunk\n"
    assert len(processes_of_session(process.pid)) > 1
    process.kill()
    process.communicate(timeout=20)
    assert_no_process_left(process)


def assert_no_process_left(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 10
    while left := processes_of_session(process.pid):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def processes_of_session(session: int) -> list[psutil.Process]:
    """Return the processes that a process with a session of its own has started."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.Error):
            if os.getsid(process.pid) == session:
                found.append(process)
    return found
