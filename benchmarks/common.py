"""What the benchmarks share: an error, an argument's type, a report's file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


class BenchmarkError(Exception):
    """The benchmark cannot run as asked; the message says why."""


def positive(text: str) -> int:
    """Read a whole number above 0, for argparse."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def write_json(path: Path, data: Any) -> None:
    """Write a report; the file is replaced as a whole or not at all.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BenchmarkError(f"cannot write {path}: {error}") from error
