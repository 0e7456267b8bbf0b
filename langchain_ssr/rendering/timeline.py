"""The timeline of a request: lanes above each other, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_ssr.rendering.looks import LOOKS, look_of
from langchain_ssr.stats import SpeculationStats

_TICK = 0.4
"""Width of what has no duration, in percent of the whole."""
_TICKS = (
    '<p class="faint">Beside each source, a tick is a step in which tokens from it '
    "were verified.</p>\n"
)


def timeline_html(stats: SpeculationStats) -> str:
    """Return the lanes: the request, its drafts, and each source of verified tokens.

    Args:
        stats: The statistics of the answer.

    Returns:
        HTML; nothing if the statistics hold no timeline, or no time has passed.
    """
    events = stats.timeline or []
    timing = stats.timing
    ends = [event["t_ms"] for event in events]
    ends.append((timing.reasoning_time_ms or 0) + (timing.answer_time_ms or 0))
    whole = float(max(ends))
    if stats.timeline is None or whole <= 0:
        return ""
    verified = _verified(events, whole)
    lanes = {
        "request": _request(stats, events, whole),
        "drafts": _drafts(stats, events, whole),
        **verified,
    }
    rows = "".join(
        f"<dt>{name}</dt><dd>{''.join(bars)}</dd>\n"
        for name, bars in lanes.items()
        if bars
    )
    return (
        f'<dl class="lanes">\n{rows}</dl>\n'
        f'<p class="axis"><span>0 ms</span><span>{whole:.0f} ms</span></p>\n'
        f"{_TICKS if verified else ''}"
    )


def _request(
    stats: SpeculationStats, events: Iterable[Mapping[str, Any]], whole: float
) -> list[str]:
    times = [e["t_ms"] for e in events if e["event"] == "reasoning_ended"]
    ended = times[0] if times else (stats.timing.reasoning_time_ms or 0.0)
    thinking = (
        f"thinking: {stats.num_reasoning_tokens} tokens in "
        f"{stats.num_reasoning_steps} steps, {ended:.0f} ms"
    )
    answer = (
        f"answer: {stats.num_answer_tokens} tokens in "
        f"{stats.num_answer_steps} steps, {whole - ended:.0f} ms"
    )
    bars = []
    if ended > 0:
        bars.append(_bar("think", "thinking", thinking, (0, ended), whole))
    if stats.num_answer_tokens:
        bars.append(_bar("say", "answer", answer, (ended, whole), whole))
    return bars


def _drafts(
    stats: SpeculationStats, events: Iterable[Mapping[str, Any]], whole: float
) -> list[str]:
    started: dict[int, float] = {}
    ended: dict[int, tuple[float, str]] = {}
    for event in events:
        if event["event"] == "draft_started":
            started[event["index"]] = event["t_ms"]
        elif event["event"] == "draft_ended":
            ended[event["index"]] = (event["t_ms"], event["finish_reason"])
    bars = []
    for index, start in started.items():
        end, reason = ended.get(index, (whole, "cut"))
        told = f"draft {index + 1}"
        if index < len(stats.drafts):
            told += _about_draft(stats.drafts[index])
        kind = f"draft {'whole' if reason == 'stop' else 'broken'}"
        told += f", ended by {reason} after {end - start:.0f} ms"
        bars.append(_bar(kind, f"{index + 1} {reason}", told, (start, end), whole))
    return bars


def _about_draft(draft: Mapping[str, Any]) -> str:
    return (
        f": forked at {draft.get('num_reasoning_tokens')} reasoning tokens, "
        f"{draft.get('num_tokens')} tokens in {draft.get('num_steps')} steps, "
        f"{draft.get('num_accepted_draft_tokens')} accepted"
    )


def _verified(
    events: Iterable[Mapping[str, Any]], whole: float
) -> dict[str, list[str]]:
    """Return the ticks of each source that has some, by the label of its lane."""
    lanes: dict[str, list[str]] = {name: [] for name in LOOKS}
    for event in events:
        if event["event"] != "verified":
            continue
        name, look = look_of(event["source"])
        tokens, at = event["num_tokens"], event["t_ms"]
        told = f"{tokens} tokens from {look.label} in one step at {at:.0f} ms"
        lanes[name].append(_bar("tick", "", told, (at, at), whole))
    return {
        f'<span class="{name}">{LOOKS[name].label}</span>': ticks
        for name, ticks in lanes.items()
        if ticks
    }


def _bar(
    kind: str, label: str, tip: str, times: tuple[float, float], whole: float
) -> str:
    start, end = times
    left = min(100 * start / whole, 100 - _TICK)
    width = max(100 * (end - start) / whole, _TICK)
    tip = html.escape(tip)
    return (
        f'<span class="bar {kind}" role="img" tabindex="0" title="{tip}" '
        f'aria-label="{tip}" style="left:{left:.2f}%;width:{width:.2f}%">'
        f"<b>{html.escape(label)}</b></span>"
    )
