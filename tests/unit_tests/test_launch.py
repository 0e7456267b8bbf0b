"""How the engine is started: version gate, arguments, environment."""

from __future__ import annotations

import importlib.metadata
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.backends import launch
from langchain_ssr.backends.launch import (
    GIB,
    default_kv_cache_bytes,
    engine_arguments,
    installed_vllm,
    launch_environment,
    to_flags,
)
from langchain_ssr.errors import EngineNotInstalledError, SettingsError
from langchain_ssr.models import PLAIN, QWEN3, ModelSpec

SPEC = ModelSpec("/models/x", QWEN3)

# --- flags ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ({}, []),
        ({"enforce_eager": True}, ["--enforce-eager"]),
        ({"enforce_eager": False}, ["--no-enforce-eager"]),
        ({"max_model_len": -1}, ["--max-model-len=-1"]),
        ({"gpu_memory_utilization": 0.5}, ["--gpu-memory-utilization=0.5"]),
        ({"model": "a b"}, ["--model=a b"]),
        ({"model": ""}, ["--model="]),
        ({"middleware": ["a", 1]}, ["--middleware", "a", "1"]),
        ({"middleware": ("a",)}, ["--middleware", "a"]),
        (
            {"speculative_config": {"method": "custom", "n": [1, None]}},
            ["--speculative-config", '{"method": "custom", "n": [1, null]}'],
        ),
        ({"seed": 0, "dtype": "auto"}, ["--seed=0", "--dtype=auto"]),
    ],
)
def test_flags(arguments, flags):
    assert to_flags(arguments) == flags


# --- arguments -----------------------------------------------------------------------


@pytest.fixture
def memory(monkeypatch):
    monkeypatch.setattr(launch, "memory_bytes", lambda: 20 * GIB)


@pytest.mark.usefixtures("memory")
def test_arguments_on_a_cpu():
    assert engine_arguments(SPEC, "x", {}, "cpu") == {
        "model": "/models/x",
        "served_model_name": "x",
        "enable_prompt_tokens_details": True,
        "enable_per_request_metrics": True,
        "use_tqdm_on_load": False,
        "max_model_len": -1,
        "language_model_only": True,
        "reasoning_parser": "qwen3",
        "tool_call_parser": "hermes",
        "enable_auto_tool_choice": True,
        "enforce_eager": True,
        "block_size": 32,
        "kv_cache_memory_bytes": 2 * GIB,
    }


@pytest.mark.usefixtures("memory")
def test_arguments_on_a_gpu_leave_memory_and_compilation_to_vllm():
    cpu = engine_arguments(SPEC, "x", {}, "cpu")
    for name in ("enforce_eager", "block_size", "kv_cache_memory_bytes"):
        del cpu[name]
    assert engine_arguments(SPEC, "x", {}, "cuda") == cpu


def test_plain_model_gets_no_parsers():
    arguments = engine_arguments(ModelSpec("/x", PLAIN), "x", {}, "cuda")
    names = {"reasoning_parser", "tool_call_parser", "enable_auto_tool_choice"}
    assert names.isdisjoint(arguments)


def test_variable_of_vllm_replaces_the_default_cache(monkeypatch):
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    assert "kv_cache_memory_bytes" not in engine_arguments(SPEC, "x", {}, "cpu")


def test_arguments_of_the_user_win():
    user = {"max_model_len": 512, "enforce_eager": False, "seed": 1}
    arguments = engine_arguments(SPEC, "x", user, "cpu")
    assert {name: arguments[name] for name in user} == user


def test_none_of_the_user_takes_a_default_out():
    arguments = engine_arguments(SPEC, "x", {"reasoning_parser": None}, "cpu")
    assert "reasoning_parser" not in arguments


@pytest.mark.parametrize("name", ["model", "served_model_name"])
def test_model_is_refused_in_engine_kwargs(name):
    with pytest.raises(SettingsError, match=f"engine_kwargs: '{name}'.*model="):
        engine_arguments(SPEC, "x", {name: "y"}, "cpu")


