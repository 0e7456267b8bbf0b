"""Ctrl-C while the engine answers ends the request, not the engine or the program."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_faults import (
    SECONDS,
    assert_no_process_left,
    run_script,
    wait_for_line,
)

pytestmark = pytest.mark.engine

ASKING = """
import asyncio
import signal
from langchain_ssr import ChatSSR
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
sizes = {{"max_model_len": 2048, "kv_cache_memory_bytes": 64 << 20}}
llm = ChatSSR(model={model!r}, max_tokens=5, engine_kwargs=sizes).warmup()
long = {{"max_tokens": 1900, "draft_budget": 8, "num_speculative_tokens": 1}}
long["extra_body"] = {{"ignore_eos": True}}

async def read():
    async for part in llm.astream("hi", **long):
        pass

ways = {{
    "invoke": lambda: llm.invoke("hi", **long),
    "stream": lambda: list(llm.stream("hi", **long)),
    "ainvoke": lambda: asyncio.run(llm.ainvoke("hi", **long)),
    "astream": lambda: asyncio.run(read()),
    "batch": lambda: llm.batch(["hi"] * 3, **long),
}}
interrupted = []
for name, way in ways.items():
    print("asking", flush=True)
    try:
        way()
    except KeyboardInterrupt:
        interrupted.append(name)
print(*interrupted)
print(llm.invoke("hi").usage_metadata["output_tokens"], flush=True)
engine = llm._embedded.running()
print(engine.num_unfinished_requests())
print(engine.submit(engine.reset_prefix_cache()).result(9))
"""


def test_ctrl_c_in_a_call(pool: EnginePool, tmp_path: Path) -> None:
    pool.close()
    model = tiny_models.make(tmp_path / "qwen3", "qwen3")
    process = run_script(ASKING.format(model=str(model)))
    for _ in range(5):
        wait_for_line(process, "asking")
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=2 * SECONDS)
    assert process.returncode == 0, err
    names = "invoke stream ainvoke astream batch"
    assert out.splitlines() == [names, "5", "0", "True"]
    assert "Traceback" not in err
    assert_no_process_left(process, 10)
