"""Another process with an engine of the same model is noticed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from langchain_ssr.backends import neighbours
from langchain_ssr.backends.neighbours import Presence

HOLD = """
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
os.pwrite(file, str(os.getpid()).encode(), 0)
print("holds", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def other():
    """Let another process run an engine; returns what starts it."""
    processes = []

    def start(model: str) -> subprocess.Popen:
        file = str(neighbours._file_of(model))
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", HOLD, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        processes.append(process)
        assert process.stdout.readline() == b"holds\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_one_engine_is_nothing_to_speak_of(caplog):
    Presence("m").end()
    Presence("m").end()
    assert not caplog.records


def test_another_process_is_named(other, caplog):
    process = other("m")
    Presence("m").end()
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert f"process ({process.pid})" in record.getMessage()
    assert "langchain-ssr serve" in record.getMessage()


def test_another_model_is_no_neighbour(other, caplog):
    other("m")
    Presence("n").end()
    assert not caplog.records


def test_a_process_that_was_killed_is_gone(other, caplog):
    process = other("m")
    process.kill()
    process.wait()
    Presence("m").end()
    assert not caplog.records


def test_two_engines_of_this_process_are_wanted(caplog):
    first = Presence("m")
    second = Presence("m")
    second.end()
    first.end()
    first.end()
    assert not caplog.records


def test_a_folder_is_the_same_by_every_path(tmp_path, monkeypatch):
    (tmp_path / "m").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    files = {neighbours._file_of(str(p)) for p in (tmp_path / "m", "./m", "link")}
    assert len(files) == 1
    assert neighbours._file_of("Qwen/Qwen3-4B") not in files


def test_where_nothing_can_be_written_nothing_is_said(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no" / "folder"))
    Presence("m").end()
    assert not caplog.records


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, caplog):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"langchain-ssr-{os.getuid()}").symlink_to(elsewhere)
    Presence("m").end()
    assert list(Path(elsewhere).iterdir()) == []
    assert not caplog.records
