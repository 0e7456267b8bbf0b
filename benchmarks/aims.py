"""What the project wants to reach in its own benchmarks, and whether a run has.

Aims are ratios of another mode's figure to SSR's: above 1, SSR needs less. Those of
steps do not depend on the machine; those of seconds are only told, never checked on
another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_ssr.models import DEMO, SMOLLM2


@dataclass(frozen=True)
class Aim:
    """One aim.

    Attributes:
        model: The model that it is for.
        workload: The workload, as the figures name it.
        other: The mode that SSR is compared with.
        figure: The figure that is compared, of the other mode and of `ssr`.
        least: Least ratio of the two.
    """

    model: str
    workload: str
    other: str
    figure: str
    least: float

    @property
    def title(self) -> str:
        """What is wanted."""
        what = _WORDS[self.figure]
        return (
            f"{self.workload}: {what} of `{self.other}` at least {self.least:g} times "
            "those of `ssr`"
        )

    @property
    def anywhere(self) -> bool:
        """Whether it is the same on any machine."""
        return self.figure in _STEPS

    def reached(self, figures: Mapping[str, Any]) -> float | None:
        """Return the ratio of a run; None if the run does not tell.

        Args:
            figures: As `langchain-ssr bench` writes them.
        """
        modes = figures["workloads"].get(self.workload, {})
        before, own = (
            modes.get(mode, {}).get(self.figure) for mode in (self.other, "ssr")
        )
        return before / own if before and own else None


_STEPS = {"num_steps": "steps", "num_answer_steps": "steps in the answer"}
_WORDS = {**_STEPS, "mean_total": "seconds"}
AIMS = (
    Aim(DEMO, "demo code", "plain", "num_answer_steps", 4),
    Aim(DEMO, "demo data", "plain", "num_answer_steps", 4),
    Aim(DEMO, "demo code", "suffix", "num_answer_steps", 1.5),
    Aim(DEMO, "demo data", "suffix", "num_answer_steps", 1.5),
    Aim(DEMO, "demo code", "plain", "mean_total", 1.3),
    Aim(DEMO, "demo data", "plain", "mean_total", 1.3),
    Aim(SMOLLM2, "classeval", "suffix", "num_answer_steps", 1),
    Aim(SMOLLM2, "classeval", "suffix", "mean_total", 1),
    Aim(SMOLLM2, "humaneval", "suffix", "num_answer_steps", 1),
    Aim(SMOLLM2, "humaneval", "suffix", "mean_total", 1),
)


def aims_of(figures: Mapping[str, Any]) -> Iterator[Aim]:
    """Yield the aims for a run's model and workloads."""
    for aim in AIMS:
        same_model = aim.model == figures["settings"]["model"]
        if same_model and aim.workload in figures["workloads"]:
            yield aim


def aims_markdown(figures: Mapping[str, Any]) -> str:
    """Write a line for each aim: reached, missed by how much, or not measured."""
    return "".join(
        f"- aim: {aim.title}: {verdict(aim.reached(figures), aim.least)}\n"
        for aim in aims_of(figures)
    )


def verdict(value: float | None, least: float) -> str:
    """Say whether a ratio reaches an aim."""
    if value is None:
        return "not measured"
    if value >= least:
        return f"reached ({value:.2f})"
    return f"missed ({value:.2f}; {least - value:.2f} less)"
