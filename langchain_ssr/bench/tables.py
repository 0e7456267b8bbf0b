"""A run's figures as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_ssr.models import DEMO, SMOLLM2

TOYS = (DEMO, SMOLLM2)
TOY = (
    "A toy model: these figures are floors against regressions. They say nothing of "
    "how much SSR gains on a real one."
)
_LATENCY = (
    *("mode", "answers", "seconds", "to first reasoning", "to first draft"),
    *("to first answer", "ratio of mean latencies", "mean of per-request speed-ups"),
)
_STEPS = (
    *("mode", "steps", "answer steps", "tokens per step", "in the answer"),
    *("ratio of mean answer steps", "mean of per-request answer-step ratios"),
)
_AGAINST = (
    *("mode", "against", "ratio of mean latencies", "mean of per-request speed-ups"),
    *("ratio of mean answer steps", "mean of per-request answer-step ratios"),
)
_WORK = (
    *("mode", "thinking tokens/s", "ms per step drafting / alone"),
    *("accepted by source", "extra tokens per token", "score", "same output"),
)


def markdown(figures: Mapping[str, Any]) -> str:
    """Write all tables of a run.

    Args:
        figures: As `langchain-ssr bench` writes them.

    Returns:
        Markdown, without headings, ending in a line break.
    """
    baseline = figures["baseline"]
    parts = [_head(figures)]
    for workload, modes in figures["workloads"].items():
        parts += [
            f"**{workload}**",
            table(_LATENCY, [_latency(name, mode) for name, mode in modes.items()]),
            table(_STEPS, [_steps(name, mode) for name, mode in modes.items()]),
            table(
                _WORK,
                [_work(name, mode, name == baseline) for name, mode in modes.items()],
            ),
        ]
        against = [row for name, mode in modes.items() for row in _against(name, mode)]
        parts += [table(_AGAINST, against)] if against else []
    return "\n\n".join(parts) + "\n"


def _head(figures: Mapping[str, Any]) -> str:
    settings = figures["settings"]
    call = ", ".join(f"{name} {value}" for name, value in settings["call"].items())
    where = where_measured(figures)
    lines = [f"Model `{settings['model']}`; {call or 'default settings'}; {where}."]
    lines += provenance(figures)
    if figures["baseline"] is not None:
        lines.append(f"Compared with mode `{figures['baseline']}`; 95 % intervals.")
    if settings["model"] in TOYS:
        lines.append(TOY)
    return "\n".join(lines)


def where_measured(figures: Mapping[str, Any]) -> str:
    """Name the machine of figures, in a line."""
    machine = figures.get("machine") or {}
    return ", ".join(str(value) for value in machine.values() if value is not None)


def provenance(figures: Mapping[str, Any]) -> list[str]:
    """Say when, with what and by which command it was measured."""
    told = [str(figures["date"])] if figures.get("date") else []
    told += [
        f"{name} {version}" for name, version in figures.get("versions", {}).items()
    ]
    lines = [f"{', '.join(told)}."] if told else []
    if figures.get("command"):
        lines.append(f"Command: `{figures['command']}`")
    return lines


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["-"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _latency(name: str, mode: Mapping[str, Any]) -> list[str]:
    skipped = f" ({mode['num_skipped']} skipped)" if mode["num_skipped"] else ""
    return [
        name,
        f"{mode['num_answers']}{skipped}",
        number(mode["mean_total"]),
        number(mode["mean_first_reasoning"]),
        number(mode["mean_first_draft"]),
        number(mode["mean_first_answer"]),
        _interval(mode["ratio_of_mean_latencies"]),
        _interval(mode["mean_of_per_request_speedups"]),
    ]


def _steps(name: str, mode: Mapping[str, Any]) -> list[str]:
    return [
        name,
        number(mode["num_steps"], 0),
        number(mode["num_answer_steps"], 0),
        number(mode["tokens_per_step"]),
        number(mode["tokens_per_answer_step"]),
        _interval(mode["ratio_of_mean_answer_steps"]),
        _interval(mode["mean_of_per_request_answer_step_ratios"]),
    ]


def _against(name: str, mode: Mapping[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            other,
            _interval(compared["ratio_of_mean_latencies"]),
            _interval(compared["mean_of_per_request_speedups"]),
            _interval(compared["ratio_of_mean_answer_steps"]),
            _interval(compared["mean_of_per_request_answer_step_ratios"]),
        ]
        for other, compared in mode.get("against", {}).items()
    ]


def _work(name: str, mode: Mapping[str, Any], is_baseline: bool) -> list[str]:
    sources = sorted(mode["accepted"].items(), key=lambda pair: -pair[1])
    drafting, alone = mode["ms_per_step_drafting"], mode["ms_per_step_alone"]
    same = f"{mode['num_same_output']}/{mode['num_compared']}"
    return [
        name,
        number(mode["thinking_tokens_per_second"], 1),
        "-" if drafting is None else f"{number(drafting, 1)} / {number(alone, 1)}",
        ", ".join(f"{source} {count}" for source, count in sources) or "-",
        number(mode["extra_tokens_per_token"]),
        f"{number(mode['mean_score'])} ({mode['num_judged']})",
        "-" if is_baseline else same,
    ]


def number(value: float | None, digits: int = 2) -> str:
    """Write a number, or `-` for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(speedup: Mapping[str, float | None]) -> str:
    if speedup["value"] is None:
        return "-"
    if speedup["low"] is None:
        return number(speedup["value"])
    ends = f"{number(speedup['low'])} to {number(speedup['high'])}"
    return f"{number(speedup['value'])} ({ends})"
