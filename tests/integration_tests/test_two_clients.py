"""examples/two_clients.py on a real server: one answer for both, and early drafts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration_tests.conftest import FLOAT32, REASONING_MODEL, EnginePool
from tests.integration_tests.served import SERVE, Server, free_port, running
from tests.integration_tests.test_examples import load

pytestmark = pytest.mark.engine

FLAGS = [
    *("--dtype", "float32", "--max-model-len", "4096", "--max-num-seqs", "8"),
    *("--kv-cache-memory-bytes", str(FLOAT32["kv_cache_memory_bytes"])),
]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, pool: EnginePool
) -> Iterator[Server]:
    pool.close()  # one engine at a time
    port = free_port()
    command = [*SERVE, REASONING_MODEL, "--port", str(port), *FLAGS]
    with running(command, port, tmp_path_factory.mktemp("clients") / "log") as server:
        yield server


def test_both_clients_get_the_same_answer_and_one_hears_drafts(server: Server) -> None:
    told = load("two_clients").run(f"{server.url}/v1", None, "none")
    mine, other = told["chat_ssr"], told["openai"]
    assert told["model"] == server.client().models.list().data[0].id
    assert "class Playlist" in mine["answer"]
    assert mine["answer"] == other["answer"]
    assert told["same_answer"] is True
    assert mine["reasoning"].strip()
    assert any(draft.strip() for draft in mine["drafts"])
    assert other["speculative_decoding"]["num_accepted_draft_tokens"] > 0
