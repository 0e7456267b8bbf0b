"""What a run must reach, and what is wrong if it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_ssr.errors import SettingsError


@dataclass(frozen=True)
class Floors:
    """What is wanted of the modes with SSR, in each workload.

    Attributes:
        tokens_per_step: Least tokens per step; None for any.
        answer_steps: Least ratio of mean answer steps, by the mode that is compared
            with; None stands for the baseline.
        same: Whether all outputs must be those of the baseline.
    """

    tokens_per_step: float | None = None
    answer_steps: Mapping[str | None, float] = field(default_factory=dict)
    same: bool = False


def parse_answer_steps(texts: Iterable[str]) -> dict[str | None, float]:
    """Read floors of answer steps as they stand on a command line.

    Args:
        texts: `X`, against the baseline, or `MODE=X`.

    Raises:
        SettingsError: If one is of another form.
    """
    found: dict[str | None, float] = {}
    for text in texts:
        mode, _, value = text.rpartition("=")
        try:
            found[mode.strip() or None] = float(value)
        except ValueError:
            raise SettingsError(
                f"--floor-answer-steps {text!r} is not of the form X or MODE=X"
            ) from None
    return found


def problems(figures: Mapping[str, Any], floors: Floors) -> list[str]:
    """Name what is not as asked for, in modes with SSR.

    Args:
        figures: What `figures_of` returned.
        floors: What is asked for.

    Returns:
        A sentence each; none if all is well.
    """
    modes = figures["settings"]["modes"]
    return [
        f"{workload}, {name}: {problem}"
        for workload, by_mode in figures["workloads"].items()
        for name, mode in by_mode.items()
        if modes[name]["speculation"]
        for problem in _of_mode(mode, figures["baseline"], floors)
    ]


def _of_mode(
    mode: Mapping[str, Any], baseline: str | None, floors: Floors
) -> Iterator[str]:
    rate, least = mode["tokens_per_step"], floors.tokens_per_step
    if least is not None and (rate is None or rate < least):
        shown = "no" if rate is None else f"{rate:.2f}"
        yield f"{shown} tokens per step, not {least}"
    for named, least in floors.answer_steps.items():
        other = named or baseline
        compared = mode if other == baseline else mode["against"].get(other, {})
        ratio = compared.get("ratio_of_mean_answer_steps", {}).get("value")
        if ratio is None:
            yield f"there are no answer steps of {other} to compare with"
        elif ratio < least:
            yield f"{ratio:.2f} times fewer answer steps than {other}, not {least:g}"
    if floors.same and mode["num_same_output"] < mode["num_compared"]:
        differ = mode["num_compared"] - mode["num_same_output"]
        yield (
            f"{differ} of {mode['num_compared']} outputs are not those of {baseline}"
        )
    if floors.same and not mode["num_compared"]:
        yield "nothing to compare with"
