"""Servers of hybrid models: what they do otherwise, and how it is known."""

from __future__ import annotations

import json

import pytest

from langchain_ssr import serve as server
from langchain_ssr.backends import launch
from langchain_ssr.errors import EngineStartError, ModelLoadError, SettingsError
from tests.unit_tests.serving import NOTHING, SCHEDULER, arguments, build

pytestmark = pytest.mark.usefixtures("bare_server")


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
