"""Hybrid models (Qwen3.5): on a CPU they decode plainly, and say so once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

TORCHVISION_STUB = Path(__file__).parent / "torchvision_stub"
ASK = """
import json, sys
from langchain_ssr import ChatSSR

settings = json.loads(sys.argv[1])
first, second = ChatSSR(**settings), ChatSSR(**settings)
answers = [
    first.invoke("hello", thinking_budget=20),
    first.invoke("hello", thinking_budget=20),
    second.invoke("hello", enable_thinking=False, prediction="hello"),
    second.invoke("hello", speculation=False),
]
print(json.dumps({
    "info": first.engine_info(),
    "said": [a.additional_kwargs.get("reasoning_content", "") for a in answers],
    "reports": [a.response_metadata["speculation"] for a in answers],
    "output_tokens": [a.usage_metadata["output_tokens"] for a in answers],
}))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random model with the layers of Qwen3.5."""
    folder = tmp_path_factory.mktemp("hybrid") / "qwen3_5"
    tokenizer = tiny_models._tokenizer(tiny_models.CHATML_TOKENS)
    small = {k: v for k, v in tiny_models.SMALL.items() if k != "num_hidden_layers"}
    config = transformers.Qwen3_5TextConfig(
        **small,
        num_hidden_layers=4,  # three recurrent ones and one with attention
        linear_key_head_dim=128,  # vLLM's CPU kernels take no other
        linear_value_head_dim=128,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        vocab_size=len(tokenizer),
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    network = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    network.generation_config.do_sample = False
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    return folder


def test_a_hybrid_model_decodes_plainly_on_a_cpu(pool: EnginePool, model: Path) -> None:
    pool.close()
    bfloat16 = {"dtype": "bfloat16"}  # nor another type
    settings = pool.settings(
        str(model), draft_budget=5, max_tokens=40, engine_kwargs=bfloat16
    )
    settings["extra_body"] = {"ignore_eos": True}
    path = os.pathsep.join([str(TORCHVISION_STUB), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(settings)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["info"]["speculation"] is False
    assert answers["info"]["reasoning_parser"] == "qwen3"
    assert answers["output_tokens"] == [40] * 4
    assert answers["said"][0] == answers["said"][1] != ""
    reports = answers["reports"]
    reasons = ["hybrid_cpu", "hybrid_cpu", "hybrid_cpu", "disabled"]
    assert [report["reason"] for report in reports] == reasons
    assert {report["mode"] for report in reports} == {"off"}
    assert {report["num_saved_steps"] for report in reports} == {0}
    assert not any(report["drafts"] for report in reports)
    assert reports[0]["num_reasoning_steps"] == 20
    lines = done.stderr.splitlines()
    warnings = [line for line in lines if "is a hybrid model" in line]
    assert len(warnings) == 1, done.stderr
    assert str(model) in warnings[0]
    assert "hybrid_cpu" in warnings[0]
