"""What self-speculation saves on the demo model's held-out prompts, in engine steps.

Each prompt is answered by a plain engine and by one with SSR, both greedy and in
float32, so that their answers can be compared. The steps that are compared are those of
the engines: one that only drafts counts, too.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage

from langchain_ssr.bench.steps import DETAILS, Steps, watch
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.demo.asking import history
from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.wire.requests import REASONING_KEY

LONG, SHORT = ("code", "data"), ("short",)
"""Skills with long answers, and those where drafting cannot pay."""
Row = dict[str, Any]
Told = tuple[AIMessage, float, Steps]
"""An answer, its seconds and the engine's steps."""


def held_out(skills: Iterable[str], num: int, seed: int) -> list[Example]:
    """Take held-out conversations that consist of one question and one answer.

    Args:
        skills: Whose conversations.
        num: How many.
        seed: Of the stream of conversations.
    """
    chosen = set(skills)
    stream = (conversation(seed, index, "heldout") for index in itertools.count())
    wanted = (
        example
        for example in stream
        if example.skill in chosen
        and example.enable_thinking
        and len(example.checks) == 1
        and not example.tools
    )
    return list(itertools.islice(wanted, num))


def measure(
    num: int,
    *,
    seed: int = 0,
    model: str = "demo",
    report: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Answer held-out prompts with both engines.

    Args:
        num: Prompts with long answers; half as many with short ones come on top.
        seed: Of the stream of conversations.
        model: The model.
        report: Gets a line for each answer.

    Returns:
        `rows`, one for each prompt, and `totals`.
    """
    examples = held_out(LONG, num, seed) + held_out(SHORT, (num + 1) // 2, seed)
    answers = {
        mode: _ask_all(mode, examples, model, report) for mode in ("plain", "ssr")
    }
    rows = [
        _row(example, plain, ssr)
        for example, plain, ssr in zip(
            examples, answers["plain"], answers["ssr"], strict=True
        )
    ]
    return {"model": model, "seed": seed, "rows": rows, "totals": totals(rows)}


def _ask_all(
    mode: str,
    examples: Sequence[Example],
    model: str,
    report: Callable[[str], None],
) -> list[Told]:
    answers = []
    with ChatSSR(
        model=model,
        temperature=0,
        speculation=mode == "ssr",
        engine_kwargs={"dtype": "float32", **DETAILS},
    ) as llm:
        log = watch(llm)
        for number, example in enumerate(examples, 1):
            before, start = log.total, time.perf_counter()
            message = llm.invoke(history(example, 0))
            seconds = time.perf_counter() - start
            answers.append((message, seconds, log.total - before))
            told = message.response_metadata["speculation"]
            report(
                f"{mode} {number}/{len(examples)} {example.kind}: "
                f"{told['num_answer_tokens']} answer tokens in "
                f"{told['num_answer_steps']} steps, {seconds:.1f} s"
            )
    return answers


def _row(example: Example, plain: Told, ssr: Told) -> Row:
    told = ssr[0].response_metadata["speculation"]
    return {
        "skill": example.skill,
        "kind": example.kind,
        "same_answer": _texts(plain[0]) == _texts(ssr[0]),
        "num_reasoning_tokens": told["num_reasoning_tokens"],
        "num_answer_tokens": told["num_answer_tokens"],
        "num_reasoning_steps": told["num_reasoning_steps"],
        "num_answer_steps": told["num_answer_steps"],
        "num_engine_steps": ssr[2].num_steps,
        "num_plain_engine_steps": plain[2].num_steps,
        "num_drafts": len(told["drafts"]),
        "plain_seconds": plain[1],
        "ssr_seconds": ssr[1],
        "sources": told["sources"],
    }


def _texts(message: AIMessage) -> tuple[Any, Any]:
    return message.additional_kwargs.get(REASONING_KEY), message.content


def totals(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up what was measured.

    Args:
        rows: The rows of both kinds of prompts.

    Returns:
        For long answers the mean over prompts of tokens per answer step, and all tokens
        over all steps; for short ones how many prompts took the engine more steps than
        the plain one; the engines' steps on all prompts.
    """
    long = [row for row in rows if row["skill"] in LONG and row["num_answer_steps"]]
    short = [row for row in rows if row["skill"] in SHORT]
    per_prompt = [row["num_answer_tokens"] / row["num_answer_steps"] for row in long]
    steps = sum(row["num_answer_steps"] for row in long)
    return {
        "num_prompts": len(rows),
        "num_same_answer": sum(row["same_answer"] for row in rows),
        "mean_tokens_per_answer_step": statistics.fmean(per_prompt) if long else None,
        "tokens_per_answer_step": (
            sum(row["num_answer_tokens"] for row in long) / steps if steps else None
        ),
        "num_short_prompts": len(short),
        "num_short_with_more_steps": sum(
            row["num_engine_steps"] > row["num_plain_engine_steps"] for row in short
        ),
        "num_engine_steps": sum(row["num_engine_steps"] for row in rows),
        "num_plain_engine_steps": sum(row["num_plain_engine_steps"] for row in rows),
    }


def problems(totals: Mapping[str, Any], at_least: float | None) -> list[str]:
    """Say what is not as it must be.

    Args:
        totals: What was measured.
        at_least: Least mean of tokens per answer step; None if any will do.
    """
    found = []
    if other := totals["num_prompts"] - totals["num_same_answer"]:
        found.append(f"{other} answers are not the plain engine's")
    if more := totals["num_short_with_more_steps"]:
        found.append(f"{more} short answers took more steps")
    if not 0 < totals["num_engine_steps"] < totals["num_plain_engine_steps"]:
        found.append("no step was saved")
    mean = totals["mean_tokens_per_answer_step"] or 0.0
    if at_least is not None and mean < at_least:
        found.append(f"{mean:.2f} tokens per answer step, not {at_least:.2f}")
    return found
