"""The figures of a folder."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_ssr.bench.provenance import (
    command_line,
    cpu_model,
    num_cores,
    versions,
)
from langchain_ssr.bench.store import Store
from langchain_ssr.bench.summary import summarize

SCHEMA = 1
"""Version of the figures' form."""
_OF_ENGINE = ("vllm_version", "device", "dtype")


def figures_of(store: Store, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return all figures of a run, as JSON data.

    Args:
        store: The run's folder.
        command: The command that made it, as `sys.argv`.
    """
    engines, settings = store.engines, store.settings
    peers = [n for n, mode in settings["modes"].items() if mode["speculative_config"]]
    return {
        "schema_version": SCHEMA,
        "date": store.date,
        "command": command_line(command) if command else None,
        "versions": versions(),
        "settings": settings,
        "machine": machine_of(engines),
        "engines": engines,
        **summarize(store.records, peers),
    }


def machine_of(engines: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Say where it was measured, as far as tables should show it.

    Args:
        engines: What engines say of themselves, by mode.
    """
    first = next(iter(engines.values()), {})
    return {
        **{name: first[name] for name in _OF_ENGINE if first.get(name)},
        "gpu": first.get("gpu"),
        "architecture": platform.machine(),
        "cpu": cpu_model(),
        "cores": num_cores(),
    }
