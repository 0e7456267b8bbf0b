"""The figures of a folder, and what is wrong with them."""

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
    engines = store.engines
    return {
        "schema_version": SCHEMA,
        "date": store.date,
        "command": command_line(command) if command else None,
        "versions": versions(),
        "settings": store.settings,
        "machine": _machine(engines),
        "engines": engines,
        **summarize(store.records),
    }


def _machine(engines: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Say where it was measured, as far as tables should show it."""
    first = next(iter(engines.values()), {})
    return {
        **{name: first[name] for name in _OF_ENGINE if first.get(name)},
        "gpu": first.get("gpu"),
        "architecture": platform.machine(),
        "cpu": cpu_model(),
        "cores": num_cores(),
    }


def problems(
    figures: Mapping[str, Any], *, floor: float | None, same: bool
) -> list[str]:
    """Name what is not as asked for, in modes with SSR.

    Args:
        figures: What `figures_of` returned.
        floor: Least tokens per step, of each workload; None for any.
        same: Whether all outputs must be those of the baseline.

    Returns:
        A sentence each; none if all is well.
    """
    modes = figures["settings"]["modes"]
    found = []
    for workload, by_mode in figures["workloads"].items():
        for name, mode in by_mode.items():
            if not modes[name]["speculation"]:
                continue
            rate = mode["tokens_per_step"]
            if floor is not None and (rate is None or rate < floor):
                shown = "no" if rate is None else f"{rate:.2f}"
                found.append(
                    f"{workload}, {name}: {shown} tokens per step, not {floor}"
                )
            if same and mode["num_same_output"] < mode["num_compared"]:
                differ = mode["num_compared"] - mode["num_same_output"]
                found.append(
                    f"{workload}, {name}: {differ} of {mode['num_compared']} outputs "
                    f"are not those of {figures['baseline']}"
                )
            if same and not mode["num_compared"]:
                found.append(f"{workload}, {name}: nothing to compare with")
    return found
