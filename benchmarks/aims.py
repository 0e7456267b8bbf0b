"""What the project wants to reach in its own benchmarks, and whether a run has.

Aims are ratios of another mode's mean to SSR's: above 1, SSR needs less. Those of
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
        ratio: The ratio's name in the figures, the other mode's mean over `ssr`'s.
        least: Its least value.
    """

    model: str
    workload: str
    other: str
    ratio: str
    least: float

    @property
    def title(self) -> str:
        """What is wanted."""
        what = _WORDS[self.ratio]
        return (
            f"{self.workload}: {what} of `{self.other}` at least {self.least:g} times "
            "those of `ssr`"
        )

    @property
    def anywhere(self) -> bool:
        """Whether it is the same on any machine."""
        return self.ratio == _STEPS

    def reached(self, figures: Mapping[str, Any]) -> float | None:
        """Return the ratio of a run; None if the run does not tell.

        Args:
            figures: As `langchain-ssr bench` writes them.
        """
        ssr = figures["workloads"].get(self.workload, {}).get("ssr", {})
        at_baseline = self.other == figures["baseline"]
        compared = ssr if at_baseline else ssr.get("against", {}).get(self.other, {})
        ratio: float | None = compared.get(self.ratio, {}).get("value")
        return ratio


_STEPS, _SECONDS = "ratio_of_mean_answer_steps", "ratio_of_mean_latencies"
_WORDS = {_STEPS: "steps in the answer", _SECONDS: "seconds"}
AIMS = (
    Aim(DEMO, "demo code", "plain", _STEPS, 4),
    Aim(DEMO, "demo data", "plain", _STEPS, 4),
    Aim(DEMO, "demo code", "suffix", _STEPS, 1.5),
    Aim(DEMO, "demo data", "suffix", _STEPS, 1.5),
    Aim(DEMO, "demo code", "plain", _SECONDS, 1.3),
    Aim(DEMO, "demo data", "plain", _SECONDS, 1.3),
    Aim(SMOLLM2, "classeval", "suffix", _STEPS, 1),
    Aim(SMOLLM2, "classeval", "suffix", _SECONDS, 1),
    Aim(SMOLLM2, "humaneval", "suffix", _STEPS, 1),
    Aim(SMOLLM2, "humaneval", "suffix", _SECONDS, 1),
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
