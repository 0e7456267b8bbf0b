"""The examples of docs/server.md, run as they stand, on a server under their name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.doc_blocks import at, blocks, requests_of
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import (
    ROOT,
    Server,
    environment,
    serving_tiny,
)

pytestmark = pytest.mark.engine

PAGE = ROOT / "docs" / "server.md"
FLAGS = [
    *("--served-model-name", "Qwen3-4B"),
    *("--dtype", "float32", "--max-model-len", "768", "--max-num-seqs", "8"),
    *("--kv-cache-memory-bytes", str(128 << 20)),
]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, pool: EnginePool
) -> Iterator[Server]:
    with serving_tiny(pool, tmp_path_factory.mktemp("docs"), FLAGS) as server:
        yield server


def run(server: Server, command: list[str], code: str) -> str:
    """Run an example against the server; return what it printed."""
    address = server.url.removeprefix("http://")
    done = subprocess.run(
        [*command, at(address, code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("number", range(len(requests_of(PAGE))))
def test_curl(server: Server, number: int) -> None:
    out = run(server, ["sh", "-c"], requests_of(PAGE)[number])
    if out.startswith("data: "):
        *_, last, done = [line for line in out.splitlines() if line]
        assert done == "data: [DONE]"
        out = last.removeprefix("data: ")
    response = json.loads(out)
    assert response["usage"]["completion_tokens"] > 0
    assert response["metrics"]["ssr"]["schema_version"] == 1


def test_the_openai_client(server: Server) -> None:
    script = "".join(blocks(PAGE, "python"))
    out = run(server, [sys.executable, "-c"], script)
    details = out.strip().splitlines()[-1]
    assert "accepted_prediction_tokens=" in details
    assert "accepted_prediction_tokens=None" not in details
