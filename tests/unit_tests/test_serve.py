"""The command line of the server: defaults, flags, the operator, refusals."""

from __future__ import annotations

import json
import os

import pytest

from langchain_ssr import models
from langchain_ssr.backends import launch
from langchain_ssr.errors import ModelLoadError, SettingsError
from langchain_ssr.models import QWEN3, ModelSpec
from langchain_ssr.operator_settings import OperatorSettings
from langchain_ssr.serve_flags import given_arguments
from tests.unit_tests.serving import SCHEDULER, arguments, build

pytestmark = pytest.mark.usefixtures("bare_server")


# --- defaults and the user's flags ---------------------------------------------------


def test_defaults_are_those_of_the_embedded_engine():
    command = build()
    assert command.arguments[:2] == ["serve", "Qwen/Qwen3-4B"]
    made = arguments(command)
    embedded = launch.engine_arguments(
        models.resolve("Qwen3-4B"), "Qwen3-4B", {}, "cpu", 32
    )
    missing = set(embedded) - set(made)
    assert missing == {"model", "use_tqdm_on_load", "language_model_only"}
    assert set(made) <= set(embedded)
    assert made["scheduler_cls"] == SCHEDULER
    assert made["reasoning_parser"] == "qwen3"
    assert made["tool_call_parser"] == "hermes"
    assert made["enable_per_request_metrics"] is True
    assert made["kv_cache_memory_bytes"] == str(2 * launch.GIB)
    config = json.loads(made["speculative_config"])
    assert config["num_speculative_tokens"] == 32


def test_a_gpu_keeps_its_memory_and_its_environment():
    command = build(device="cuda")
    assert {"kv_cache_memory_bytes", "enforce_eager"}.isdisjoint(arguments(command))
    assert command.environment == {"VLLM_PLUGINS": "ssr"}


def test_a_hub_model_answers_to_both_names():
    assert arguments(build())["served_model_name"] == ["Qwen3-4B", "Qwen/Qwen3-4B"]
    whole = build(model="Qwen/Qwen3-4B")
    assert arguments(whole)["served_model_name"] == "Qwen/Qwen3-4B"


def test_a_folder_answers_to_the_users_name(monkeypatch, tmp_path):
    spec = ModelSpec(str(tmp_path), QWEN3, {"dtype": "float32"})
    monkeypatch.setattr(models, "resolve", lambda _: spec)
    command = build(model="demo")
    assert command.path == str(tmp_path)
    assert arguments(command)["served_model_name"] == "demo"
    assert arguments(command)["dtype"] == "float32"
    assert arguments(build("--dtype", "auto", model="demo"))["dtype"] == "auto"


def test_the_users_flags_come_last_and_as_they_are():
    flags = [
        "--port",
        "8001",
        "--max_model_len",
        "512",
        "-tp",
        "2",
        "--no-enforce-eager",
    ]
    command = build(*flags)
    assert list(command.flags[-len(flags) :]) == flags
    own = given_arguments(command.flags[: -len(flags)])
    assert {"max_model_len", "enforce_eager"}.isdisjoint(own)


@pytest.mark.parametrize(
    "flag", ["--kv-cache-memory-bytes=1000", "--gpu-memory-utilization=0.5"]
)
def test_a_cache_size_of_the_user_replaces_the_default(flag):
    made = arguments(build(flag))
    assert made.get("kv_cache_memory_bytes") in (None, "1000")


def test_names_and_parsers_of_the_user_win():
    made = arguments(
        build("--served-model-name", "mine", "--reasoning-parser", "deepseek_r1")
    )
    assert made["served_model_name"] == "mine"
    assert made["reasoning_parser"] == "deepseek_r1"


def test_a_config_file_wins_over_defaults(tmp_path):
    file = tmp_path / "server.yaml"
    file.write_text("max-model-len: 64\nport: 8001\n")
    command = build("--config", str(file))
    assert not any("max-model-len" in flag for flag in command.flags)


def test_without_engine_statistics_no_request_is_measured():
    assert (
        arguments(build("--disable-log-stats"))["enable_per_request_metrics"] is False
    )


