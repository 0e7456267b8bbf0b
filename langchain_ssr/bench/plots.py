"""A run's figures as pictures; needs matplotlib (`langchain-ssr[plots]`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_ssr.errors import SettingsError
from langchain_ssr.sources import SOURCES

Row = Mapping[str, Any]
INSTALL = "pip install 'langchain-ssr[plots]'"


def draw(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the figures have: a PNG for each kind of plot.

    Args:
        figures: As `langchain-ssr bench` writes them.
        folder: Where the pictures go.

    Returns:
        The files that were written.

    Raises:
        SettingsError: If matplotlib is missing.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError(f"Plots need matplotlib: {INSTALL}") from None
    written = []
    for name, plot in _PLOTS.items():
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        if plot(axes, figures):
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=120)
            written.append(path)
    return written


def speedups_by_length(
    figures: Mapping[str, Any],
) -> dict[str, list[tuple[int, float]]]:
    """Return answer tokens and speed-up of each request, by mode."""
    answered = [row for row in figures["requests"] if not row.get("skipped")]
    plain = {
        (row["item"], row["round"]): row
        for row in answered
        if row["mode"] == figures["baseline"]
    }
    found: dict[str, list[tuple[int, float]]] = {}
    for row in answered:
        before = plain.get((row["item"], row["round"]))
        if before is not None and row["mode"] != figures["baseline"]:
            point = (row["num_answer_tokens"], before["total"] / row["total"])
            found.setdefault(row["mode"], []).append(point)
    return found


def gains_by_budget(figures: Mapping[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """Return draft budget and ratio of mean latencies, by workload."""
    budgets = {
        name: mode["settings"].get("draft_budget")
        for name, mode in figures["settings"]["modes"].items()
    }
    found: dict[str, list[tuple[int, float]]] = {}
    for workload, modes in figures["workloads"].items():
        points = [
            (budget, mode["ratio_of_mean_latencies"]["value"])
            for name, mode in modes.items()
            if isinstance(budget := budgets.get(name), int)
            and mode["ratio_of_mean_latencies"]["value"] is not None
        ]
        if points:
            found[workload] = sorted(points)
    return found


def accepted_by_source(figures: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return accepted tokens by mode and source, over all workloads."""
    found: dict[str, dict[str, int]] = {}
    for modes in figures["workloads"].values():
        for name, mode in modes.items():
            for source, count in mode["accepted"].items():
                own = found.setdefault(name, {})
                own[source] = own.get(source, 0) + count
    return found


def _plot_lengths(axes: Any, figures: Mapping[str, Any]) -> bool:
    found = speedups_by_length(figures)
    for mode, points in found.items():
        axes.scatter(*zip(*points, strict=True), s=14, alpha=0.7, label=mode)
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set(xlabel="answer tokens", ylabel=f"speed-up over {figures['baseline']}")
    return _with_legend(axes, found)


def _plot_sources(axes: Any, figures: Mapping[str, Any]) -> bool:
    found = accepted_by_source(figures)
    names = [*SOURCES, *sorted({s for own in found.values() for s in own} - {*SOURCES})]
    bottom = [0] * len(found)
    for source in names:
        counts = [own.get(source, 0) for own in found.values()]
        if any(counts):
            axes.bar(list(found), counts, bottom=bottom, label=source)
            bottom = [a + b for a, b in zip(bottom, counts, strict=True)]
    axes.set(ylabel="accepted tokens")
    return _with_legend(axes, found)


def _plot_budgets(axes: Any, figures: Mapping[str, Any]) -> bool:
    found = gains_by_budget(figures)
    for workload, points in found.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=workload)
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set(xlabel="draft budget, reasoning tokens", ylabel="ratio of mean latencies")
    return _with_legend(axes, found)


def _plot_timeline(axes: Any, figures: Mapping[str, Any]) -> bool:
    """Draw the answer with the most drafts: thinking, drafts, answer."""
    rows = [row for row in figures["requests"] if row.get("timeline")]
    if not rows:
        return False
    row = max(rows, key=lambda row: (row["num_drafts"], row["total"]))
    lanes, bars = lanes_of(row["timeline"], row["total"] * 1e3)
    for lane, start, length in bars:
        axes.barh(
            lanes.index(lane),
            length,
            left=start,
            height=0.6,
            color=f"C{lanes.index(lane)}",
        )
    axes.set_yticks(range(len(lanes)), lanes)
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds", title=f"{row['mode']}, {row['item']}")
    return True


def lanes_of(
    timeline: Sequence[Row], end_ms: float
) -> tuple[list[str], list[tuple[str, float, float]]]:
    """Turn events into bars.

    Args:
        timeline: The events of one request, as the statistics have them.
        end_ms: When it ended.

    Returns:
        The lanes from top to bottom, and bars as lane, start and length.
    """
    ended = next(
        (event["t_ms"] for event in timeline if event["event"] == "reasoning_ended"),
        0.0,
    )
    bars = [("thinking", 0.0, ended), ("answer", ended, max(0.0, end_ms - ended))]
    starts: dict[int, float] = {}
    for event in timeline:
        if event["event"] == "draft_started":
            starts[event["index"]] = event["t_ms"]
        elif event["event"] == "draft_ended":
            start = starts.pop(event["index"])
            lane = f"draft {event['index'] + 1}"
            bars.insert(-1, (lane, start, event["t_ms"] - start))
    return [bar[0] for bar in bars], bars


def _with_legend(axes: Any, found: Iterable[str]) -> bool:
    if not list(found):
        return False
    axes.legend(fontsize="small")
    return True


_PLOTS = {
    "speedup_by_answer_length": _plot_lengths,
    "accepted_by_source": _plot_sources,
    "gain_by_budget": _plot_budgets,
    "timeline": _plot_timeline,
}
