"""The judge for Python classes: run them, in a process that cannot do harm.

The child (`grading_code_child`) gets limits on time, memory, output and processes, an
empty directory, and a hook that refuses files, processes and sockets. That is enough
for what a small model writes by mistake; it is no sandbox against an attacker.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

_CHILD = pathlib.Path(__file__).with_name("grading_code_child.py")
_SECONDS = 10.0
_FENCE = re.compile(r"```python\n(.*?)\n?```", re.DOTALL)
_MOST_AFTER_FENCE = 120


def source_of(answer: str) -> str | None:
    """Return the source in an answer.

    Args:
        answer: A message with one fenced block, or bare source without a fence.

    Returns:
        The source; None if there is no block, more than one, or a long text besides.
    """
    if "```" not in answer:
        return answer
    blocks = _FENCE.findall(answer)
    rest = _FENCE.sub("", answer).strip()
    if len(blocks) != 1 or "```" in rest or len(rest) > _MOST_AFTER_FENCE:
        return None
    return f"{blocks[0]}\n"


def _wait(process: subprocess.Popen[bytes], task: bytes, seconds: float) -> str | None:
    try:
        process.communicate(task, seconds)
    except subprocess.TimeoutExpired:
        return f"it does not end within {seconds:g} seconds"
    finally:
        # What the answer may have started has the same group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None


def _verdict(output: str, token: str, code: int) -> str | None:
    for line in reversed(output.splitlines()):
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, list) and found[:1] == [token]:
                verdict: str | None = found[1]
                return verdict
    if code in {-signal.SIGXCPU, -signal.SIGKILL}:
        return "it takes too much time"
    return f"it ends the test run (exit code {code})"


def judge_class(
    source_or_answer: str, expected: Any, seconds: float = _SECONDS
) -> str | None:
    """Run the tests of a class.

    Args:
        source_or_answer: The answer with its fenced block, or bare source.
        expected: `class`, `new`, `tests` and `signatures`, as
            `langchain_ssr.demo.corpus.class_tests.expected` made them.
        seconds: How long it may take by the clock; computing time has a lower limit.

    Returns:
        None if it is right, else the reason why not, in one line.
    """
    source = source_of(source_or_answer)
    if source is None:
        return "there is not exactly one Python block"
    return run_limited(_CHILD, {"source": source, "expected": expected}, seconds)


def run_limited(
    child: pathlib.Path, task: Mapping[str, Any], seconds: float
) -> str | None:
    """Let a child judge code that a model wrote.

    Args:
        child: A script that reads the task, with its `token`, from standard input, sets
            its limits and answers by `grading_code_child.answer`. It runs isolated, in
            an empty folder and without environment variables.
        task: What it is told; JSON data.
        seconds: How long it may take by the clock.

    Returns:
        The child's verdict: None if the code is right, else why not, in one line.
    """
    token = secrets.token_hex(8)
    told = json.dumps({"token": token, **task})
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
        tempfile.TemporaryDirectory() as folder,
    ):
        process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", str(child)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={},
            start_new_session=True,
        )
        reason = _wait(process, told.encode(), seconds)
        if reason:
            return reason
        if any(pathlib.Path(folder).iterdir()):
            return "it writes files"
        output.seek(0)
        return _verdict(output.read(), token, process.returncode)


def judge_classes(pairs: Iterable[tuple[str, Any]], jobs: int = 2) -> list[str | None]:
    """Judge several classes, some at the same time.

    Args:
        pairs: Arguments of `judge_class`.
        jobs: How many processes may run at the same time.

    Returns:
        One verdict for each pair, in order.
    """
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda pair: judge_class(*pair), pairs))