def test_unknown_model():
    with pytest.raises(ModelLoadError, match="Did you mean"):
        build(model="Qwen3-4")


# --- operator ------------------------------------------------------------------------


def test_defaults_and_limits_reach_the_engine():
    operator = OperatorSettings.from_json(
        '{"max_drafts": 4}', '{"num_speculative_tokens": 8}'
    )
    made = arguments(build(operator=operator))
    assert json.loads(made["additional_config"]) == {
        "ssr": {"max_drafts": 4, "limits": {"num_speculative_tokens": 8}}
    }
    assert json.loads(made["speculative_config"])["num_speculative_tokens"] == 8


def test_the_engine_holds_enough_for_the_defaults():
    operator = OperatorSettings.from_json('{"num_speculative_tokens": 64}', None)
    made = arguments(build(operator=operator))
    assert json.loads(made["speculative_config"])["num_speculative_tokens"] == 64


def test_additional_config_of_the_user_is_kept():
    flags = ["--additional-config", '{"x": 1}', "--port", "1"]
    assert list(build(*flags).flags[-4:]) == flags
    operator = OperatorSettings.from_json('{"max_drafts": 4}', None)
    command = build(*flags, operator=operator)
    assert json.loads(arguments(command)["additional_config"]) == {
        "x": 1,
        "ssr": {"max_drafts": 4},
    }
    assert list(command.flags).count("--additional-config") == 1


@pytest.mark.parametrize(
    "flags",
    [
        ["--additional-config", '{"ssr": {}}'],
        ["--additional-config", "x"],
        ["--additional-config.x", "1"],
    ],
)
def test_additional_config_that_cannot_be_added_to_is_refused(flags):
    operator = OperatorSettings.from_json('{"max_drafts": 4}', None)
    with pytest.raises(SettingsError, match=r"--additional-config.*JSON object"):
        build(*flags, operator=operator)


# --- refusals ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--pipeline-parallel-size", "2"], r"--pipeline-parallel-size.*in flight"),
        (["-pp=2"], r"--pipeline-parallel-size.*in flight"),
        (["--speculative-config", "{}"], r"--speculative-config is set by SSR"),
        (["--speculative-config.method", "ngram"], r"--speculative-config is set"),
        (["--spec-method", "ngram"], r"--spec-method is set by SSR"),
        (["--scheduler-cls", "a.B"], r"--scheduler-cls is set by SSR"),
        (["--worker-cls", "a.B"], r"--worker-cls is set by SSR"),
        (["--async-scheduling"], r"--async-scheduling.*asynchronously"),
        (["-pcp", "2"], r"--prefill-context-parallel-size.*V2"),
        (["--runner", "pooling"], r"--runner.*decode"),
        (["--grpc"], r"--grpc.*settings of a request"),
        (["--model", "x"], r"langchain-ssr serve MODEL"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(flags, message):
    with pytest.raises(SettingsError, match=message):
        build(*flags)


def test_a_config_file_is_checked_too(tmp_path):
    file = tmp_path / "server.yaml"
    file.write_text("pipeline-parallel-size: 2\n")
    with pytest.raises(SettingsError, match="pipeline"):
        build("--config", str(file))


@pytest.mark.parametrize(
    "flags",
    [["-pp", "1"], ["--no-async-scheduling"], ["--runner", "generate"], ["-tp", "2"]],
)
def test_what_works_passes(flags):
    assert list(build(*flags).flags[-len(flags) :]) == flags


def test_the_rust_front_end_is_refused(monkeypatch):
    monkeypatch.setitem(os.environ, "VLLM_USE_RUST_FRONTEND", "1")
    with pytest.raises(SettingsError, match="Rust front end"):
        build()


def test_disabled_speculation_is_a_plain_server(monkeypatch):
    monkeypatch.setitem(os.environ, "SSR_DISABLE", "1")
    command = build("--speculative-config", "{}", "-pp", "2")
    assert not command.speculates
    assert "scheduler_cls" not in arguments(command)
