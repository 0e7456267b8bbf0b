"""Serve many random requests on one engine; nothing may break, leak or differ.

Requests of random lengths, some at a time, on a tiny random model in float32. Some are
cancelled, some streams are left, some requests are malformed. Greedy answers must be
those of a stock engine, which is asked first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.exceptions import ModelError

from benchmarks.common import BenchmarkError, positive, write_json
from benchmarks.memory import MemoryLog
from benchmarks.soak_requests import MAX_MODEL_LEN, Planned, make_cases, plan
from langchain_ssr import ChatSSR
from langchain_ssr.errors import EngineDiedError, EngineStartError, ServerError
from tests.exactness.asking import Answer, Case, ask
from tests.exactness.equality import PLAIN, check_statistics, compare, describe
from tests.integration_tests import tiny_models

_DEFINITIONS = """\
The exit code is 1 if an answer is different, an error is unexpected, the engine does
not come to rest with all its cache blocks free, or memory grows too fast: by 1 MiB or
more per 1,000 requests, fitted over the second half. Growth is judged from 2,000
requests on; before that the caches of vLLM and of the allocators still fill. It is 1,
too, if the run proves little: nothing was drafted, a kind of request did not occur, or
the engine's memory could not be read.
"""
ENGINE: dict[str, Any] = {
    **PLAIN,
    "dtype": "float32",
    "max_model_len": MAX_MODEL_LEN,
    "max_num_seqs": 12,
    "num_gpu_blocks_override": 128,  # so short that requests and drafts compete
    "kv_cache_memory_bytes": 64 << 20,
}
AT_ONCE = 9
"""Requests under way; the engine has seats for some drafts, not for one each."""
MOST_MIB = 1.0
JUDGED = 2_000
"""Requests from which on the growth of memory is judged."""
POINTS = 100
"""How often memory is looked at."""
LINES = 40
"""How many lines tell the progress."""
REST_SECONDS = 30.0
ANSWER_SECONDS = 120.0
"""Longest wait for an answer: beyond it, the request hangs."""
WANTED = ("equal", "streamed", "sampled", "cancelled", "left", "refused")
"""Outcomes that a run must have; one for each kind of request."""
_BROKEN = (EngineDiedError, EngineStartError, ServerError)


async def answer_plainly(llm: ChatSSR, cases: Sequence[Case]) -> list[Answer]:
    """Ask a stock engine for the answers that others are compared with.

    Args:
        llm: A chat model with `speculation=False`.
        cases: The requests.

    Raises:
        ModelError: If it does not answer one.
    """
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> Answer:
        async with gate:
            return await ask(llm, case, speculate=False)

    return await asyncio.gather(*map(one, cases))


@dataclass
class Soak:
    """One run.

    Attributes:
        llm: The chat model; it speculates.
        cases: What is asked for.
        plain: A stock engine's answers to the cases.
        seed: Of all random choices.
        num: How many requests are sent.
        say: Prints a line.
        counts: What became of the requests; those that are compared are equal, a tie
            or different.
        problems: What must not happen, with the number of the request.
        memory: How much memory is used.
    """

    llm: ChatSSR
    cases: Sequence[Case]
    plain: Sequence[Answer]
    seed: int
    num: int
    say: Callable[[str], None] = print
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    memory: MemoryLog = field(default_factory=MemoryLog)
    num_drafts: int = 0
    seconds: float = 0.0

    async def run(self) -> None:
        """Send all requests, some at a time, and wait until the engine rests."""
        start = time.monotonic()
        numbers = iter(range(self.num))
        await asyncio.gather(*(self._work(numbers, start) for _ in range(AT_ONCE)))
        if not await self._rests():
            self.problems.append("the engine does not come to rest")
        self.seconds = time.monotonic() - start

    async def _work(self, numbers: Iterator[int], start: float) -> None:
        for number in numbers:
            planned = plan(self.seed, number, self.cases)
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    outcome = await self._send(planned)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                outcome = "failed"
                name = type(error).__name__
                self.problems.append(f"request {number}, {planned}: {name}: {error}")
            self.counts[outcome] += 1
            self._tell(start)
            if any("EngineDiedError" in problem for problem in self.problems):
                return

    def _tell(self, start: float) -> None:
        done = self.counts.total()
        if done % max(1, self.num // POINTS) == 0:
            self.memory.note(done)
        if done % max(1, self.num // LINES) == 0:
            process, engine = self.memory.process[-1], self.memory.engine[-1]
            self.say(
                f"{done}/{self.num} in {time.monotonic() - start:.0f} s, "
                f"{process:.0f} + {engine:.0f} MiB, {json.dumps(self.counts)}"
            )

    async def _send(self, planned: Planned) -> str:
        """Do what is planned with a request; return what became of it."""
        match planned.kind:
            case "compared":
                return await self._compare(planned)
            case "cancelled":
                return await self._cancel(planned)
            case "malformed":
                return await self._refuse(planned)
            case "sampled":
                await self.llm.ainvoke(planned.case.prompt, **planned.call)
            case "streamed" | "left":
                await self._stream(planned)
        return planned.kind

    async def _compare(self, planned: Planned) -> str:
        case, plain = planned.case, self.plain[planned.index]
        answer = await ask(self.llm, case, speculate=True)
        check_statistics(answer)
        self.num_drafts += len(answer.speculation["drafts"])
        outcome = compare(plain, answer)
        if outcome == "different":
            self.problems.append(describe(case, plain, answer))
        return outcome

    async def _cancel(self, planned: Planned) -> str:
        asked = asyncio.create_task(ask(self.llm, planned.case, speculate=True))
        await asyncio.wait([asked], timeout=planned.seconds)
        if asked.cancel():
            await asyncio.wait([asked])
            return "cancelled"
        await asked
        return "too fast to cancel"

    async def _refuse(self, planned: Planned) -> str:
        try:
            await self.llm.ainvoke(planned.case.prompt, **planned.call)
        except _BROKEN:
            raise
        except ModelError:
            return "refused"
        raise AssertionError("a malformed request was answered")

    async def _stream(self, planned: Planned) -> None:
        call = planned.call | {"n": 1}  # a stream is of one answer
        async with aclosing(self.llm.astream(planned.case.prompt, **call)) as stream:
            chunks = 0
            async for _ in stream:
                chunks += 1
                if planned.kind == "left" and chunks > planned.chunks:
                    return

    async def _rests(self) -> bool:
        """Whether no request is left and all cache blocks are free, after a while."""
        engine = self.llm._embedded.running()  # noqa: SLF001 - no other way to see
        deadline = time.monotonic() + REST_SECONDS
        while engine is not None and time.monotonic() < deadline:
            free = engine.submit(engine.reset_prefix_cache())
            if await asyncio.wrap_future(free) and not engine.num_unfinished_requests():
                return True
            await asyncio.sleep(0.1)
        return False

    def _gaps(self) -> list[str]:
        """Say what the run does not show."""
        gaps = [f"no request was {name}" for name in WANTED if not self.counts[name]]
        if not self.num_drafts:
            gaps.append("nothing was drafted")
        if min(self.memory.engine, default=0) <= 0:
            gaps.append("the engine's memory could not be read")
        return gaps

    def report(self) -> dict[str, Any]:
        """Return what was counted, and whether all of it is as it must be."""
        problems = [*self.problems, *self._gaps()]
        slopes: dict[str, float] = {}
        if self.num >= JUDGED and self.memory.requests:
            slopes = self.memory.slopes()
            problems += [
                f"the {name}'s memory grows by {slope:.2f} MiB per 1,000 requests"
                for name, slope in slopes.items()
                if slope >= MOST_MIB
            ]
        return {
            "requests": self.num,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "outcomes": {"different": 0, **dict(sorted(self.counts.items()))},
            "drafts": self.num_drafts,
            "mib_per_1000_requests": slopes or None,
            "mib": {
                name: [round(each[0], 1), round(each[-1], 1)]
                for name, each in vars(self.memory).items()
                if each and name != "requests"
            },
            "problems": problems,
            "passed": not problems,
        }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the soak test; 1 when it finds a problem, 2 when it cannot run."""
    args = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        model = str(tiny_models.make(Path(folder) / "qwen3", "qwen3"))
        cases = make_cases(args.seed, max(12, min(200, args.num // 25)))
        try:
            with ChatSSR(model=model, speculation=False, engine_kwargs=ENGINE) as stock:
                plain = asyncio.run(answer_plainly(stock.warmup(), cases))
            _say(f"{len(plain)} plain answers of a stock engine")
            with ChatSSR(model=model, engine_kwargs=ENGINE) as llm:
                soak = Soak(llm.warmup(), cases, plain, args.seed, args.num, _say)
                asyncio.run(soak.run())
            report = soak.report()
            if args.json:
                write_json(args.json, report)
        except (BenchmarkError, ModelError) as error:
            print(f"soak: {error}", file=sys.stderr)
            return 2
    for problem in report["problems"][:10]:
        _say(problem)
    print(json.dumps({**report, "problems": len(report["problems"])}))
    return 0 if report["passed"] else 1


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--num", type=positive, default=10_000, help="requests")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write a report")
    return parser


if __name__ == "__main__":
    sys.exit(main())
