"""vLLM's own `LLM.generate` with SSR's scheduler: settings come in `extra_args`.

Nobody checks them there. Whatever they are, no answer changes and nothing is raised.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ssr.backends.launch import device_environment, speculation_arguments
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_fuzz_scheduler import AS_TEXT, is_taken
from tests.unit_tests.fuzzing import RAW_SSR

pytestmark = pytest.mark.engine

SERVE = """
import json, sys
from vllm import LLM, SamplingParams

def main():
    llm = LLM(**json.loads(sys.argv[1]))
    for line in sys.stdin:
        prompts, params = [], []
        for request in json.loads(line):
            prompts.append({"prompt_token_ids": request["prompt"]})
            params.append(SamplingParams(
                temperature=0, max_tokens=60, thinking_token_budget=20,
                extra_args={"ssr": request["ssr"]},
            ))
        outputs = llm.generate(prompts, params, use_tqdm=False)
        steps = [o.outputs[0] for o in outputs]
        print("answers", json.dumps([o.token_ids for o in steps]), flush=True)

main()
"""
ENGINE: dict[str, Any] = {
    "dtype": "float32",
    "enforce_eager": True,
    "block_size": 32,
    "max_model_len": 1024,
    "kv_cache_memory_bytes": 64 << 20,
    "reasoning_parser": "qwen3",
    "disable_log_stats": True,
    **speculation_arguments(8),
}
PLAIN = json.dumps({"speculation": False})
PROMPTS = [[70, 71, 72, 2], [75, 76, 75, 76, 75, 2], list(range(70, 90))]


class Offline:
    """A program that calls `LLM.generate` on what is written to it."""

    def __init__(self, model: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, json.dumps({**ENGINE, "model": str(model)})],
            env={**device_environment("cpu"), "VLLM_LOGGING_LEVEL": "ERROR"}
            | dict(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, settings: list[Any]) -> list[list[int]]:
        """Answer each prompt under each of the settings, all at once."""
        requests = [
            {"prompt": prompt, "ssr": each} for each in settings for prompt in PROMPTS
        ]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(requests) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answers "):
                answers: list[list[int]] = json.loads(line.removeprefix("answers "))
                return answers
        raise AssertionError("the engine has ended")


@pytest.fixture(scope="module")
def offline(
    pool: EnginePool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Offline]:
    pool.close()
    model = tiny_models.make(tmp_path_factory.mktemp("offline") / "qwen3", "qwen3")
    program = Offline(model)
    yield program
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert program.process.wait(60) == 0


@pytest.fixture(scope="module")
def plain(offline: Offline) -> list[list[int]]:
    answers = offline.ask([PLAIN])
    assert all(len(answer) == 60 for answer in answers)
    return answers


@given(raw=st.lists(AS_TEXT | RAW_SSR.filter(is_taken), min_size=1, max_size=4))
@settings(
    max_examples=int(os.environ.get("SSR_EXAMPLES", "25")),
    deadline=None,
    database=None,
)
def test_any_settings(offline: Offline, plain: list[list[int]], raw: list[Any]) -> None:
    assert offline.ask(raw) == plain * len(raw)


def test_drafts(offline: Offline, plain: list[list[int]]) -> None:
    often = json.dumps({"draft_budget": [4, 8], "iterative": True})
    assert offline.ask([often] * 2) == plain * 2
