"""Evaluates the demo model: `python -m langchain_ssr.demo.evaluate --json OUT`.

It answers held-out conversations greedily, through `ChatSSR` and with speculation as a
user has it. A turn is asked for after the turns that the corpus has before it, so that
it is judged alone; a conversation is right if all its turns are.

Exit codes: 0 if all is as `--min` asks, 1 if not or if training has seen a held-out
prompt, 2 for a wrong command or model, 130 after Ctrl-C (what is there is reported).
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import hashlib
import json
import shlex
import sys
import time
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.exceptions import ModelError

from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.demo import heldout, results
from langchain_ssr.demo.asking import ask, message_of
from langchain_ssr.demo.corpus.example import Example, Skill
from langchain_ssr.demo.grading import grade, is_answered
from langchain_ssr.models import resolve

SKILLS: tuple[str, ...] = typing.get_args(Skill)
_COMMAND = "python -m langchain_ssr.demo.evaluate"
_AT_ONCE = 32
"""Requests that the engine serves at a time."""
_JUDGES = 2
"""Answers that are judged at a time; a judge may run a process."""
_REPORT_EVERY = 40
_WRONG, _INTERRUPTED = 2, 130


async def evaluate(
    llm: ChatSSR, chosen: Sequence[tuple[int, Example]], graded: list[results.Graded]
) -> None:
    """Ask for every turn of some conversations and judge it.

    Args:
        llm: The model.
        chosen: The conversations, each with its index.
        graded: Takes a conversation when all its turns are judged, so that it holds
            what is done if this is cancelled.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    started = time.monotonic()

    async def one(index: int, example: Example) -> None:
        async with gate:
            turns = [
                await _one_turn(llm, example, turn, pool)
                for turn in range(len(example.checks))
            ]
        graded.append(results.Graded(index, example.skill, example.kind, turns))
        if len(graded) % _REPORT_EVERY == 0:
            line = results.one_line(results.summarize(graded))
            seconds = time.monotonic() - started
            print(f"{len(graded)}/{len(chosen)}, {seconds:.0f} s: {line}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(_JUDGES) as pool:
        async with asyncio.TaskGroup() as group:
            for index, example in chosen:
                group.create_task(one(index, example))


async def _one_turn(
    llm: ChatSSR, example: Example, turn: int, pool: concurrent.futures.Executor
) -> results.Turn:
    answer = await ask(llm, example, turn)
    message = message_of(answer)
    loop = asyncio.get_running_loop()
    reason = await loop.run_in_executor(pool, grade, example, turn, message)
    too_long = answer.response_metadata["finish_reason"] == "length"
    stats = answer.response_metadata["speculation"]
    return results.Turn(
        "the output is too long" if too_long else reason,
        too_long or (bool(message["reasoning"]) and not is_answered(message)),
        stats["num_reasoning_tokens"] + stats["num_answer_tokens"],
        stats["num_reasoning_steps"] + stats["num_answer_steps"],
        message,
    )


def training_of(folder: Path) -> dict[str, Any]:
    """Read how a model was trained: `training.json`, as `train.export` writes it.

    Args:
        folder: The model's folder.

    Returns:
        `seed` and `next_index` (how many conversations training has seen) and what
        else is there; empty if the file is missing.
    """
    file = folder / "training.json"
    if not file.is_file():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def sha256_of(folder: Path) -> str | None:
    """Return the digest of a model's weights, as hexadecimal digits."""
    file = folder / "model.safetensors"
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate the demo model from the command line."""
    parser = _parser()
    args = parser.parse_args(argv)
    if missing := set(args.min) - {*args.skills, results.RUNAWAY}:
        parser.error(f"--min: {', '.join(sorted(missing))} is not evaluated")
    if args.json and not args.json.parent.is_dir():
        parser.error(f"--json: there is no folder {args.json.parent}")
    try:
        folder = Path(resolve(args.model).path)
    except ModelError as error:
        parser.error(str(error))
    training = training_of(folder)
    size = args.corpus_size or training.get("next_index")
    if not size:
        parser.error(f"{folder} has no training.json; give --corpus-size")
    print(f"Making the {size:,} conversations of the training again ...", flush=True)
    seen = heldout.read_training(training.get("seed", args.seed), size)
    held_out = heldout.choose(args.seed, args.num, args.skills, seen)
    leakage = heldout.report(held_out, seen)
    _print_leakage(leakage)
    figures: dict[str, Any] = {
        "command": f"{_COMMAND} {shlex.join(sys.argv[1:] if argv is None else argv)}",
        "model": args.model,
        "sha256": sha256_of(folder),
        "training": training,
        "seed": args.seed,
        "num": args.num,
        "max_tokens": args.max_tokens,
        "speculation": args.speculation,
        "leakage": leakage,
    }
    code = 1 if held_out.leaked else 0
    if not (code or args.check_leakage):
        code = _evaluate(args, held_out, figures)
    if args.json:
        text = json.dumps(figures, indent=1, ensure_ascii=False)
        args.json.write_text(f"{text}\n", encoding="utf-8")
    return code


def _evaluate(
    args: argparse.Namespace, held_out: heldout.HeldOut, figures: dict[str, Any]
) -> int:
    """Run the evaluation, print its outcome and add it to the figures."""
    graded: list[results.Graded] = []
    interrupted = False
    started = time.monotonic()
    try:
        with ChatSSR(
            model=args.model,
            temperature=0,
            max_tokens=args.max_tokens,
            speculation=args.speculation,
            engine_kwargs={"dtype": "float32"},
        ) as llm:
            llm.warmup()
            started = time.monotonic()
            asyncio.run(evaluate(llm, held_out.chosen, graded))
    except KeyboardInterrupt:
        interrupted = True
    except ModelError as error:  # the engine does not start
        print(error, file=sys.stderr)
        return _WRONG
    summary = results.summarize(graded)
    short = results.shortfalls(summary, args.min)
    figures |= {
        "seconds": round(time.monotonic() - started, 1),
        "interrupted": interrupted,
        "min": args.min,
        "shortfalls": short,
        **summary,
    }
    _print_summary(figures)
    if interrupted:
        return _INTERRUPTED
    return 1 if short else 0


def _print_leakage(leakage: dict[str, Any]) -> None:
    shares = ", ".join(f"{k} {v:.3f}" for k, v in leakage["new_words"].items())
    print(
        f"{leakage['num_held_out_conversations']} held-out prompts, "
        f"{leakage['num_training_conversations']} training conversations: "
        f"{len(leakage['leaked'])} prompts are in both; "
        f"{len(leakage['excluded'])} short questions without names were left out"
    )
    print(f"Prompts with a word that is in no training conversation: {shares}")
    for entry in leakage["leaked"]:
        print(f"LEAKED {entry['index']} ({entry['kind']}): {entry['prompt'][:200]}")


def _print_summary(figures: dict[str, Any]) -> None:
    for skill, count in figures["skills"].items():
        turns = count["turns"]
        print(
            f"{skill:>6}: {count['accuracy']:.3f} of {count['of']} conversations "
            f"are right, {turns['right']}/{turns['of']} turns"
        )
        for kind, part in count["kinds"].items():
            print(f"{'':8}{kind}: {part['right']}/{part['of']}")
    runaway = figures[results.RUNAWAY]
    print(f"{results.RUNAWAY}: {runaway['turns']} of {runaway['of']} turns")
    print(
        f"{figures['num_tokens']} tokens in {figures['num_steps']} steps, "
        f"{figures['seconds']:.0f} s"
    )
    for line in figures["shortfalls"]:
        print(f"NOT ENOUGH {line}")
    if figures["interrupted"]:
        print("Interrupted: these are the conversations that were done.")


def _minimum(text: str) -> dict[str, float]:
    try:
        return results.parse_minimum(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _skills(text: str) -> list[str]:
    skills = text.split(",")
    if unknown := set(skills) - set(SKILLS):
        raise argparse.ArgumentTypeError(f"there is no skill {min(unknown)!r}")
    return skills


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_COMMAND,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--model", default="demo", help="name or folder (default demo)")
    add("--seed", type=int, default=1, help="of the held-out stream (default 1)")
    add("--num", type=_positive, default=200, help="conversations of each skill (200)")
    add("--skills", type=_skills, default=list(SKILLS), help="some of them, by comma")
    add("--min", type=_minimum, default={}, help="code=0.9,runaway=0: what is asked")
    add("--json", type=Path, help="also write all figures here")
    add("--max-tokens", type=_positive, default=2400, help="longest output (2400)")
    add(
        "--speculation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draft and propose tokens, as is usual",
    )
    add(
        "--check-leakage",
        action="store_true",
        help="only prove that training has not seen the held-out prompts",
    )
    add(
        "--corpus-size",
        type=_positive,
        help="conversations of the training (default: as its training.json says)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
