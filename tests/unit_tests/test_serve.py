"""The command line of the server: defaults, the user's flags, refusals, plain line."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shlex
import sys
from types import SimpleNamespace

import pytest

from langchain_ssr import models
from langchain_ssr import serve as server
from langchain_ssr.backends import launch
from langchain_ssr.engine import server_command
from langchain_ssr.errors import EngineStartError, ModelLoadError, SettingsError
from langchain_ssr.models import QWEN3, ModelSpec
from langchain_ssr.operator_settings import OperatorSettings
from langchain_ssr.serve_flags import given_arguments

NOTHING = OperatorSettings.read({})
SCHEDULER = "langchain_ssr.engine.scheduler.SSRScheduler"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in [*launch._environment("cpu"), "VLLM_PLUGINS", "SSR_DISABLE"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch, "memory_bytes", lambda: 20 * launch.GIB)
    monkeypatch.setattr(os, "environ", dict(os.environ))


@pytest.fixture(autouse=True)
def plugins(monkeypatch):
    found: dict[str, list[str]] = {}

    def entry_points(group: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in found.get(group, [])]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return found


def build(*flags, model="Qwen3-4B", device="cpu", operator=NOTHING, **options):
    return server.build(model, flags, operator, device, **options)


def arguments(command):
    return given_arguments(command.flags)


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


# --- hybrid models -------------------------------------------------------------------


def test_a_hybrid_model_decodes_plainly_on_a_cpu():
    command = build(model="Qwen3.5-4B", hybrid=True)
    made = arguments(command)
    assert made["scheduler_cls"] == SCHEDULER
    assert "speculative_config" not in made


def test_a_hybrid_model_proposes_few_tokens_on_a_gpu():
    made = arguments(build(model="Qwen3.5-4B", device="cuda", hybrid=True))
    assert json.loads(made["speculative_config"])["num_speculative_tokens"] == 16
    assert made["enable_prefix_caching"] is True


def test_a_hybrid_model_needs_the_prefix_cache():
    with pytest.raises(SettingsError, match="prefix"):
        build("--no-enable-prefix-caching", device="cuda", hybrid=True)


@pytest.mark.parametrize("hybrid", [True, False])
def test_the_model_is_asked_whether_it_is_hybrid(monkeypatch, hybrid):
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    seen = []

    def is_hybrid(command):
        seen.append(command.path)
        return hybrid

    command = server.command_for("Qwen3-4B", [], NOTHING, is_hybrid)
    assert seen == ["Qwen/Qwen3-4B"]
    assert ("speculative_config" in arguments(command)) is not hybrid


def raising(error):
    def read_hybrid(_):
        raise error

    return read_hybrid


@pytest.mark.parametrize(
    ("model", "hybrid"), [("Qwen3-4B", False), ("Qwen3.5-4B", True)]
)
def test_the_name_decides_where_the_model_cannot_be_read(
    monkeypatch, caplog, model, hybrid
):
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    monkeypatch.setattr(server, "read_hybrid", raising(ModelLoadError("no hub")))
    command = server.plain_command(model, [], NOTHING)
    assert ("speculative_config" in arguments(command)) is not hybrid
    assert "no hub" in caplog.text


@pytest.mark.parametrize("error", [SettingsError("--prot"), EngineStartError("no")])
def test_other_errors_are_no_line(monkeypatch, error):
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    monkeypatch.setattr(server, "read_hybrid", raising(error))
    with pytest.raises(type(error)):
        server.plain_command("Qwen3-4B", ["--prot", "1"], NOTHING)


# --- environment, and the plain line -------------------------------------------------


def test_plugins_that_load_anyway_still_load(plugins):
    plugins["vllm.general_plugins"] = ["lora", "other"]
    plugins["vllm.platform_plugins"] = ["npu"]
    plugins["vllm.endpoint_plugins"] = ["foreign", "ssr"]
    assert server.allowed_plugins() == "lora,npu,other,ssr"


@pytest.mark.parametrize(
    ("given", "value"),
    [("", "ssr"), ("a", "a,ssr"), ("a,ssr", "a,ssr"), ("ssr", "ssr")],
)
def test_allowed_plugins_of_the_user_are_kept(monkeypatch, plugins, given, value):
    plugins["vllm.general_plugins"] = ["lora"]
    monkeypatch.setitem(os.environ, "VLLM_PLUGINS", given)
    assert server.allowed_plugins() == value


def test_variables_of_the_user_stay(monkeypatch):
    assert build().environment["TORCH_COMPILE_DISABLE"] == "1"
    monkeypatch.setitem(os.environ, "TORCH_COMPILE_DISABLE", "0")
    assert "TORCH_COMPILE_DISABLE" not in build().environment


def test_who_wants_to_compile_may():
    assert "TORCH_COMPILE_DISABLE" not in build("--no-enforce-eager").environment


@pytest.mark.parametrize("has_command", [True, False])
def test_the_plain_line_is_the_command(monkeypatch, has_command):
    monkeypatch.setattr(server, "_vllm_command_works", lambda: has_command)
    flags = ["--chat-template", "/my 'own' $template.jinja", "--api-key", "a b"]
    operator = OperatorSettings.from_json('{"draft_budget": [1, 2]}', None)
    command = build(*flags, operator=operator)
    words = shlex.split(str(command))
    assignments = [f"{k}={v}" for k, v in command.environment.items()]
    module = ["python", "-m", server.SERVER_MODULE, "--model", command.path]
    start = ["vllm", "serve", command.path] if has_command else module
    assert words == [*assignments, *start, *command.flags]
    assert words[0] == "VLLM_PLUGINS=ssr"
    assert words[-4:] == flags


def test_vllms_own_command_runs_in_this_process(monkeypatch):
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    monkeypatch.setattr(server, "read_hybrid", lambda _: False)
    monkeypatch.setattr(sys, "argv", ["langchain-ssr"])
    seen = {}

    def run(arguments):
        seen.update(
            arguments=arguments, argv=list(sys.argv), plugins=os.environ["VLLM_PLUGINS"]
        )
        raise KeyboardInterrupt

    monkeypatch.setattr(server_command, "run", run)
    with pytest.raises(SystemExit) as caught:
        server.serve("Qwen3-4B", ["--port", "8001"], NOTHING)
    assert caught.value.code == 130
    assert seen["arguments"] == build("--port", "8001").arguments
    assert seen["argv"] == ["vllm", *seen["arguments"]]
    assert seen["plugins"] == "ssr"
    assert os.environ["LANGCHAIN_SSR_OWNER"] == str(os.getpid())
