"""The command `langchain-ssr bench`."""

from __future__ import annotations

import enum
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

OUT = Console()


class Check(enum.StrEnum):
    """What `bench --check` can check."""

    OVERHEAD = "overhead"


def bench(  # noqa: PLR0917 - a command line has many options
    check: Annotated[
        Check | None, typer.Option(help="Measure only what SSR costs where it is idle.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="ci: minutes on two cores; paper: its settings.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model to ask. Default: demo (--check: smollm2).")
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="plain, ngram, suffix, ssr, ssr-no-draft, ssr-one-draft, "
            "ssr-prefix-only, ssr-suffix-only, ssr-answer-only, or NAME={...}: vLLM's "
            "speculative config, or settings of SSR. Several times."
        ),
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(help="Also a mode ssr@N with this draft budget. Several times."),
    ] = None,
    demo: Annotated[
        str | None,
        typer.Option(help="Held-out prompts of the demo model: code,data,tools,short."),
    ] = None,
    humaneval: Annotated[
        Path | None, typer.Option(help="HumanEval.jsonl.gz, or: hub.")
    ] = None,
    classeval: Annotated[
        Path | None, typer.Option(help="ClassEval_data.json, or: hub.")
    ] = None,
    longproc: Annotated[
        Path | None, typer.Option(help="Folder of LongProc's 2K tasks, or: hub.")
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="JSON lines with messages: requests apart.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="The same: a recorded run, replayed in order.")
    ] = None,
    num: Annotated[
        int | None, typer.Option(help="Requests of each workload.", min=1)
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds. Default: 1 (--check: 20 or more).", min=1),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="All engines at once, taking turns.")
    ] = False,
    warm_up: Annotated[
        int | None,
        typer.Option(help="First answers that are not counted. Default: 1.", min=0),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Default 0; below 0: the model's own.")
    ] = None,
    thinking_budget: Annotated[
        int | None, typer.Option(help="Most reasoning tokens.", min=1)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Longest output.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of sampling and of held-out prompts.")] = 0,
    engine: Annotated[
        str | None, typer.Option(help="Arguments of vllm serve, as a JSON object.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Keep timelines.")] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of the results; a rerun goes on there.")
    ] = Path("bench-results"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures here.")
    ] = None,
    plots: Annotated[bool, typer.Option("--plots", help="Also draw pictures.")] = False,
    floor: Annotated[
        float | None, typer.Option(help="Fail below so many tokens per step of SSR.")
    ] = None,
    floor_answer_steps: Annotated[
        list[str] | None,
        typer.Option(
            help="Fail if SSR's answers do not take so many times fewer steps: X, than "
            "plain's; MODE=X. Several times."
        ),
    ] = None,
    same: Annotated[
        bool, typer.Option("--same", help="Fail if SSR's output is not plain's.")
    ] = False,
    record_pairs: Annotated[
        Path | None,
        typer.Option(help="Write drafts and answers here, measure nothing."),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes, each on a GPU of its own.", min=1)
    ] = 1,
    shard: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure a model in several modes, on the same requests, and compare them.

    Results are kept answer by answer in a folder, with figures.json and figures.md.
    """
    if check is not None:
        _check_overhead(model or "smollm2", rounds or 20, json_file)
    from langchain_ssr.bench import options as bench_options
    from langchain_ssr.bench import runs
    from langchain_ssr.bench.floors import Floors, parse_answer_steps
    from langchain_ssr.bench.workers import parse_shard

    floors = Floors(floor, parse_answer_steps(floor_answer_steps or ()), same)
    given = {
        "model": model,
        "modes": tuple(mode or ()),
        "budgets": tuple(budget or ()),
        "demo": demo,
        "humaneval": humaneval,
        "classeval": classeval,
        "longproc": longproc,
        "prompts": prompts,
        "trace": trace,
        "num": num,
        "rounds": rounds,
        "alive_together": together,
        "warm_up": warm_up,
        "temperature": temperature,
        "thinking_budget": thinking_budget,
        "max_tokens": max_tokens,
        "seed": seed,
        "details": details,
        "engine_kwargs": _object("--engine", engine),
    }
    chosen = bench_options.make_options(preset, given)
    if temperature is not None and temperature < 0:
        chosen = bench_options.sampled(chosen)
    if record_pairs is not None:
        runs.record_pairs_of(OUT, chosen, record_pairs)
    elif shard is not None:
        runs.run_shard(OUT, chosen, out, parse_shard(shard))
    else:
        runs.run_all(OUT, chosen, out, workers)
        _report(out, json_file, floors, plots=plots)


def _object(option: str, text: str | None) -> dict[str, Any]:
    """Read a JSON object from the command line."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise typer.BadParameter(f"{option}: no JSON ({error})") from None
    if not isinstance(value, dict):
        raise typer.BadParameter(f"{option}: not a JSON object")
    return value


def _report(
    out: Path,
    json_file: Path | None,
    floors: Any,
    *,
    plots: bool,
) -> None:
    """Write and print the figures; exit with 1 if they are not as asked."""
    from langchain_ssr.bench.figures import figures_of
    from langchain_ssr.bench.floors import problems
    from langchain_ssr.bench.plots import draw
    from langchain_ssr.bench.store import Store
    from langchain_ssr.bench.tables import markdown

    figures = figures_of(Store(out), sys.argv)
    text = json.dumps(figures, indent=2) + "\n"
    for file in (out / "figures.json", json_file):
        if file is not None:
            file.write_text(text, encoding="utf-8")
    tables = markdown(figures)
    (out / "figures.md").write_text(tables, encoding="utf-8")
    OUT.print(Markdown(tables))
    if plots:
        for path in draw(figures, out):
            OUT.print(f"drew {path}", style="dim", markup=False)
    found = problems(figures, floors)
    for problem in found:
        OUT.print(problem, style="bold red", markup=False)
    raise typer.Exit(1 if found else 0)


def _check_overhead(model: str, rounds: int, json_file: Path | None) -> None:
    """Measure what SSR costs where it cannot help; exit code 1 below the aim."""
    from langchain_ssr.bench import overhead

    if rounds < overhead.LEAST_ROUNDS:
        raise typer.BadParameter(
            f"--check overhead needs --rounds {overhead.LEAST_ROUNDS} or more"
        )
    figures = overhead.measure(
        model, rounds=rounds, report=lambda line: OUT.print(line, style="dim")
    )
    if json_file:
        json_file.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    found = figures["totals"]
    low, high = found["interval"]
    OUT.print(
        f"plain seconds over SSR's, median of {rounds} rounds: "
        f"{found['median_time_ratio']:.3f}, 95 % interval {low:.3f} to {high:.3f} "
        f"(width {found['interval_width']:.3f})"
    )
    OUT.print(f"same number of engine steps: {found['same_steps']}")
    OUT.print(f"same number of scheduled tokens: {found['same_scheduled_tokens']}")
    same = found["same_steps"] and found["same_scheduled_tokens"]
    raise typer.Exit(0 if found["ok"] and same else 1)
