"""The processes of scaling.py: what starts servers and router, and what they tell."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

START_SECONDS = 300
STOP_SECONDS = 30
ENVIRONMENT = {"VLLM_CPU_OMP_THREADS_BIND": "nobind"}
"""On a CPU vLLM binds an engine's threads to cores, and two engines to the same."""


def server_command(model: str, port: int, kv_cache_mib: int) -> list[str]:
    """Return what starts a server.

    Args:
        model: As `langchain-ssr serve` takes it.
        port: Where it listens.
        kv_cache_mib: Size of its KV cache. vLLM would take nearly all of the memory.
    """
    return [
        *(sys.executable, "-m", "langchain_ssr", "serve", model),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", "2048", "--max-num-seqs", "16"),
        *("--kv-cache-memory-bytes", str(kv_cache_mib << 20)),
    ]


def router_command(
    router: str, servers: Sequence[int], port: int, metrics_port: int
) -> list[str]:
    """Return what starts vLLM's router.

    Args:
        router: The program.
        servers: The servers' ports.
        port: Where it listens.
        metrics_port: Where it tells its own metrics.
    """
    return [
        *(router, "--host", "127.0.0.1", "--port", str(port)),
        *("--policy", "consistent_hash"),
        *("--worker-urls", *(f"http://127.0.0.1:{each}" for each in servers)),
        # A server that fails twice is left alone; by default it takes ten times.
        *("--cb-failure-threshold", "2", "--retry-max-retries", "5"),
        *("--health-check-interval-secs", "5", "--worker-startup-check-interval", "1"),
        *("--prometheus-port", str(metrics_port)),
    ]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def get(url: str) -> str:
    """Return a page's text."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - http only
        return str(answer.read().decode())


def count_answers(metrics: str) -> int:
    """Read from a server's metrics how many requests it answered."""
    lines = metrics.splitlines()
    found = [li for li in lines if li.startswith("vllm:request_success_total{")]
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in found))


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[subprocess.Popen]:
    """Run a program with its children, from when it is healthy to the end.

    Raises:
        RuntimeError: If it does not get healthy; with the end of what it wrote.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**ENVIRONMENT, **os.environ},
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _is_healthy(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]}: {log.read_text()[-2000:]}")
            time.sleep(0.5)
        yield process
    finally:
        for sent in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)


def _is_healthy(port: int) -> bool:
    try:
        get(f"http://127.0.0.1:{port}/health")
    except OSError:  # nobody listens, or the answer is an error
        return False
    return True
