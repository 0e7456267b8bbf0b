"""Moving from ChatOpenAI: its settings, on an engine in this process or a server.

Needs langchain-openai. Run it with `python examples/from_chat_openai.py` (`--base-url`
for a server, `--model` for another model, `--json` for machines).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from langchain_openai import ChatOpenAI

from langchain_ssr import ChatSSR, SpeculationTotals

QUESTION = "Does the list Oslo, Lima, Porto contain Bern?"


def before() -> ChatOpenAI:
    """Make the model as it was: a vLLM server by OpenAI's client."""
    return ChatOpenAI(
        model="Qwen/Qwen3-4B",
        base_url="http://localhost:8000/v1",
        api_key="EMPTY",
        temperature=0,
        max_tokens=1000,
        extra_body={"top_k": 20},
    )


def after(old: ChatOpenAI, model: str, base_url: str = "") -> ChatSSR:
    """Make a `ChatSSR` of the same settings.

    Args:
        old: The model as it was.
        model: The model to use instead.
        base_url: Where its server is; `""` for an engine in this process.
    """
    return ChatSSR.from_chat_openai(old, model=model, base_url=base_url)


def run(llm: ChatSSR, question: str = QUESTION) -> dict[str, Any]:
    """Ask a question.

    Returns:
        What an answer holds that it did not before: reasoning and statistics.
    """
    answer = llm.invoke(question)
    return {
        "answer": answer.text,
        "reasoning": answer.additional_kwargs.get("reasoning_content", ""),
        "speculation": SpeculationTotals.of_messages([answer]).to_dict(),
    }


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    print(f"reasoning: {told['reasoning'].strip()}")
    print(f"answer: {told['answer']}")
    print(SpeculationTotals.model_validate(told["speculation"]))


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, move, and ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--base-url", default="", help="a server's, ending in /v1")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    with after(before(), arguments.model, arguments.base_url) as llm:
        told = {"model": arguments.model, **run(llm)}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
