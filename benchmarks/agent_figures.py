"""Figures of the agent benchmark: plain against SSR, and whether its aims are reached.

In the mean, tasks take 1.25 times as long without SSR, at equal success; and in most
turns the first early draft comes before half of the wait for the first answer token. A
turn without a draft counts as one in which it does not. The engine says when the first
drafted token came, by its own clock; the wait is the client's.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.aims import verdict
from langchain_ssr.bench.intervals import bootstrap
from langchain_ssr.bench.modes import BUILT_IN
from langchain_ssr.bench.summary import SPEEDUPS, Pair
from langchain_ssr.bench.tables import (
    TOY,
    TOYS,
    number,
    provenance,
    table,
    where_measured,
)

MODES = ("plain", "ssr")
SPEEDUP = 1.25
"""Aim: the ratio of mean latencies of tasks."""
EARLY, MOST = 0.5, 0.5
"""Aim: the first draft comes before this share of the wait, in more than this share of
the turns."""


def compare(done: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Make figures of the tasks that both modes have done.

    Args:
        done: What `run_task` returned, by mode and task.
    """
    common = [name for name in done[MODES[0]] if name in done[MODES[1]]]
    pairs: list[Pair] = [
        (done["plain"][name]["seconds"], done["ssr"][name]["seconds"])
        for name in common
    ]
    same = {
        name: [turn["output"] for turn in done["plain"][name]["turns"]]
        == [turn["output"] for turn in done["ssr"][name]["turns"]]
        for name in common
    }
    return {
        "num_tasks": len(common),
        "num_same": sum(same.values()),
        "tasks": same,
        **{
            mode: _of_mode(mode, [done[mode][name] for name in common])
            for mode in MODES
        },
        **{
            name: {"value": speedup(pairs), "interval": bootstrap(pairs, speedup)}
            for name, speedup in SPEEDUPS.items()
            if pairs
        },
    }


def _of_mode(mode: str, each: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    turns = [turn for task in each for turn in task["turns"]]
    drafts = BUILT_IN[mode].engine.speculation
    tokens, steps = (sum(turn[name] for turn in turns) for name in ("tokens", "steps"))
    return {
        "seconds_per_task": _mean([task["seconds"] for task in each]),
        "steps_per_task": _mean([task["steps"] for task in each]),
        "turns_per_task": _mean([len(task["turns"]) for task in each]),
        "seconds_per_turn": _mean([turn["seconds"] for turn in turns]),
        "steps_per_turn": _mean([turn["steps"] for turn in turns]),
        "num_turns": len(turns),
        "num_tokens": tokens,
        "num_steps": steps,
        "num_tool_calls": sum(len(turn["tools"]) for turn in turns),
        "tokens_per_step": tokens / steps if steps else None,
        "first_draft_per_turn": _mean(
            [turn["first_draft"] for turn in turns if turn["first_draft"] is not None]
        ),
        "first_answer_per_turn": _mean(
            [turn["first_answer"] for turn in turns if turn["first_answer"] is not None]
        ),
        "num_early_drafts": sum(map(is_early, turns)) if drafts else None,
        "num_successes": sum(task["success"] for task in each),
    }


def is_early(turn: Mapping[str, Any]) -> bool:
    """Whether the first draft of a turn came before half of the wait for its answer."""
    draft, answer = turn["first_draft"], turn["first_answer"]
    return draft is not None and answer is not None and draft < EARLY * answer


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


_COLUMNS = {
    "seconds_per_task": "seconds per task",
    "steps_per_task": "steps per task",
    "turns_per_task": "turns",
    "seconds_per_turn": "seconds per turn",
    "steps_per_turn": "steps per turn",
    "tokens_per_step": "tokens per step",
    "first_draft_per_turn": "to first draft",
    "first_answer_per_turn": "to first answer",
}


def agent_markdown(report: Mapping[str, Any]) -> str:
    """Write the tables of a report."""
    figures, settings = report["agent"], report["settings"]
    head = ["mode", *_COLUMNS.values(), "draft before half the wait"]
    head += ["tool calls", "success"]
    rows = [
        [
            mode,
            *(number(figures[mode][name]) for name in _COLUMNS),
            _early(figures[mode]),
            str(figures[mode]["num_tool_calls"]),
            f"{figures[mode]['num_successes']}/{figures['num_tasks']}",
        ]
        for mode in MODES
    ]
    done = f"{figures['num_tasks']} tasks; the same was done in {figures['num_same']}"
    lines = [
        f"Model `{settings['model']}`, {done}; {where_measured(report)}.",
        *provenance(report),
        *([TOY] if settings["model"] in TOYS else []),
        "",
        table(head, rows),
        "",
    ]
    for name in SPEEDUPS:
        found = figures.get(name)
        if found:
            ends = found["interval"]
            text = f" ({number(ends[0])} to {number(ends[1])})" if ends else ""
            title = name.replace("_", " ").replace("request speedups", "task speed-ups")
            title = title.replace("per task", "per-task")
            lines.append(f"- {title}: {number(found['value'])}{text}")
    return "\n".join([*lines, *_aims(figures)]) + "\n"


def _early(mode: Mapping[str, Any]) -> str:
    early, num = mode["num_early_drafts"], mode["num_turns"]
    return "-" if early is None or not num else f"{early / num:.0%} ({early}/{num})"


def _aims(figures: Mapping[str, Any]) -> list[str]:
    """Say whether the aims were reached."""
    speedup = figures.get("ratio_of_mean_latencies")
    plain, ssr = (figures[mode]["num_successes"] for mode in MODES)
    told = verdict(speedup["value"] if speedup else None, SPEEDUP)
    if ssr < plain:
        ratio = number(speedup["value"] if speedup else None)
        told = f"missed ({ratio}, but SSR succeeds in {ssr} tasks and plain in {plain})"
    early, turns = figures["ssr"]["num_early_drafts"], figures["ssr"]["num_turns"]
    early_told = "not measured"
    if turns:
        reached = "reached" if early > MOST * turns else "missed"
        early_told = f"{reached} ({early} of {turns})"
    return [
        f"- aim: {SPEEDUP} times as fast, at equal success: {told}",
        f"- aim: first draft before half of the wait, in most turns: {early_told}",
    ]
