"""Compare the engine steps of SSR, vLLM's suffix decoding and plain decoding.

The tasks are ClassEval's: complete a Python class. SmolLM2-135M plays a reasoning
model, whose thinking is closed after `--thinking-budget` tokens; decoding is greedy.
The three engines run one after the other in this process, requests one at a time. SSR
runs with its defaults, suffix decoding with up to 32 proposed tokens and without memory
of earlier requests, which SSR does not have either.

Each task's result is saved to OUT at once. A run that finds OUT there goes on with what
is missing; one with other settings is refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.classeval import read_tasks
from benchmarks.common import BenchmarkError, positive, write_json
from langchain_ssr.bench.modes import BUILT_IN, require_arctic
from langchain_ssr.errors import SettingsError

_DEFINITIONS = """\
tokens      output tokens, reasoning included
steps       engine steps that gave the request tokens. SSR and plain: as the scheduler
            counted. suffix: output tokens less accepted draft tokens
reasoning,  the same by phase; vLLM's suffix decoding does not tell them apart
answer
seconds     from request to response
per step    tokens per step
ms/token    milliseconds per token

Steps are compared, not seconds: they do not depend on the machine. What drafts and
verified tokens cost shows in the seconds. The engines' texts may differ, and with them
their lengths: by rounding (not with --dtype float32), and because suffix decoding
proposes across the thinking budget. Then sums of steps are of different texts, and
tokens per step are what can be compared.
"""
ENGINES = ("ssr", "suffix", "plain")
Row = dict[str, Any]


def row_of(engine: str, message: Any, seconds: float) -> Row:
    """Count what one answer took.

    Args:
        engine: One of `ENGINES`.
        message: The answer, with usage and `response_metadata["speculation"]`.
        seconds: How long it took.

    Raises:
        BenchmarkError: The counts are not there.
    """
    tokens = message.usage_metadata["output_tokens"]
    stats = message.response_metadata["speculation"]
    row: Row = {
        "tokens": tokens,
        "reasoning": stats["num_reasoning_steps"],
        "answer": stats["num_answer_steps"],
        "accepted": None,
        "seconds": round(seconds, 3),
    }
    if engine == "suffix":
        block = stats["speculative_decoding"]
        if block is None:
            raise BenchmarkError(
                "suffix: the response has no speculative_decoding block, so accepted "
                "tokens cannot be counted (see SpeculationStats.off)"
            )
        accepted = block["num_accepted_draft_tokens"]
        row |= {"reasoning": None, "answer": None, "accepted": accepted}
        return {**row, "steps": tokens - accepted}
    if engine == "ssr" and stats["mode"] != "ssr":
        raise BenchmarkError(f"ssr: the answer was not speculated: {stats['reason']}")
    return {**row, "steps": row["reasoning"] + row["answer"]}


def totals(rows: Mapping[str, Mapping[str, Row]]) -> dict[str, Row]:
    """Add up each engine's rows over the tasks that all of them answered."""
    common = {
        task
        for task in rows[ENGINES[0]]
        if all("tokens" in rows[engine].get(task, {}) for engine in ENGINES)
    }
    result = {}
    for engine in ENGINES:
        chosen = [rows[engine][task] for task in sorted(common)]
        result[engine] = {
            name: None
            if any(row[name] is None for row in chosen)
            else sum(row[name] for row in chosen)
            for name in ("tokens", "steps", "reasoning", "answer", "seconds")
        } | {"tasks": len(common)}
        result[engine] |= _rates(result[engine])
    return result


def _rates(row: Mapping[str, Any]) -> Row:
    """Return tokens per step and milliseconds per token; None where there are none."""
    tokens, steps, seconds = (row[name] for name in ("tokens", "steps", "seconds"))
    return {
        "tokens_per_step": tokens / steps if steps else None,
        "ms_per_token": 1e3 * seconds / tokens if tokens else None,
    }


def _chat_model(engine: str, args: argparse.Namespace) -> Any:
    from langchain_ssr import ChatSSR

    return ChatSSR(
        model=args.model,
        temperature=0,
        enable_thinking=True,
        thinking_budget=args.thinking_budget,
        max_tokens=args.max_tokens,
        speculation=engine == "ssr",
        engine_kwargs={"dtype": args.dtype, **BUILT_IN[engine].engine.arguments()},
    )


