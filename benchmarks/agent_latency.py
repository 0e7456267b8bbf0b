"""A code agent, plain and with SSR: seconds and steps of its turns and tasks.

    python -m benchmarks.agent_latency --json agent.json

The tasks are held-out agent loops of the demo model: write a class (or mend one), run
its tests, mend what they find, report. The agent is live: every turn depends on those
before it, and its tools really test what it wrote. The engines run one after the other,
greedy and in float32, so that both should do the same. Each task is saved at once, and
a run that finds OUT there goes on with what is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
)

from benchmarks.agent_figures import MODES, agent_markdown, compare
from benchmarks.agent_tasks import Workplace, tasks
from benchmarks.common import BenchmarkError, positive, write_json
from langchain_ssr.bench.asking import Asker, engines_of
from langchain_ssr.bench.figures import machine_of
from langchain_ssr.bench.items import Item, messages_to_json
from langchain_ssr.bench.modes import BUILT_IN, Engine
from langchain_ssr.bench.provenance import command_line, versions
from langchain_ssr.bench.record import Record
from langchain_ssr.demo.corpus.example import Example

MOST_TURNS = 10
_PROGRAM = "benchmarks.agent_latency"


def run_task(
    asker: Asker, mode: str, name: str, example: Example, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Let the agent do a task.

    Returns:
        `turns` (steps, tokens and tools of each; seconds in all, to the first draft and
        to the first answer token), their sums, and `success`: the file is right, and
        the agent has ended by itself.
    """
    place = Workplace.of(example)
    first = next(i for i, m in enumerate(example.messages) if m["role"] == "assistant")
    said: list[BaseMessage] = convert_to_messages(example.messages[:first])
    turns: list[dict[str, Any]] = []
    ended = False
    for turn in range(MOST_TURNS):
        item = Item(f"{name}-{turn}", "agent", messages_to_json(said), example.tools)
        answer = asker.ask(item, settings)
        record = Record.of(BUILT_IN[mode], item, 0, answer)
        message = answer.message
        turns.append(
            {
                "seconds": record.total,
                "first_draft": record.first_draft,
                "first_answer": record.first_answer,
                "steps": record.num_steps,
                "tokens": record.num_tokens,
                "tools": [call["name"] for call in message.tool_calls],
                "output": [record.reasoning, record.content, record.tool_calls],
            }
        )
        if not message.tool_calls:
            ended = not message.invalid_tool_calls
            break
        said.append(
            AIMessage(
                message.text,
                tool_calls=message.tool_calls,
                additional_kwargs=message.additional_kwargs,
            )
        )
        said += [
            ToolMessage(place.do(call["name"], call["args"]), tool_call_id=call["id"])
            for call in message.tool_calls
        ]
    failure = place.failure()
    return {
        "turns": turns,
        "seconds": sum(turn["seconds"] for turn in turns),
        "steps": sum(turn["steps"] for turn in turns),
        "success": ended and failure is None,
        "why": failure if ended else "it does not end",
    }


def _load(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what OUT holds already, or an empty report.

    Raises:
        BenchmarkError: If OUT is of another run, or no report.
    """
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before, _ = report["settings"], report["tasks"]
    except FileNotFoundError:
        return {"settings": settings, "tasks": {mode: {} for mode in MODES}}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BenchmarkError(f"{path} is no report: {error!r}") from error
    if before != settings:
        raise BenchmarkError(
            f"{path} was made with {before}: delete it, or name another"
        )
    return report


def run(
    report: dict[str, Any],
    path: Path,
    chosen: Mapping[str, Example],
    open_engine: Callable[[Engine], AbstractContextManager[Asker]],
) -> None:
    """Do what is missing in a report, and save it after each task."""
    settings = {"temperature": 0, "max_tokens": report["settings"]["max_tokens"]}
    for mode in MODES:
        done = report["tasks"][mode]
        missing = {name: task for name, task in chosen.items() if name not in done}
        if not missing:
            continue
        with open_engine(BUILT_IN[mode].engine) as asker:
            engines = report.setdefault("engines", {})
            engines[mode] = asker.info()
            report["machine"] = machine_of(engines)
            report["versions"] = versions()
            hi = Item("warm-up", "agent", [{"role": "user", "content": "Hi"}])
            asker.ask(hi, {**settings, "max_tokens": 48})
            for name, example in missing.items():
                done[name] = run_task(asker, mode, name, example, settings)
                report["date"] = datetime.now(UTC).isoformat(timespec="seconds")
                report["agent"] = compare(report["tasks"])
                write_json(path, report)
                print(f"{mode} {name}: {_line(done[name])}", flush=True)


def _line(told: Mapping[str, Any]) -> str:
    return (
        f"{len(told['turns'])} turns, {told['steps']} steps, {told['seconds']:.1f} s, "
        f"{told['why'] or 'right'}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if SSR succeeded less often, 2 when it cannot run."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PROGRAM}",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--json", type=Path, required=True, metavar="OUT", help="results; resumed from")
    add("--model", default="demo", help="default demo")
    add("--num", type=positive, default=20, help="tasks (default 20)")
    add("--seed", type=int, default=0, help="of the held-out stream (default 0)")
    add("--max-tokens", type=positive, default=2400, help="of a turn (default 2400)")
    add("--dtype", default="float32", help="of the weights (default float32)")
    args = parser.parse_args(argv)
    names = ("model", "seed", "max_tokens", "dtype")
    try:
        report = _load(args.json, {name: getattr(args, name) for name in names})
        chosen = tasks(args.num, args.seed)
        given = sys.argv[1:] if argv is None else argv
        report["command"] = command_line(["python", "-m", _PROGRAM, *given])
        run(report, args.json, chosen, engines_of(args.model, {"dtype": args.dtype}))
    except BenchmarkError as error:
        print(f"agent_latency: {error}", file=sys.stderr)
        return 2
    figures = report["agent"]
    print(agent_markdown(report))
    return int(figures["ssr"]["num_successes"] < figures["plain"]["num_successes"])


if __name__ == "__main__":
    sys.exit(main())
