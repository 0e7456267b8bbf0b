"""The short form of `make soak`: random requests on one engine leave no trace."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.memory import MemoryLog
from benchmarks.soak import WANTED, Soak, answer_plainly
from benchmarks.soak_requests import KINDS, make_cases, plan
from tests.exactness.equality import PLAIN
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle

pytestmark = pytest.mark.engine

SEED, NUM = 1, 80


def test_random_requests(pool: EnginePool) -> None:
    lines: list[str] = []
    cases = make_cases(SEED, 12)
    stock = pool.model("qwen3", speculation=False, engine_kwargs=PLAIN)
    plain = asyncio.run(answer_plainly(stock, cases))
    llm = pool.model("qwen3", engine_kwargs=PLAIN)
    soak = Soak(llm, cases, plain, SEED, NUM, lines.append)
    asyncio.run(soak.run())
    report = soak.report()
    assert report["passed"], "\n".join(report["problems"])
    outcomes = report["outcomes"]
    assert sum(outcomes.values()) == NUM
    assert outcomes["different"] == 0
    assert outcomes["equal"] > NUM / 3
    assert report["drafts"] > NUM / 8
    assert report["mib"]["engine"][0] > 0
    assert len(lines) > 10
    assert_idle(llm)


def test_requests_depend_on_nothing_but_seed_and_number() -> None:
    cases = make_cases(SEED, 20)
    assert cases == make_cases(SEED, 20)
    drawn = [plan(SEED, number, cases) for number in range(300)]
    assert drawn == [plan(SEED, number, cases) for number in range(300)]
    assert {request.kind for request in drawn} == set(KINDS)
    assert drawn != [plan(SEED + 1, number, cases) for number in range(300)]


def test_growth_is_fitted_over_the_second_half() -> None:
    log = MemoryLog(
        requests=list(range(100, 1001, 100)),
        process=[100, 200, 300, 400, 500, 500, 501, 502, 503, 504],
        engine=[50.0] * 10,
    )
    slopes = log.slopes()
    assert slopes["engine"] == 0
    assert 5 < slopes["process"] < 10


def whole(num: int) -> Soak:
    """A run that had everything."""
    soak = Soak(llm=None, cases=[], plain=[], seed=SEED, num=num)
    soak.counts.update(WANTED)
    soak.num_drafts = 1
    soak.memory = MemoryLog([num], [300.0], [800.0])
    return soak


def test_growth_is_a_problem_of_long_runs() -> None:
    soak = whole(10_000)
    soak.memory = MemoryLog()
    for number in range(1, 101):
        soak.memory.requests.append(100 * number)
        soak.memory.process.append(300 + 0.05 * number)
        soak.memory.engine.append(800 + 0.2 * number)
    report = soak.report()
    assert not report["passed"]
    assert [problem.split()[1] for problem in report["problems"]] == ["engine's"]


def test_a_run_that_proves_little_is_a_problem() -> None:
    assert whole(100).report()["passed"]
    for name in WANTED:
        soak = whole(100)
        del soak.counts[name]
        assert soak.report()["problems"] == [f"no request was {name}"]
    soak = whole(100)
    soak.num_drafts = 0
    assert soak.report()["problems"] == ["nothing was drafted"]
    for engine in ([], [800.0, 0.0]):
        soak = whole(100)
        soak.memory.engine = engine
        assert soak.report()["problems"] == ["the engine's memory could not be read"]
