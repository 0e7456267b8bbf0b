"""The demo: two prompts answered by a real model, streamed."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.wire.requests import REASONING_KEY

PROMPTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("plain answer", "Name three uses of a paper clip.", {}),
    (
        "thinking first",
        "Write a Python class for a stack with push, pop and peek.",
        {"enable_thinking": True, "thinking_budget": 48},
    ),
)
"""Title, prompt, and settings of each call."""


def run(out: Console, model: str, max_tokens: int) -> dict[str, Any]:
    """Ask the model and print what it says as it comes.

    Args:
        out: A rich console.
        model: The model's name.
        max_tokens: Longest output of one call, in tokens.

    Returns:
        The figures that were printed: tokens and seconds for each prompt.
    """
    rows = []
    with ChatSSR(model=model, temperature=0, max_tokens=max_tokens) as llm:
        info = llm.engine_info()
        out.print(
            f"vLLM {info['vllm_version']} on {info['device']}, {info['dtype']}, "
            f"context {info['max_model_len']} tokens",
            highlight=False,
        )
        for title, prompt, settings in PROMPTS:
            out.print(f"\n[bold]{title}[/]: {prompt}", highlight=False)
            rows.append(
                {"title": title, "prompt": prompt} | _ask(out, llm, prompt, settings)
            )
    table = Table(
        "prompt", "prompt tokens", "reasoning", "answer", "seconds", "tokens/s"
    )
    for row in rows:
        table.add_row(
            row["title"],
            str(row["input_tokens"]),
            str(row["reasoning_tokens"]),
            str(row["answer_tokens"]),
            f"{row['seconds']:.1f}",
            f"{row['tokens_per_second']:.1f}",
        )
    out.print()
    out.print(table)
    return {"engine": info, "prompts": rows}


def _ask(
    out: Console, llm: ChatSSR, prompt: str, settings: dict[str, Any]
) -> dict[str, Any]:
    start = time.perf_counter()
    first = None
    whole = None
    for chunk in llm.stream(prompt, **settings):
        reasoning = chunk.additional_kwargs.get(REASONING_KEY, "")
        text = chunk.text
        if first is None and (reasoning or text):
            first = time.perf_counter() - start
        if reasoning:
            out.print(reasoning, end="", style="dim", markup=False, highlight=False)
        if text:
            out.print(text, end="", markup=False, highlight=False)
        whole = chunk if whole is None else whole + chunk
    seconds = time.perf_counter() - start
    out.print()
    assert whole is not None  # noqa: S101 - a stream always ends in a final chunk
    usage: dict[str, Any] = dict(whole.usage_metadata or {})
    output = usage.get("output_tokens", 0)
    reasoning_tokens = usage.get("output_token_details", {}).get("reasoning", 0)
    return {
        "input_tokens": usage.get("input_tokens", 0),
        "reasoning_tokens": reasoning_tokens,
        "answer_tokens": output - reasoning_tokens,
        "seconds_to_first_token": first,
        "seconds": seconds,
        "tokens_per_second": output / seconds,
        "finish_reason": whole.response_metadata["finish_reason"],
    }
