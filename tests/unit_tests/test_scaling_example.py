"""examples/scaling.py: what it starts, how its clients count, and its report."""

from __future__ import annotations

import asyncio
import itertools
import shlex

import pytest

from langchain_ssr.serve_flags import given_arguments
from tests.unit_tests.loading import load_example

scaling = load_example("scaling")

MIB = 1 << 20


def test_a_server_has_a_cache_of_its_own_size():
    command = scaling.server_command("smollm2", 8001, 256)
    assert command[1:5] == ["-m", "langchain_ssr", "serve", "smollm2"]
    given = given_arguments(command[5:])
    assert given["kv_cache_memory_bytes"] == str(256 * MIB)
    assert given["port"] == "8001"


def test_the_router_has_both_servers_and_gives_up_on_a_dead_one():
    command = scaling.router_command("vllm-router", [8001, 8002], 8000, 29000)
    at = command.index("--worker-urls")
    assert command[at + 1 : at + 3] == [
        "http://127.0.0.1:8001",
        "http://127.0.0.1:8002",
    ]
    assert command[at + 3].startswith("--")
    options = dict(itertools.pairwise(command))
    assert options["--policy"] == "consistent_hash"
    failures, retries = "--cb-failure-threshold", "--retry-max-retries"
    assert int(options[failures]) < int(options[retries])
    assert options["--port"] != options["--prometheus-port"]


def test_commands_are_printed_for_a_shell(capsys):
    assert scaling.main(["--print-commands", "--model", "a b"]) == 0
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == scaling.SERVERS + 1
    assert all(line[0] == "VLLM_CPU_OMP_THREADS_BIND=nobind" for line in lines)
    assert [line[5] for line in lines[:2]] == ["a b", "a b"]
    assert lines[2][1] == "vllm-router"


def test_without_a_router_nothing_is_started(monkeypatch):
    monkeypatch.setattr(scaling, "run", lambda _: pytest.fail("started"))
    with pytest.raises(SystemExit, match="pip install vllm-router"):
        scaling.main(["--router", "no-such-router"])


METRICS = """\
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 3.0
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 4.0
vllm:request_success_created{engine="0",finished_reason="stop",model_name="m"} 1.7e+09
"""


def test_answers_are_counted_by_a_servers_metrics():
    assert scaling.count_answers(METRICS) == 7
    assert scaling.count_answers("") == 0


class Servers:
    """Two servers in memory; a client that meets a dead one is told so."""

    def __init__(self, *, router: bool) -> None:
        self.alive = [True, True]
        self.answered = [0, 0]
        self.kills = 0
        self.router = router
        self.turns: list[tuple[int, int]] = []

    async def ask(self, client: int, turn: int) -> int:
        await asyncio.sleep(0)
        server = client % 2
        if not self.alive[server]:
            if not self.router:
                raise ConnectionError("gone")
            server = 1 - server
        self.answered[server] += 1
        self.turns.append((client, turn))
        return 10 * turn

    async def kill(self) -> None:
        self.kills += 1
        self.alive[0] = False


def run(servers, clients=4, turns=3, kill_after=3):
    load = scaling.Load()
    asyncio.run(
        load.run(
            servers.ask,
            servers.kill,
            clients=clients,
            turns=turns,
            kill_after=kill_after,
        )
    )
    return load.report(clients * turns, servers.answered)


def test_every_client_is_answered_where_there_is_a_router():
    servers = Servers(router=True)
    told = run(servers)
    assert servers.kills == 1
    assert told["recovered"] is True
    assert (told["questions"], told["answers"], told["errors"]) == (12, 12, [])
    assert told["answers_after_the_kill"] == 9
    assert sum(told["answered_by_server"]) == 12
    assert told["cached_tokens"] == 4 * (0 + 10 + 20)
    for client in range(4):
        assert [t for c, t in servers.turns if c == client] == [0, 1, 2]


def test_questions_without_an_answer_are_told():
    told = run(Servers(router=False))
    assert told["recovered"] is False
    assert told["answers"] + len(told["errors"]) == told["questions"]
    assert told["errors"]
    assert set(told["errors"]) == {"ConnectionError: gone"}


def test_without_a_kill_nothing_was_shown():
    told = run(Servers(router=True), kill_after=1000)
    assert told["answers"] == told["questions"]
    assert told["recovered"] is False


@pytest.mark.parametrize(("recovered", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_clients_recovered(monkeypatch, recovered, code):
    monkeypatch.setattr(scaling.shutil, "which", lambda _: "/bin/router")
    monkeypatch.setattr(scaling, "run", lambda _: {"recovered": recovered})
    assert scaling.main(["--json"]) == code
