"""Two servers behind a router; one is killed under load, and every client is answered.

    pip install vllm-router
    python examples/scaling.py [--json]

Each client holds a conversation of its own, and names it in the request: by the name
the router keeps it on one server, where its prefix is cached. After a while the busier
server is killed. The router tries the other one, and a client whose answer was lost on
the way asks again. `--print-commands` shows how all is started (scaling_servers.py).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from scaling_servers import (
    ENVIRONMENT,
    count_answers,
    free_port,
    get,
    router_command,
    running,
    server_command,
)

from langchain_ssr import ChatSSR

SERVERS = 2
TURNS = (
    "Write a Python function that adds two numbers.",
    "Now one that subtracts them.",
    "Now one that multiplies them.",
    "Now one that divides them.",
)
Ask = Callable[[int, int], Awaitable[int]]
"""Has a client ask its next question; returns the cached tokens of its prompt."""


@dataclass
class Load:
    """What came of all clients' questions."""

    answers: int = 0
    answers_after_the_kill: int = 0
    cached_tokens: int = 0
    errors: list[str] = field(default_factory=list)
    killed: bool = False

    async def run(
        self,
        ask: Ask,
        kill: Callable[[], Awaitable[None]],
        *,
        clients: int,
        turns: int,
        kill_after: int,
    ) -> None:
        """Let all clients ask at once, and kill a server while they do.

        Args:
            ask: Asks a client's next question.
            kill: Kills a server; awaited once.
            clients: How many clients there are.
            turns: How many questions each of them asks, one after the other.
            kill_after: How many answers come before the kill.
        """

        async def converse(client: int) -> None:
            for turn in range(turns):
                try:
                    cached = await ask(client, turn)
                except Exception as error:  # noqa: BLE001 - whatever it is, it counts
                    self.errors.append(f"{type(error).__name__}: {error}")
                    continue
                self.answers += 1
                self.answers_after_the_kill += self.killed
                self.cached_tokens += cached
                if self.answers == kill_after:
                    await kill()
                    self.killed = True

        await asyncio.gather(*map(converse, range(clients)))

    def report(self, questions: int, answered: Sequence[int]) -> dict[str, Any]:
        """Return what was counted.

        Args:
            questions: How many were asked.
            answered: How many answers each server says it gave. It also counts those
                that were lost on their way.
        """
        return {
            "questions": questions,
            "answers": self.answers,
            "answers_after_the_kill": self.answers_after_the_kill,
            "errors": self.errors,
            "answered_by_server": list(answered),
            "cached_tokens": self.cached_tokens,
            "recovered": self.killed
            and self.answers == questions
            and self.answers_after_the_kill > 0,
        }


class Conversations:
    """Clients, each with what was said so far.

    Args:
        url: The router's OpenAI API.
        model: The served model's name.
    """

    def __init__(self, url: str, model: str) -> None:
        """Say nothing yet."""
        self._llm = ChatSSR(
            model=model, base_url=url, temperature=0, max_tokens=100, max_retries=6
        )
        self._said: dict[int, list[BaseMessage]] = {}

    async def ask(self, client: int, turn: int) -> int:
        """Ask a client's next question; return how much of its prompt was cached.

        Args:
            client: Its number, after which its conversation is named.
            turn: Which question it is.
        """
        said = self._said.setdefault(client, [])
        question = HumanMessage(TURNS[turn % len(TURNS)])
        body = {"session_params": {"session_id": f"conversation-{client}"}}
        answer = await self._llm.ainvoke([*said, question], extra_body=body)
        said += [question, answer]
        usage = answer.usage_metadata or {}
        return int(usage.get("input_token_details", {}).get("cache_read", 0))


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Start all, ask, kill, and report."""
    ports = [free_port() for _ in range(SERVERS)]
    port, questions = free_port(), arguments.clients * arguments.turns
    load, answered, alive = Load(), [0] * SERVERS, list(range(SERVERS))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def start(command: list[str], at: int) -> subprocess.Popen:
            return stack.enter_context(running(command, at, folder / f"log-{at}"))

        servers = [  # one after the other: starts slow each other down
            start(server_command(arguments.model, at, arguments.kv_cache_mib), at)
            for at in ports
        ]
        start(router_command(arguments.router, ports, port, free_port()), port)

        def look(number: int) -> None:
            metrics = get(f"http://127.0.0.1:{ports[number]}/metrics")
            answered[number] = count_answers(metrics)

        async def kill() -> None:
            for number in range(SERVERS):
                look(number)
            busiest = answered.index(max(answered))
            alive.remove(busiest)
            os.killpg(servers[busiest].pid, signal.SIGKILL)

        models = json.loads(get(f"http://127.0.0.1:{ports[0]}/v1/models"))
        name = str(models["data"][0]["id"])
        clients = Conversations(f"http://127.0.0.1:{port}/v1", name)
        began = time.monotonic()
        asyncio.run(
            load.run(
                clients.ask,
                kill,
                clients=arguments.clients,
                turns=arguments.turns,
                kill_after=max(1, questions // 3),
            )
        )
        seconds = time.monotonic() - began
        for number in alive:
            look(number)
    return {**load.report(questions, answered), "seconds": round(seconds, 1)}


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2", help="as `serve` takes it")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--turns", type=int, default=3, help="questions of a client")
    parser.add_argument("--kv-cache-mib", type=int, default=256, help="per server")
    parser.add_argument("--router", default="vllm-router", help="vLLM's router")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument(
        "--print-commands", action="store_true", help="print them, start nothing"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the example; 1 if a question stayed without an answer."""
    arguments = parse(argv)
    if arguments.print_commands:
        commands = [
            server_command(arguments.model, 8001 + number, arguments.kv_cache_mib)
            for number in range(SERVERS)
        ]
        commands.append(router_command(arguments.router, [8001, 8002], 8000, 29000))
        pairs = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        for command in commands:
            print(" ".join([*pairs, shlex.join(command)]))
        return 0
    if shutil.which(arguments.router) is None:
        sys.exit(f"There is no {arguments.router}: pip install vllm-router")
    told = run(arguments)
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        for name, value in told.items():
            print(f"{name.replace('_', ' ')}: {value}")
    return 0 if told["recovered"] else 1


if __name__ == "__main__":
    sys.exit(main())
