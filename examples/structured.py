"""Structured output: the model thinks first, and its answer still fits the schema.

Run it with `python examples/structured.py` (`--json` for machines, `--model` for
another model).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from langchain_ssr import ChatSSR, SpeculationStats

TEXT = """\
Read the data from this text. The reservation has city Lisbon, guests 4 and name Clara.
Your answer has to be a JSON object with `city`, `guests` and `name` as keys."""


class Reservation(BaseModel):
    """A reservation."""

    city: str = Field(description="The city.")
    guests: int = Field(description="The number of guests.")
    name: str


def run(llm: ChatSSR, text: str = TEXT) -> dict[str, Any]:
    """Extract a reservation from a text.

    Returns:
        The record, the reasoning, and the statistics of the call.

    Raises:
        OutputParserException: If the answer was cut in mid-JSON.
    """
    # With `include_raw` the message stays there, and with it reasoning and statistics.
    reader = llm.with_structured_output(Reservation, include_raw=True)
    read = reader.invoke(text)
    if read["parsing_error"]:
        raise read["parsing_error"]
    message = read["raw"]
    return {
        "record": read["parsed"].model_dump(),
        "reasoning": message.additional_kwargs.get("reasoning_content", ""),
        "statistics": SpeculationStats.from_message(message).to_dict(),
    }


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    print(told["reasoning"].strip())
    print(repr(Reservation.model_validate(told["record"])))
    print(SpeculationStats.model_validate(told["statistics"]))


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and extract the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--text", default=TEXT, help="where the record is from")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1500) as llm:
        told = {"model": arguments.model, **run(llm, arguments.text)}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
