"""What cannot start says why, before an engine's process is started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends import vllm_api
from langchain_ssr.backends.embedded import REGISTRY
from langchain_ssr.errors import EngineStartError, ModelLoadError, SettingsError
from tests.integration_tests import tiny_models

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.make(tmp_path_factory.mktemp("faults") / "qwen3", "qwen3")


@pytest.fixture
def model(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a model to be damaged; its engine is configured and never started."""

    def build(api: Any, args: Any) -> None:
        api.arguments.engine_args(args).create_engine_config(api._context)
        pytest.fail("an engine would start")

    monkeypatch.setattr(vllm_api.VllmApi, "build", build)
    return Path(shutil.copytree(whole, tmp_path / "model"))


def refused(model: Path, error: type[Exception], *words: str, **settings: Any) -> None:
    before = set(REGISTRY._entries)
    with pytest.raises(error) as caught:
        ChatSSR(model=str(model), **settings).invoke("hi")
    for word in words:
        assert word in str(caught.value)
    assert set(REGISTRY._entries) <= before


def change(model: Path, **fields: Any) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **fields}))


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"],
)
def test_truncated_file(model: Path, name: str) -> None:
    data = (model / name).read_bytes()
    (model / name).write_bytes(data[: len(data) // 2])
    began = time.monotonic()
    refused(model, ModelLoadError, str(model / name), "Download the model again")
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_missing_file(model: Path, name: str) -> None:
    (model / name).unlink()
    refused(model, ModelLoadError, str(model), name.removeprefix("model"))


def test_tokenizer_that_is_json_and_no_tokenizer(model: Path) -> None:
    (model / "tokenizer.json").write_text('{"a": 1}')
    refused(model, ModelLoadError, str(model), "damaged", "download")


@pytest.mark.parametrize(
    ("field", "value"),
    [("model_type", "nonsense"), ("architectures", ["NoSuchModel"])],
)
def test_model_that_vllm_does_not_know(model: Path, field: str, value: Any) -> None:
    change(model, **{field: value})
    refused(model, ModelLoadError, "vLLM does not know", str(model))


def test_configuration_with_a_wrong_value(model: Path) -> None:
    change(model, num_attention_heads="x")
    refused(model, EngineStartError, "num_attention_heads", "expected int")


def test_reasoning_parser_that_does_not_exist(model: Path) -> None:
    words = ("engine_kwargs: Reasoning parser 'nope' not found", "deepseek_r1")
    kwargs = {"reasoning_parser": "nope"}
    refused(model, SettingsError, *words, engine_kwargs=kwargs)


ASK_THE_HUB = """
import time
from langchain_ssr import ChatSSR
from langchain_ssr.errors import ModelLoadError
began = time.monotonic()
try:
    ChatSSR(model="Qwen/Qwen3-0.6B").invoke("hi")
except ModelLoadError as error:
    print(error)
    print(time.monotonic() - began)
"""


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "cannot be reached"),
    ],
    ids=["offline", "no network"],
)
def test_hub_that_cannot_be_asked(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK_THE_HUB],
        env={**os.environ, "HF_HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    message, seconds = done.stdout.splitlines()
    assert "'Qwen/Qwen3-0.6B'" in message
    assert words in message
    assert "folder" in message
    assert float(seconds) < 30
    assert "Traceback" not in done.stderr
