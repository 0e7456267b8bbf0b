"""Servers in processes of their own, for tests: started, asked, and stopped."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from openai import OpenAI

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool

ROOT = Path(__file__).parents[2]
SERVE = [sys.executable, "-m", "langchain_ssr", "serve"]
"""What starts a server, before the model and its flags."""
START_SECONDS = 300
"""Longest wait for a server; a cold one takes about a minute."""
STOP_SECONDS = 60


@dataclass
class Server:
    """A running server.

    Attributes:
        process: Its first process, which leads a process group of its own.
        url: Its root, without `/v1`.
        log: What it wrote.
    """

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def client(self, key: str = "none") -> OpenAI:
        """Return a plain OpenAI client."""
        return OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0)

    def get(self, path: str) -> tuple[int, str]:
        """Return status and text of a request without a key."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def counter(self, name: str, **labels: str) -> float:
        """Return the sum of a Prometheus counter over the labels that are not named."""
        total = 0.0
        for line in self.get("/metrics")[1].splitlines():
            found = re.fullmatch(rf"{name}_total\{{(.*)\}} (\S+)", line)
            if found and all(f'{k}="{v}"' in found[1] for k, v in labels.items()):
                total += float(found[2])
        return total

    def blocks_in_use(self) -> int:
        """Return how many blocks of the KV cache requests held in the last step."""
        return blocks_in_use(self.url)

    def stop(self) -> int:
        """Interrupt it as Ctrl-C does; return its exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(STOP_SECONDS)

    def leftovers(self) -> bool:
        """Whether a process of its group still runs some seconds after its end."""
        for _ in range(40):
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.5)
        return True


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def environment() -> dict[str, str]:
    """Return variables with which this project and its commands are found."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[Server]:
    """Start a server, wait until it answers, and end it.

    Args:
        command: What starts it.
        port: Where it will listen.
        log: Where it writes to.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment(),
            cwd=log.parent,
        )
    server = Server(process, f"http://127.0.0.1:{port}", log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _healthy(server):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"no server: {log.read_text()[-3000:]}")
            time.sleep(0.5)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def serving_tiny(pool: EnginePool, folder: Path, flags: list[str]) -> Iterator[Server]:
    """Run `langchain-ssr serve` with a tiny Qwen3, and no other engine beside it.

    Args:
        pool: What may have an engine; it is ended.
        folder: Where model and log are written.
        flags: More of the command line.
    """
    pool.close()  # one engine at a time
    model = str(tiny_models.make(folder / "qwen3", "qwen3"))
    port = free_port()
    command = [*SERVE, model, "--port", str(port), *flags]
    with running(command, port, folder / "log") as server:
        yield server


def assert_served_none(url: str, seconds: float) -> None:
    """No request runs or waits in the server at `url`, and none holds a cache block.

    Args:
        url: The server's root.
        seconds: How long that may take.
    """
    deadline = time.monotonic() + seconds
    while (left := num_requests(url)) or blocks_in_use(url):
        assert time.monotonic() < deadline, (left, blocks_in_use(url))
        time.sleep(0.05)


def num_requests(url: str) -> int:
    """Return how many requests ran or waited in a server, drafts included."""
    gauge = re.compile(
        r"^vllm:num_requests_(?:running|waiting)\{.*\} (\S+)$", re.MULTILINE
    )
    found = gauge.findall(_metrics(url))
    assert found, "the server tells no number of requests"
    return int(sum(map(float, found)))


def blocks_in_use(url: str) -> int:
    """Return how many blocks of its KV cache a server's requests held, as it last said.

    vLLM says so after each step, and makes a step after a request was aborted, too.
    Blocks that are only cached for later are free. One block of all is vLLM's own.
    """
    text = _metrics(url)
    usage = re.search(r"^vllm:kv_cache_usage_perc\{.*\} (\S+)$", text, re.MULTILINE)
    blocks = re.search(
        r'^vllm:cache_config_info\{.*\bnum_gpu_blocks="(\d+)"', text, re.MULTILINE
    )
    assert usage, "the server tells no cache usage"
    assert blocks, "the server tells no number of blocks"
    return round(float(usage[1]) * (int(blocks[1]) - 1))


def _metrics(url: str) -> str:
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        return str(answer.read().decode())


def _healthy(server: Server) -> bool:
    try:
        return server.get("/health")[0] == 200
    except OSError:
        return False
