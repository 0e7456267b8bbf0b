"""The demo: prompts answered by a plain engine, and then with self-speculation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from langchain_ssr.callbacks import DraftText, get_speculation_callback
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.demo.prompts import Prompt, prompts_for
from langchain_ssr.rendering.page import page
from langchain_ssr.stats import SpeculationStats
from langchain_ssr.wire.requests import REASONING_KEY

ENGINE = {"dtype": "float32", "max_model_len": 4096}
"""In float32 the two engines' answers can be compared token by token."""
_COMPARED = ("reasoning", "content", "tool_calls")


def run(
    out: Console, model: str, max_tokens: int, *, details: bool = False
) -> dict[str, Any]:
    """Answer the prompts twice and print everything as it comes.

    Args:
        out: Where to print.
        model: The model's name.
        max_tokens: Longest output of one call, in tokens.
        details: Whether the statistics hold what `write_html` shows.

    Returns:
        What the closing table shows, for each prompt.
    """
    answers: dict[str, list[dict[str, Any]]] = {}
    info: dict[str, Any] = {}
    for mode in ("plain", "ssr"):
        settings: dict[str, Any] = {
            "model": model,
            "temperature": 0,
            "max_tokens": max_tokens,
            "speculation": mode == "ssr",
            "engine_kwargs": ENGINE,
            "speculation_stats": "detailed" if details else "summary",
        }
        with ChatSSR(**settings) as llm:
            info = llm.engine_info()
            out.rule(f"{mode}: vLLM {info['vllm_version']} on {info['device']}")
            answers[mode] = [_ask(out, llm, prompt) for prompt in prompts_for(model)]
    rows = []
    for plain, ssr in zip(answers["plain"], answers["ssr"], strict=True):
        same = all(plain[name] == ssr[name] for name in _COMPARED)
        rows.append({"plain": plain, "ssr": ssr, "same_answer": same})
    _show_table(out, rows)
    return {"engine": info, "prompts": rows}


def write_html(path: Path, figures: dict[str, Any]) -> None:
    """Write a page that shows where each part of the answers came from.

    Args:
        path: The file.
        figures: What `run` returned, with details.
    """
    parts: list[SpeculationStats | tuple[str, str]] = []
    for row in figures["prompts"]:
        ssr = row["ssr"]
        parts += [
            (ssr["title"], ssr["prompt"]),
            SpeculationStats.model_validate(ssr["speculation"]),
        ]
    html = page("langchain-ssr demo", parts)
    path.write_text(html, encoding="utf-8")


def _ask(out: Console, llm: ChatSSR, prompt: Prompt) -> dict[str, Any]:
    """Stream one answer: thinking, beside it the early draft, then the answer."""
    lines = _Lines(out)

    def show_draft(draft: DraftText) -> None:
        lines.add(f"draft {draft.index + 1}", draft.text, "cyan")

    out.print(f"\n{prompt.title}: {prompt.text}", style="bold", markup=False)
    settings = dict(prompt.settings)
    if prompt.tools:
        settings["tools"] = list(prompt.tools)
    start = time.perf_counter()
    first_answer = None
    whole = None
    with get_speculation_callback(on_draft=show_draft):
        for chunk in llm.stream(prompt.text, stream_drafts=True, **settings):
            reasoning = chunk.additional_kwargs.get(REASONING_KEY, "")
            if reasoning:
                lines.add("think", reasoning, "dim")
            called = "".join(
                (call["name"] or "") + (call["args"] or "")
                for call in chunk.tool_call_chunks
            )
            if first_answer is None and (chunk.text or called):
                first_answer = time.perf_counter() - start
                lines.flush()
            lines.add("answer", chunk.text, "")
            lines.add("call", called, "")
            whole = chunk if whole is None else whole + chunk
    seconds = time.perf_counter() - start
    lines.flush()
    assert whole is not None  # noqa: S101 - a stream always ends in a final chunk
    return {
        "title": prompt.title,
        "prompt": prompt.text,
        "reasoning": whole.additional_kwargs.get(REASONING_KEY, ""),
        "content": whole.text,
        "tool_calls": [
            {name: call[name] for name in ("name", "args")} for call in whole.tool_calls
        ],
        "seconds": seconds,
        "seconds_to_answer": first_answer,
        "speculation": whole.response_metadata["speculation"],
    }


class _Lines:
    """Prints texts that are written at the same time, a whole line at once."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._open: dict[str, tuple[str, str]] = {}

    def add(self, label: str, text: str, style: str) -> None:
        """Add text to a label's line; print the lines that it completes."""
        before, _ = self._open.get(label, ("", ""))
        *whole, rest = (before + text).split("\n")
        for line in whole:
            self._print(label, line, style)
        self._open[label] = (rest, style)

    def flush(self) -> None:
        """Print the lines that have begun."""
        for label, (rest, style) in self._open.items():
            if rest:
                self._print(label, rest, style)
        self._open.clear()

    def _print(self, label: str, line: str, style: str) -> None:
        text = f"{label:>7} | {line}"
        self._out.print(text, style=style, markup=False, highlight=False)


def _show_table(out: Console, rows: list[dict[str, Any]]) -> None:
    table = Table(title="tokens/steps of a plain engine, and with self-speculation")
    for heading in ("prompt", "engine", "thinking", "answer", "seconds", "same"):
        table.add_column(heading, no_wrap=True)
    table.add_column("accepted by source")
    for row in rows:
        for mode in ("plain", "ssr"):
            one = row[mode]
            told = one["speculation"]
            table.add_row(
                one["title"] if mode == "plain" else "",
                mode,
                _tokens_in_steps(told, "reasoning"),
                _tokens_in_steps(told, "answer"),
                f"{one['seconds']:.1f}",
                "" if mode == "plain" else ("yes" if row["same_answer"] else "no"),
                _accepted(told),
            )
    out.print()
    out.print(table)


def _tokens_in_steps(told: dict[str, Any], phase: str) -> str:
    tokens, steps = told[f"num_{phase}_tokens"], told[f"num_{phase}_steps"]
    return f"{tokens}/{steps}"


def _accepted(told: dict[str, Any]) -> str:
    counts = {
        name: source["num_accepted_draft_tokens"]
        for name, source in told["sources"].items()
    }
    return ", ".join(f"{name} {n}" for name, n in counts.items() if n) or "-"
