"""What the project wants to reach in its own benchmarks, and whether a run has.

Aims are ratios of another mode's mean to that of a mode: above 1, the mode needs less.
Those of steps do not depend on the machine; those of seconds are only told, never
checked on another one. An interval that reaches below an aim is told, too: then other
requests of the kind may miss it.
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
        other: The mode that is compared with.
        ratio: The ratio's name in the figures, the other mode's mean over the mode's.
        least: Its least value; None if the interval must hold 1: no difference.
        mode: The mode that the aim is about.
    """

    model: str
    workload: str
    other: str
    ratio: str
    least: float | None
    mode: str = "ssr"

    @property
    def title(self) -> str:
        """What is wanted."""
        what = f"{self.workload}: {_WORDS[self.ratio]} of `{self.other}`"
        if self.least is None:
            return f"{what} and of `{self.mode}` the same"
        return f"{what} at least {self.least:g} times those of `{self.mode}`"

    @property
    def anywhere(self) -> bool:
        """Whether it is the same on any machine."""
        return self.ratio == _STEPS

    def found(self, figures: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the ratio of a run, `value` and `interval`; empty if it tells none.

        Args:
            figures: As `langchain-ssr bench` writes them.
        """
        own = figures["workloads"].get(self.workload, {}).get(self.mode, {})
        at_baseline = self.other == figures["baseline"]
        compared = own if at_baseline else own.get("against", {}).get(self.other, {})
        ratio: Mapping[str, Any] = compared.get(self.ratio, {})
        return ratio

    def reached(self, figures: Mapping[str, Any]) -> float | None:
        """Return the value of the ratio in a run; None if the run does not tell."""
        value: float | None = self.found(figures).get("value")
        return value

    def verdict(self, figures: Mapping[str, Any]) -> str:
        """Say whether a run reaches it."""
        ratio = self.found(figures)
        return verdict(ratio.get("value"), self.least, ratio.get("interval"))


_STEPS, _SECONDS = "ratio_of_mean_answer_steps", "ratio_of_mean_latencies"
_WORDS = {_STEPS: "steps in the answer", _SECONDS: "seconds"}
_CODE, _DATA, _SHORT = "demo code", "demo data", "demo short"
_REAL = ("classeval", "humaneval", "longproc countdown")
AIMS = (
    *(Aim(DEMO, skill, "plain", _STEPS, 4) for skill in (_CODE, _DATA)),
    *(Aim(DEMO, skill, "suffix", _STEPS, 1.5) for skill in (_CODE, _DATA)),
    *(Aim(DEMO, skill, "plain", _SECONDS, 1.3) for skill in (_CODE, _DATA)),
    Aim(DEMO, _SHORT, "plain", _SECONDS, None),
    *(Aim(SMOLLM2, each, "suffix", _STEPS, 1) for each in _REAL),
    *(Aim(SMOLLM2, each, "plain", _STEPS, 1, mode="suffix") for each in _REAL),
    *(Aim(SMOLLM2, each, "suffix", _SECONDS, 1) for each in _REAL),
    *(Aim(SMOLLM2, each, "plain", _SECONDS, 1) for each in _REAL),
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
        f"- aim: {aim.title}: {aim.verdict(figures)}\n" for aim in aims_of(figures)
    )


def verdict(
    value: float | None,
    least: float | None,
    interval: tuple[float, float] | None = None,
) -> str:
    """Say whether a ratio reaches an aim.

    Args:
        value: The ratio; None if it was not measured.
        least: The aim; None if the interval must hold 1.
        interval: Between what the ratio is for other requests of this kind.
    """
    if value is None:
        return "not measured"
    ends = f"; {interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
    if least is None:
        low, high = interval or (value, value)
        return f"{'reached' if low <= 1 <= high else 'missed'} ({value:.2f}{ends})"
    if value < least:
        return f"missed ({value:.2f}{ends}; {least - value:.2f} less)"
    if interval and interval[0] < least:
        return f"reached in the mean, not by all of the interval ({value:.2f}{ends})"
    return f"reached ({value:.2f}{ends})"
