"""Modules that are in no package: scripts and examples."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load(path: Path) -> ModuleType:
    """Import a file anew, under a name of its own.

    As when it is run, it finds the other files of its folder.
    """
    name = f"{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks annotations up there
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def load_script(name: str) -> ModuleType:
    """Import a file of scripts/."""
    return load(ROOT / "scripts" / f"{name}.py")


def load_example(name: str) -> ModuleType:
    """Import a file of examples/."""
    return load(ROOT / "examples" / f"{name}.py")
