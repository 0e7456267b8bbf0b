"""Prompts from ClassEval, by task."""

from __future__ import annotations

from pathlib import Path

from benchmarks.common import BenchmarkError
from langchain_ssr.bench.code_tasks import classeval
from langchain_ssr.errors import SettingsError


def read_tasks(path: Path, num: int) -> dict[str, str]:
    """Read the prompts of the first `num` tasks, by task id.

    Raises:
        BenchmarkError: The file is missing, malformed or too short.
    """
    try:
        items = classeval(path, num)
    except SettingsError as error:
        raise BenchmarkError(str(error)) from error
    if len(items) < num:
        raise BenchmarkError(f"{path} has {len(items)} tasks, --num asks for {num}")
    return {item.id: item.messages[0]["content"] for item in items}
