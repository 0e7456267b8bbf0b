"""Speculation never changes an answer: float32, greedy, under the tie rule.

The short form of `python -m tests.exactness`. Every request is answered plainly, once,
and then by SSR. What must be 0 is `different`. The plain engine of one shape is vLLM's
own; for the others, to spare their starts, it is the engine with SSR itself, with
speculation off for the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exactness.cases import cases_for
from tests.exactness.cell import Cell
from tests.exactness.grid import Grid
from tests.exactness.report import gaps, summary
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

ALL_PAIRS = len(cases_for("qwen3")) // 2
"""As many requests hold every pair of settings."""


@pytest.fixture(scope="module")
def grid(pool: EnginePool, tmp_path_factory: pytest.TempPathFactory) -> Grid:
    folder: Path = tmp_path_factory.mktemp("adapters")
    return Grid(pool, folder, say=lambda _: None, stock={"qwen3"})


@pytest.fixture(scope="module")
def cells() -> Iterator[list[Cell]]:
    done: list[Cell] = []
    yield done
    print("\nequality:", json.dumps(summary(done)))  # noqa: T201


@pytest.mark.parametrize(
    ("shape", "engine", "limit"),
    [
        ("qwen3", "roomy", ALL_PAIRS),
        ("qwen3", "one at a time", 12),
        pytest.param(
            *("qwen3", "resets", ALL_PAIRS // 2),
            marks=pytest.mark.embedded,  # a server empties no cache on request
        ),
        ("qwen3", "few blocks, no prefix cache", ALL_PAIRS),
        ("qwen3", "few blocks, no prefix cache, alone", ALL_PAIRS),
        ("gemma4", "few blocks, tiny chunks", ALL_PAIRS // 2),
        ("llama", "roomy", ALL_PAIRS // 3),
        ("smollm2", "roomy", 16),
    ],
)
@pytest.mark.kind(18)
def test_equal_to_the_stock_engine(
    grid: Grid, cells: list[Cell], shape: str, engine: str, limit: int
) -> None:
    cell = grid.run(shape, engine, limit)
    cells.append(cell)
    assert not cell.different, "\n".join(cell.different_cases[:5])
    assert cell.equal > 0.9 * cell.requests
    assert not gaps(cell, whole=limit == ALL_PAIRS)
