"""What the benchmarks' reports have in common."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class BenchmarkError(Exception):
    """The benchmark cannot run as asked; the message says why."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return a 95 % confidence interval of the median, from order statistics.

    With fewer than six values there is none: the least and greatest are returned.
    """
    ordered, size = sorted(values), len(values)
    tail, rank = 0.0, 0
    while rank < size // 2:
        tail += math.comb(size, rank) / 2**size
        if tail > 0.025:  # noqa: PLR2004 - a half of 5 %
            break
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[size - rank]


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
