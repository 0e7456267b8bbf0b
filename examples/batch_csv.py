"""Answers a column of a CSV file, several rows at once, with a progress bar.

Run it with `python examples/batch_csv.py`, or on a file of your own with
`--file IN.csv --column NAME --out OUT.csv`. The bar needs rich, which comes with
`langchain-ssr[cli]`.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from langchain_ssr import ChatSSR, SpeculationTotals, get_speculation_callback

QUESTIONS = Path(__file__).parent / "data" / "questions.csv"
ADDED = ("answer", "num_reasoning_tokens", "num_saved_steps", "error")


def read(file: Path, column: str) -> list[dict[str, str]]:
    """Read the rows of a CSV file.

    Raises:
        ValueError: If it has no such column, or one that would be overwritten.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        names = reader.fieldnames or []
        if column not in names:
            raise ValueError(f"{file} has no column {column!r}, but {', '.join(names)}")
        if taken := sorted(set(ADDED) & set(names)):
            raise ValueError(f"{file} has a column {taken[0]!r} already")
        return list(reader)


def write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows to a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0] if rows else ADDED)
        writer.writeheader()
        writer.writerows(rows)


def run(
    llm: ChatSSR,
    rows: Sequence[dict[str, str]],
    column: str = "question",
    *,
    at_once: int = 8,
    watch: Callable[..., Any] = lambda done, **_: done,
) -> dict[str, Any]:
    """Answer each row. One that fails is no reason to lose the others.

    Args:
        llm: The model.
        rows: Rows of a table.
        column: The column that holds the questions.
        at_once: Most requests at once; they share the engine's steps.
        watch: Wraps the iterator of finished rows, as a progress bar does.

    Returns:
        The rows with what `ADDED` names, in the order that they came in, and totals.
    """
    answered: list[dict[str, Any]] = [{**row, **dict.fromkeys(ADDED)} for row in rows]
    questions = [row[column] for row in rows]
    with get_speculation_callback() as callback:
        done = llm.batch_as_completed(
            questions, {"max_concurrency": at_once}, return_exceptions=True
        )
        for index, message in watch(done, total=len(rows)):
            if isinstance(message, Exception):
                answered[index]["error"] = f"{type(message).__name__}: {message}"
                continue
            counts = SpeculationTotals.of_messages([message])
            answered[index] |= {
                "answer": message.text.strip(),
                "num_reasoning_tokens": counts.num_reasoning_tokens,
                "num_saved_steps": counts.num_saved_steps,
            }
    return {"rows": answered, "total": callback.total.to_dict()}


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and answer the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--file", type=Path, default=QUESTIONS, help="a CSV file")
    parser.add_argument("--column", default="question", help="what to answer")
    parser.add_argument("--out", type=Path, help="write the answers to this CSV file")
    parser.add_argument("--at-once", type=int, default=8, help="most rows at once")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    try:
        rows = read(arguments.file, arguments.column)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    console = Console(stderr=True)
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1000) as llm:
        told = run(
            llm,
            rows,
            arguments.column,
            at_once=arguments.at_once,
            watch=lambda done, total: track(
                done, "answering", total=total, console=console
            ),
        )
    if arguments.out:
        write(arguments.out, told["rows"])
    if arguments.json:
        print(json.dumps({"model": arguments.model, **told}, indent=2))
    else:
        for row in told["rows"]:
            print(f"{row[arguments.column]}\n  {row['answer'] or row['error']}")
        print(f"total: {SpeculationTotals.model_validate(told['total'])}")


if __name__ == "__main__":
    main()
