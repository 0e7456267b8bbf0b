"""Runs the grid, one cell after the other: the requests of a shape on an engine."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY
from vllm.v1.engine.exceptions import EngineDeadError

from langchain_ssr import ChatSSR
from tests.exactness.asking import Answer, Case, Outcome, ask_all
from tests.exactness.cases import cases_for
from tests.exactness.cell import Cell
from tests.exactness.ends import how_it_ended, markers_of
from tests.exactness.engines import ADAPTER, BASE, ENGINES, MOST, PARSERS, STOCK, Engine
from tests.exactness.equality import PLAIN
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle, running

RESET_SECONDS = 0.4
"""Pause between two resets of the prefix cache."""
PROGRESS = 50
"""Answers between two lines that say how far a cell is."""


class Grid:
    """Asks a plain engine once for each distinct request, then engines with SSR.

    Args:
        pool: Starts the engines, one at a time.
        folder: Where adapters are written.
        say: Takes lines of progress.
        stock: The shapes that a stock engine answers plainly; None for all. To spare
            an engine's start, others are answered by the engine with SSR itself, with
            speculation off for the request.
    """

    def __init__(
        self,
        pool: EnginePool,
        folder: Path,
        say: Callable[[str], None],
        stock: Container[str] | None = None,
    ) -> None:
        self._pool = pool
        self._stock = stock
        self._folder = folder
        self._say = say
        self._plain: dict[tuple[str, str], Answer] = {}

    def plain(self, shape: str, case: Case) -> Answer:
        """Return what the plain engine answered."""
        return self._plain[shape, case.plain_key]

    def run(self, shape: str, name: str, limit: int | None = None) -> Cell:
        """Send the requests of a shape to one engine, and compare the answers.

        Args:
            shape: A shape of `tiny_models`, or a model's short name.
            name: One of `ENGINES`.
            limit: Most requests.
        """
        engine = ENGINES[name]
        cases = choose(shape, engine, limit)
        settings = {"num_speculative_tokens": engine.num_speculative_tokens}
        if self._stock is None or shape in self._stock:
            self._ask_plain(shape, cases)
        llm = self._model(shape, engine.engine_kwargs, lora=engine.lora, **settings)
        self._ask_without_speculation(shape, engine, llm, cases)
        cell = Cell(shape, name)
        start, preempted = time.monotonic(), _num_preempted(llm)
        answers, cell.resets = self._ask(cell.name, llm, engine, cases)
        cell.leaked = not _is_idle(llm)
        if preempted is not None:
            cell.preemptions = (_num_preempted(llm) or 0) - preempted
        cell.seconds = round(time.monotonic() - start, 1)
        markers = markers_of(shape)
        for case, answer in zip(cases, answers, strict=True):
            plain = self.plain(shape, case)
            end = how_it_ended(markers, case, plain.choices[0])
            cell.add(case, plain, answer, end=end, logprobs=engine.compares_logprobs)
            if case.adapter:
                base = self.plain(shape, dataclasses.replace(case, adapter=None))
                cell.adapted += base.choices[0].token_ids != plain.choices[0].token_ids
        return cell

    def _model(
        self, shape: str, engine_kwargs: Any, *, lora: bool, **settings: Any
    ) -> ChatSSR:
        kwargs = {**BASE, **PARSERS.get(shape, {}), **engine_kwargs}
        if lora:  # `max_loras` stays ours: requests of the model itself need its slot
            model = Path(self._pool.settings(shape)["model"])
            folder = self._folder / f"{shape}-{ADAPTER}"
            path = tiny_models.make_adapter(folder, model)
            kwargs |= {
                "enable_lora": True,
                "max_lora_rank": tiny_models.ADAPTER_RANK,
                "lora_modules": [f"{ADAPTER}={path}"],
            }
        return self._pool.model(
            shape,
            engine_kwargs=kwargs,
            enable_thinking=True,
            max_tokens=None,
            **settings,
        )

    def _ask_plain(self, shape: str, cases: Iterable[Case]) -> None:
        """Let stock engines answer what is not answered yet.

        Requests of the model itself go to one without LoRA, also those that an engine
        with LoRA gets: an adapter beside them must not change them.
        """
        new = self._unanswered(shape, cases)
        for lora in (False, True):
            own = [case for case in new if bool(case.adapter) == lora]
            if not own:
                continue
            llm = self._model(shape, PLAIN, lora=lora, speculation=False)
            # Apart, for in one batch vLLM can give a request another's budget.
            for thinks in (True, False):
                part = [c for c in own if ("thinking_budget" in c.settings) == thinks]
                answers, _ = self._ask(f"{shape}, plain", llm, STOCK, part)
                self._note(shape, part, answers)

    def _ask_without_speculation(
        self, shape: str, engine: Engine, llm: ChatSSR, cases: Iterable[Case]
    ) -> None:
        """Let the engine with SSR answer plainly what is not answered yet."""
        new = self._unanswered(shape, cases)
        if not new:
            return
        off = [
            dataclasses.replace(c, settings={**c.settings, "speculation": False})
            for c in new
        ]
        plain = dataclasses.replace(engine, resets=False)
        answers, _ = self._ask(f"{shape}, off", llm, plain, off, speculate=False)
        self._note(shape, new, answers)

    def _unanswered(self, shape: str, cases: Iterable[Case]) -> list[Case]:
        new: dict[str, Case] = {}
        for case in cases:
            for each in (case, dataclasses.replace(case, adapter=None)):
                if (shape, each.plain_key) not in self._plain:
                    new.setdefault(each.plain_key, each)
        return list(new.values())

    def _note(
        self, shape: str, cases: Sequence[Case], answers: Sequence[Outcome]
    ) -> None:
        for case, answer in zip(cases, answers, strict=True):
            assert isinstance(answer, Answer)
            self._plain[shape, case.plain_key] = answer

    def _ask(
        self,
        title: str,
        llm: ChatSSR,
        engine: Engine,
        cases: Sequence[Case],
        *,
        speculate: bool = True,
    ) -> tuple[list[Outcome], int]:
        """Return the answers, and how often the prefix cache was emptied."""
        count = 0

        def done() -> None:
            nonlocal count
            count += 1
            if count % PROGRESS == 0:
                self._say(f"{title}: {count} of {len(cases)}")

        async def ask() -> tuple[list[Outcome], int]:
            over = asyncio.Event()
            resets = asyncio.create_task(_reset(llm, over)) if engine.resets else None
            answers = await ask_all(
                llm,
                cases,
                speculate=speculate and engine is not STOCK,
                at_once=engine.at_once,
                done=done,
            )
            over.set()
            return answers, await resets if resets else 0

        self._say(f"{title}: {len(cases)} requests")
        return asyncio.run(ask())


def choose(shape: str, engine: Engine, limit: int | None = None) -> list[Case]:
    """Return the requests of a shape that an engine gets, evenly spread."""
    cases = [case for case in cases_for(shape) if engine.takes(case)][:: engine.every]
    most = min(len(cases), limit or len(cases), MOST.get(shape, len(cases)))
    chosen = [cases[i * len(cases) // most] for i in range(most)]
    if engine.lora:
        chosen[::2] = [dataclasses.replace(c, adapter=ADAPTER) for c in chosen[::2]]
    return chosen


async def _reset(llm: ChatSSR, over: asyncio.Event) -> int:
    """Empty the prefix cache and preempt all requests, again and again; count it.

    vLLM offers this for weights that change while requests run.
    """
    engine = running(llm)
    count = 0
    with contextlib.suppress(EngineDeadError):  # the requests tell
        while not over.is_set():
            reset = engine._engine.reset_prefix_cache(reset_running_requests=True)
            await asyncio.wrap_future(engine.submit(reset))
            count += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), RESET_SECONDS)
    return count


def _num_preempted(llm: ChatSSR) -> int | None:
    """Return how often vLLM has preempted a request; None if a server counts it."""
    if llm.base_url:
        return None
    samples = (sample for metric in REGISTRY.collect() for sample in metric.samples)
    name = "vllm:num_preemptions_total"
    return int(sum(sample.value for sample in samples if sample.name == name))


def _is_idle(llm: ChatSSR) -> bool:
    try:
        assert_idle(llm)
    except AssertionError:
        return False
    return True
