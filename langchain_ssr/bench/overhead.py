"""What SSR costs where it cannot help: paired rounds against a plain engine.

Both engines write text in which nothing comes back: sampled at a high temperature, and
without reasoning, so there is nothing to propose and nothing to draft. One engine rests
while the other works.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from langchain_ssr.bench.intervals import interval
from langchain_ssr.chat_model import ChatSSR

MODES = ("plain", "ssr")
PROMPT = "Name things that have nothing to do with each other."
TEMPERATURE = 2.0
LEAST = 0.97
"""The aim: the interval of the time ratio holds 1, or lies above this."""
WARM_UP = 2
"""Rounds that are not counted."""


def measure(
    model: str,
    *,
    rounds: int = 20,
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
        `rounds` with the seconds and steps of each mode, and `totals`: the median of
        plain seconds over SSR's, its 95 % interval, and whether the aim is reached.
    """
    seconds: list[dict[str, float]] = []
    steps: list[dict[str, int]] = []
    with ExitStack() as running:
        engines = {
            mode: running.enter_context(
                ChatSSR(
                    model=model,
                    speculation=mode == "ssr",
                    engine_kwargs=engine_kwargs or {},
                )
            )
            for mode in MODES
        }
        for number in range(-WARM_UP, rounds):
            told = {
                mode: _ask(engines[mode], max_tokens, seed=number)
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
            {"seconds": s, "steps": n} for s, n in zip(seconds, steps, strict=True)
        ],
        "totals": totals(seconds, steps),
    }


def totals(
    seconds: list[dict[str, float]], steps: list[dict[str, int]]
) -> dict[str, Any]:
    """Sum up the rounds.

    Args:
        seconds: Of each round, by mode.
        steps: Engine steps of each round, by mode.
    """
    ratios = [each["plain"] / each["ssr"] for each in seconds]
    low, high = interval(ratios)
    return {
        "median_time_ratio": statistics.median(ratios),
        "interval": [low, high],
        "same_steps": all(each["plain"] == each["ssr"] for each in steps),
        "ok": high >= 1 > low or low > LEAST,
    }


def _ask(llm: ChatSSR, max_tokens: int, seed: int) -> tuple[float, int]:
    start = time.perf_counter()
    message = llm.invoke(
        PROMPT,
        temperature=TEMPERATURE,
        seed=seed + WARM_UP,
        max_tokens=max_tokens,
        enable_thinking=False,
        extra_body={"ignore_eos": True},
    )
    seconds = time.perf_counter() - start
    told = message.response_metadata["speculation"]
    return seconds, told["num_reasoning_steps"] + told["num_answer_steps"]
