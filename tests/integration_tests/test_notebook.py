"""Notebooks: a running event loop, top-level await, and no script at all.

The shell of `python -m asyncio` has all three, as a notebook's kernel has. The tour is
run by a kernel, which has streams and a `__main__` of its own, too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import REASONING_MODEL, EnginePool
from tests.integration_tests.test_standalone import arguments
from tests.notebooks import TOUR, execute

pytestmark = pytest.mark.engine

CELLS = """
import asyncio
from langchain_ssr import ChatSSR
llm = ChatSSR({arguments}, max_tokens=5)
print("loop", asyncio.get_running_loop().is_running())
print("invoke", llm.invoke("hi").usage_metadata["output_tokens"])
print("ainvoke", (await llm.ainvoke("hi")).usage_metadata["output_tokens"])
print("stream", list(llm.stream("hi"))[-1].usage_metadata["output_tokens"])
parts = [part async for part in llm.astream("hi")]
print("astream", parts[-1].usage_metadata["output_tokens"])
print("batch", len(await llm.abatch(["hi"] * 3)))
llm.close()
print("again", (await llm.ainvoke("hi")).usage_metadata["output_tokens"])
"""


@pytest.mark.kind(23)
def test_cells_of_a_notebook(pool: EnginePool, backend: str, tmp_path: Path) -> None:
    pool.close()
    model = str(tiny_models.make(tmp_path / "qwen3", "qwen3"))
    done = subprocess.run(
        [sys.executable, "-m", "asyncio"],
        input=CELLS.format(arguments=arguments(pool, model, backend)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    told = [line.rsplit(">>> ", 1)[-1] for line in done.stdout.splitlines()]
    assert [line for line in told if line] == [
        *("loop True", "invoke 5", "ainvoke 5", "stream 5"),
        *("astream 5", "batch 3", "again 5"),
    ], done.stderr
    assert done.returncode == 0


CHECKS = """
assert stats.num_saved_steps > 0
assert callback.total.num_drafts > 0
"""


def test_the_tour(pool: EnginePool) -> None:
    pool.close()
    told = execute(TOUR, REASONING_MODEL, CHECKS)
    assert "<table" in told["stats"].value["text/html"]
    assert "draft 1 | " in told["drafts"].printed
    calls = ast.literal_eval(told["call"].value["text/plain"])
    assert [call["name"] for call in calls] == ["reserve_table"]
    assert "Reservation(city=" in told["structured"].value["text/plain"]
    assert told["plain"].value["text/plain"] == "True"
