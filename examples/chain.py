"""A chain of two calls, and what speculation did in both.

A table goes from CSV to Markdown and back. Run it with `python examples/chain.py`
(`--json` for machines, `--model` for another model).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from langchain_ssr import ChatSSR, SpeculationTotals, get_speculation_callback

TABLE = """\
name,price,color
copper kettle,24.5,red
garden lamp,18.25,green
wooden bench,95,brown"""
TO_MARKDOWN = ChatPromptTemplate.from_template(
    "Turn the following CSV into a table in Markdown. Answer with the Markdown only, "
    "no fence.\n\n{csv}"
)
TO_CSV = ChatPromptTemplate.from_template(
    "Turn the following table into CSV. Answer with the CSV only, no fence."
    "\n\n{markdown}"
)


def make_chain(llm: ChatSSR) -> Runnable[dict[str, str], dict[str, str]]:
    """Make a chain from `{"csv": ...}` to that, `markdown` and `again`."""
    to_markdown = TO_MARKDOWN | llm | StrOutputParser()
    to_csv = TO_CSV | llm | StrOutputParser()
    return RunnablePassthrough.assign(markdown=to_markdown).assign(again=to_csv)


def run(llm: ChatSSR, csv: str = TABLE) -> dict[str, Any]:
    """Send a table there and back.

    Returns:
        The table in each form, whether it came back as it was, and the totals of both
        calls.
    """
    with get_speculation_callback() as callback:
        tables = make_chain(llm).invoke({"csv": csv})
    same = tables["again"].strip() == csv.strip()
    return {**tables, "same": same, "total": callback.total.to_dict()}


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    print(told["markdown"])
    print(f"\n{told['again']}\n")
    print("the table came back " + ("unchanged" if told["same"] else "changed"))
    print(f"total: {SpeculationTotals.model_validate(told['total'])}")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and run the chain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1500) as llm:
        told = {"model": arguments.model, **run(llm)}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
