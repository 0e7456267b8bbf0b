"""What SSR costs where it cannot help: paired rounds against a plain engine.

Both engines write text in which nothing comes back: sampled at a high temperature, and
without reasoning, so there is nothing to propose and nothing to draft. One engine rests
while the other works. Steps and tokens are the engines' own counts: a token that was
proposed, or a step that only drafted, shows.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from langchain_ssr.bench.intervals import interval
from langchain_ssr.bench.steps import DETAILS, StepLog, Steps, watch
from langchain_ssr.chat_model import ChatSSR

MODES = ("plain", "ssr")
PROMPT = "Name things that have nothing to do with each other."
TEMPERATURE = 3.0
"""So high that hardly any two tokens follow each other twice."""
LEAST = 0.97
"""The aim: the interval of the time ratio holds 1, or lies above this."""
LEAST_ROUNDS = 20
"""Of fewer rounds, the interval is so wide that it holds 1 by chance."""
WARM_UP = 2
"""Rounds that are not counted."""


def measure(
    model: str,
    *,
    rounds: int = LEAST_ROUNDS,
    max_tokens: int = 128,
    engine_kwargs: dict[str, Any] | None = None,
    report: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Time both engines in turns.

    Args:
        model: The model.
        rounds: How often each engine answers.
        max_tokens: Length of an answer, in tokens.
        engine_kwargs: Settings of vLLM, for both.
        report: Gets a line for each round.

    Returns:
        `rounds` with the seconds, steps and scheduled tokens of each mode; `totals`.
    """
    seconds: list[dict[str, float]] = []
    steps: list[dict[str, Steps]] = []
    with ExitStack() as running:
        engines = {
            mode: running.enter_context(
                ChatSSR(
                    model=model,
                    speculation=mode == "ssr",
                    engine_kwargs={**(engine_kwargs or {}), **DETAILS},
                )
            )
            for mode in MODES
        }
        logs = {mode: watch(engine) for mode, engine in engines.items()}
        for number in range(-WARM_UP, rounds):
            told = {
                mode: _ask(engines[mode], logs[mode], max_tokens, seed=number)
                for mode in (MODES if number % 2 else MODES[::-1])
            }
            if number < 0:
                continue
            seconds.append({mode: told[mode][0] for mode in MODES})
            steps.append({mode: told[mode][1] for mode in MODES})
            ratio = told["plain"][0] / told["ssr"][0]
            report(f"round {number + 1}/{rounds}: plain over ssr {ratio:.3f}")
    return {
        "model": model,
        "max_tokens": max_tokens,
        "rounds": [
            {"seconds": s, **_by_count(n)} for s, n in zip(seconds, steps, strict=True)
        ],
        "totals": totals(seconds, steps),
    }


def totals(
    seconds: list[dict[str, float]], steps: list[dict[str, Steps]]
) -> dict[str, Any]:
    """Sum up the rounds.

    Args:
        seconds: Of each round, by mode.
        steps: The engines' steps in each round, by mode.

    Returns:
        The median of plain seconds over SSR's, its 95 % interval and how wide that is;
        whether steps and scheduled tokens were the same in each round, and some;
        whether the aim is reached.
    """
    ratios = [each["plain"] / each["ssr"] for each in seconds]
    low, high = interval(ratios)
    plain, ssr = ([each[mode] for each in steps] for mode in MODES)
    counted = all(each.num_steps and each.num_scheduled_tokens for each in plain)
    return {
        "median_time_ratio": statistics.median(ratios),
        "interval": [low, high],
        "interval_width": high - low,
        "same_steps": counted
        and [each.num_steps for each in plain] == [each.num_steps for each in ssr],
        "same_scheduled_tokens": counted
        and [each.num_scheduled_tokens for each in plain]
        == [each.num_scheduled_tokens for each in ssr],
        "ok": high >= 1 > low or low > LEAST,
    }


def _by_count(steps: dict[str, Steps]) -> dict[str, dict[str, int]]:
    """Return each count by mode."""
    names = [field.name for field in dataclasses.fields(Steps)]
    return {name: {m: getattr(steps[m], name) for m in MODES} for name in names}


def _ask(llm: ChatSSR, log: StepLog, max_tokens: int, seed: int) -> tuple[float, Steps]:
    before, start = log.total, time.perf_counter()
    llm.invoke(
        PROMPT,
        temperature=TEMPERATURE,
        seed=seed + WARM_UP,
        max_tokens=max_tokens,
        enable_thinking=False,
        extra_body={"ignore_eos": True},
    )
    return time.perf_counter() - start, log.total - before
