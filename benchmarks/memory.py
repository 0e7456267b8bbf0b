"""How much memory this process and its engine's take, and whether it grows."""

from __future__ import annotations

import gc
import statistics
from dataclasses import dataclass, field

MIB = 1 << 20
ENGINE = "EngineCore"
"""What vLLM calls the process of an engine."""


@dataclass
class MemoryLog:
    """Resident memory over the number of requests that were served.

    Attributes:
        requests: How many had been served at each point.
        process: MiB of this process at each point.
        engine: MiB of the engine's process at each point.
    """

    requests: list[int] = field(default_factory=list)
    process: list[float] = field(default_factory=list)
    engine: list[float] = field(default_factory=list)

    def note(self, num_requests: int) -> None:
        """Add a point."""
        import psutil

        gc.collect()
        own = psutil.Process()
        engines = [p for p in own.children(recursive=True) if ENGINE in p.name()]
        self.requests.append(num_requests)
        self.process.append(own.memory_info().rss / MIB)
        self.engine.append(sum(p.memory_info().rss for p in engines) / MIB)

    def slopes(self) -> dict[str, float]:
        """Return MiB per 1,000 requests, fitted over the second half of the requests.

        Raises:
            ValueError: There are not enough points.
        """
        half = self.requests[-1] / 2
        first = next(i for i, number in enumerate(self.requests) if number >= half)
        return {
            "process": _slope(self.requests[first:], self.process[first:]),
            "engine": _slope(self.requests[first:], self.engine[first:]),
        }


def _slope(requests: list[int], memory: list[float]) -> float:
    if len(set(requests)) < 2:  # noqa: PLR2004 - a line needs two points
        raise ValueError("too few points for a slope")
    return 1000 * statistics.linear_regression(requests, memory).slope