@pytest.mark.parametrize("name", ["scheduler_cls", "worker_cls", "speculative_config"])
def test_what_ssr_sets_is_refused_unless_it_is_off(name):
    with pytest.raises(SettingsError, match=f"'{name}'.*speculation=False"):
        engine_arguments(SPEC, "x", {name: "y"}, "cpu", 32)
    assert engine_arguments(SPEC, "x", {name: "y"}, "cpu")[name] == "y"


@pytest.mark.parametrize(
    ("memory", "cache"),
    [(0, GIB // 2), (5 * GIB, GIB // 2), (20 * GIB, 2 * GIB), (400 * GIB, 4 * GIB)],
)
def test_default_cache(memory, cache):
    assert default_kv_cache_bytes(memory) == cache


@given(st.integers(0, 1 << 50))
def test_default_cache_stays_within_its_limits(memory):
    low, high = launch.KV_CACHE_LIMITS
    assert low <= default_kv_cache_bytes(memory) <= high


def test_memory_of_this_machine_is_believable():
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert GIB // 8 < launch.memory_bytes() <= pages


# --- version gate --------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch):
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name in versions:
            return versions[name]
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    return versions


@pytest.mark.parametrize(
    ("packages", "version", "device"),
    [
        ({"vllm": "0.32.1"}, "0.32.1", "cuda"),
        ({"vllm": "0.32.0+cpu"}, "0.32.0+cpu", "cpu"),
        ({"vllm-cpu": "0.32.0"}, "0.32.0", "cpu"),
        ({"vllm": "0.32.0", "vllm-cpu": "0.32.0"}, "0.32.0", "cpu"),
    ],
)
def test_vllm_is_found(installed, packages, version, device):
    installed.update(packages)
    assert installed_vllm() == launch.VLLM(version, device)


def test_missing_vllm_names_the_command(installed):
    with pytest.raises(EngineNotInstalledError, match=r"pip install.*\[vllm\]"):
        installed_vllm()


@pytest.mark.parametrize("version", ["0.31.9", "0.33.0", "0.320.0", "1.32.0", "0.3"])
def test_another_minor_version_is_refused_by_name(installed, version):
    installed["vllm"] = version
    with pytest.raises(EngineNotInstalledError, match=f"0.32, but vllm {version}"):
        installed_vllm()


def test_another_minor_version_can_be_tried(installed, monkeypatch, caplog):
    monkeypatch.setenv("SSR_ANY_VLLM", "1")
    installed["vllm-cpu"] = "0.31.0"
    assert installed_vllm() == launch.VLLM("0.31.0", "cpu")
    assert "not written for vLLM 0.31.0" in caplog.text


# --- environment ---------------------------------------------------------------------


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in launch._environment("cpu"):
        monkeypatch.delenv(name, raising=False)


def test_environment_is_set_inside_and_restored_after():
    before, main = dict(os.environ), sys.modules["__main__"]
    attributes = dict(vars(main))
    with launch_environment("cpu"):
        assert os.environ["VLLM_LOGGING_LEVEL"] == "ERROR"
        assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
        assert not hasattr(main, "__file__")
        assert main.__spec__ is None
    assert dict(os.environ) == before
    assert vars(main) == attributes


def test_environment_is_restored_after_an_error():
    before, attributes = dict(os.environ), dict(vars(sys.modules["__main__"]))
    with pytest.raises(KeyError), launch_environment("cpu"):
        raise KeyError
    assert dict(os.environ) == before
    assert vars(sys.modules["__main__"]) == attributes


def test_variables_of_the_user_stay(monkeypatch):
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    with launch_environment("cpu"):
        assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"


def test_gpu_keeps_the_worker_in_a_process_of_its_own():
    with launch_environment("cuda"):
        assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in os.environ
        assert "LD_PRELOAD" not in os.environ