def _run_engine(
    engine: str, prompts: Mapping[str, str], report: Row, args: argparse.Namespace
) -> None:
    """Answer what one engine has not answered yet; save after each task."""
    from langchain_ssr.errors import ContextLengthError

    rows = report["rows"][engine]
    missing = [task for task in prompts if task not in rows]
    if not missing:
        return
    with _chat_model(engine, args) as llm:
        llm.warmup()
        llm.invoke("Hi", max_tokens=8, thinking_budget=4)  # the first is slower
        for task in missing:
            start = time.perf_counter()
            try:
                message = llm.invoke(prompts[task])
            except ContextLengthError:
                rows[task] = {"skipped": "prompt and output exceed the context"}
            else:
                rows[task] = row_of(engine, message, time.perf_counter() - start)
            write_json(args.json, report)
            print(_line(task, engine, rows[task]), flush=True)


def _load(args: argparse.Namespace) -> Row:
    """Return what OUT holds already, or an empty report.

    Raises:
        BenchmarkError: OUT is of another run, or no report.
    """
    names = ("model", "dtype", "thinking_budget", "max_tokens")
    settings = {name: getattr(args, name) for name in names}
    empty = {"settings": settings, "rows": {engine: {} for engine in ENGINES}}
    try:
        report: Row = json.loads(args.json.read_text(encoding="utf-8"))
        before, rows = report["settings"], report["rows"]
    except FileNotFoundError:
        return empty
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BenchmarkError(f"{args.json} is no report: {error!r}") from error
    if before != settings:
        raise BenchmarkError(
            f"{args.json} was made with {before}, not {settings}: delete it, or name "
            "another file"
        )
    return {"settings": settings, "rows": {**empty["rows"], **rows}}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when `--check` fails, 2 when it cannot run."""
    args = _parser().parse_args(argv)
    try:
        prompts = read_tasks(args.tasks, args.num)
        report = _load(args)
        if any(task not in report["rows"]["suffix"] for task in prompts):
            require_arctic()
        write_json(args.json, report)  # better now than after the first task
        print(_HEADER)
        for engine in ENGINES:
            _run_engine(engine, prompts, report, args)
        rows = {
            engine: {task: report["rows"][engine][task] for task in prompts}
            for engine in ENGINES
        }
        report["totals"] = totals(rows)
        write_json(args.json, report)
    except (BenchmarkError, SettingsError, ImportError) as error:
        print(f"compare_suffix: {error}", file=sys.stderr)
        return 2
    print(_table(rows, report["totals"]))
    ssr, suffix = (report["totals"][engine]["steps"] for engine in ("ssr", "suffix"))
    return 1 if args.check and ssr > suffix else 0


_COLUMNS = ("tokens", "steps", "reasoning", "answer", "seconds")
_RATES = {"tokens_per_step": "per step", "ms_per_token": "ms/token"}
_HEADER = f"{'task':16}{'engine':8}" + "".join(
    f"{name:>11}" for name in (*_COLUMNS, *_RATES.values())
)


def _line(task: str, engine: str, row: Row) -> str:
    start = f"{task:16}{engine:8}"
    if "skipped" in row:
        return f"{start}  skipped: {row['skipped']}"
    values = ("-" if row[name] is None else row[name] for name in _COLUMNS)
    cells = [f"{v:11.1f}" if isinstance(v, float) else f"{v:>11}" for v in values]
    rates = _rates(row).values()
    cells += [f"{'-':>11}" if rate is None else f"{rate:11.2f}" for rate in rates]
    return start + "".join(cells)


def _table(rows: Mapping[str, Mapping[str, Row]], sums: Mapping[str, Row]) -> str:
    """Return the tasks' rows side by side, and the totals."""
    lines = ["", _HEADER]
    for task in rows[ENGINES[0]]:
        lines += [_line(task, engine, rows[engine][task]) for engine in ENGINES]
    lines += [_line("total", engine, sums[engine]) for engine in ENGINES]
    skipped = len(rows[ENGINES[0]]) - sums[ENGINES[0]]["tasks"]
    if skipped:
        lines.append(f"{skipped} tasks were skipped and are not in the totals.")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare_suffix",
        description=__doc__,
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--tasks", type=Path, required=True, help="ClassEval as .json or .json.gz")
    add("--num", type=positive, default=10, help="tasks, from the first (default 10)")
    add("--thinking-budget", type=positive, default=300, help="default 300")
    add("--max-tokens", type=positive, default=700, help="default 700")
    add("--json", type=Path, required=True, metavar="OUT", help="results; resumed from")
    add("--model", default="smollm2", help="default smollm2")
    add("--dtype", default="auto", help="of the weights (default auto)")
    add("--check", action="store_true", help="exit 1 if SSR takes more steps in all")
    return parser


if __name__ == "__main__":
    sys.exit(main())
