"""Runs what `langchain-ssr bench` asks for, with a bar of progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from langchain_ssr.bench.asking import engines_of
from langchain_ssr.bench.options import (
    Options,
    call_settings,
    fixed_settings,
    make_items,
    make_plan,
)
from langchain_ssr.bench.pairs import record_pairs
from langchain_ssr.bench.runner import run
from langchain_ssr.bench.store import Store, num_records
from langchain_ssr.bench.workers import run_workers
from langchain_ssr.chat_model import ChatSSR


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar, and a line for each answer above it."""
    columns = (
        *Progress.get_default_columns(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("bench", total=total)

        def advance(line: str) -> None:
            bar.console.print(line, style="dim", markup=False, highlight=False)
            bar.advance(task)

        yield advance


def run_shard(
    console: Console, options: Options, out: Path, shard: tuple[int, int]
) -> None:
    """Measure one part of the requests, in this process.

    Args:
        console: Where progress is shown.
        options: What the command line asks for.
        out: Folder of the results.
        shard: The number of the part, from 0, and how many parts there are.
    """
    plan = make_plan(options, shard)
    store = Store(out, f"-{shard[0]}" if shard[1] > 1 else "")
    store.settle(fixed_settings(options), plan.modes)
    with _progress(console, plan.size) as progress:
        open_engine = engines_of(options.model, options.engine_kwargs)
        run(plan, store, open_engine, progress)


def run_all(console: Console, options: Options, out: Path, workers: int) -> None:
    """Measure all requests, here or in several processes.

    Args:
        console: Where progress is shown.
        options: What the command line asks for.
        out: Folder of the results.
        workers: How many processes, each with a GPU of its own if more than one.
    """
    if workers == 1:
        run_shard(console, options, out, (0, 1))
        return
    plan = make_plan(options)
    Store(out).settle(fixed_settings(options), plan.modes)
    with Progress(console=console) as bar:
        task = bar.add_task(f"{workers} workers", total=plan.size)
        run_workers(
            _without_workers(sys.argv[1:]),
            workers,
            out,
            lambda: bar.update(task, completed=num_records(out)),
        )


def _without_workers(arguments: list[str]) -> list[str]:
    """Take `--workers` out of a command line."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--workers":
            next(rest, None)
        elif not argument.startswith("--workers="):
            kept.append(argument)
    return kept


def record_pairs_of(console: Console, options: Options, path: Path) -> None:
    """Write pairs of drafts and answers instead of measuring.

    Args:
        console: Where progress is shown.
        options: What the command line asks for.
        path: The file to write.
    """
    items = [item for item in make_items(options) if item.left_out is None]
    settings = call_settings(options)
    with (
        ChatSSR(model=options.model, engine_kwargs=dict(options.engine_kwargs)) as llm,
        _progress(console, len(items)) as progress,
    ):
        llm.warmup()
        record_pairs(llm, items, settings, path, progress)
