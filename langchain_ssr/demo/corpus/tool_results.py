"""What a tool answers, and how the model reports it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_requests import Request
from langchain_ssr.demo.corpus.tool_values import (
    join,
    make_integer,
    make_number,
    make_sentence,
    spell,
)


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one call.

    Attributes:
        content: The tool message.
        thought: What the reasoning says about it.
        answer: The sentence that reports it.
        values: Texts that a right answer holds.
    """

    content: str
    thought: str
    answer: str
    values: tuple[str, ...]


def make_result(draw: Draw, request: Request) -> Result:
    """Draw the result of the call that a request wants."""
    sort = draw.rng.random()
    if sort < 0.05:  # noqa: PLR2004
        return _error(draw)
    if request.plan.kind == "sum":
        value = _total(request)
        sort = draw.pick(0.1, 0.5)
    elif request.plan.kind == "apply":
        value = draw.pick(make_integer(draw), make_number(draw))
    else:
        value = _value(draw)
    if request.plan.kind == "do" or (sort > 0.85):  # noqa: PLR2004
        return _sentence(draw) if draw.chance(0.4) else _record(draw, request)
    if sort < 0.4:  # noqa: PLR2004
        return _plain(request, value)
    if sort < 0.6:  # noqa: PLR2004
        key = draw.pick("result", "value", "result", "answer", "output")
        return _object({key: value})
    if sort < 0.68 and request.plan.kind == "get":  # noqa: PLR2004
        return _list(draw)
    return _record(draw, request)


def _total(request: Request) -> float | int:
    """Calculate a sum, difference, product, quotient or power."""
    first, second = (argument.value for argument in request.arguments)
    symbol = request.plan.symbol
    if symbol == "+":
        total = first + second
    elif symbol == "-":
        total = first - second
    elif symbol == "*":
        total = first * second
    elif symbol == "/":
        total = first / second if second else 0
    else:
        total = pow(int(first) % 10, int(second) % 4)
    return round(total, 2)


def _value(draw: Draw) -> Any:
    words = draw.words
    sort = draw.rng.randint(0, 6)
    if sort < 2:  # noqa: PLR2004
        return make_integer(draw)
    if sort < 3:  # noqa: PLR2004
        return make_number(draw)
    if sort < 4:  # noqa: PLR2004
        return words.person()
    if sort < 5:  # noqa: PLR2004
        return words.place()
    return f"{words.adjective()} {words.word()}" if draw.chance(0.3) else words.word()


def _plain(request: Request, value: Any) -> Result:
    text = str(value)
    subject = "result" if request.plan.kind == "make" else request.plan.subject
    return Result(
        text,
        f"The tool returned a value: `{text}`.",
        f"The {subject} is {text}.",
        (text,),
    )


def _sentence(draw: Draw) -> Result:
    words = draw.words
    text = draw.pick(
        "Done.",
        "OK.",
        f"Done: {words.noun()} {draw.rng.randint(1, 999)}.",
        f"It's {words.adjective()}.",
        f"It is {make_integer(draw)} {words.noun()}s.",
        make_sentence(draw).rstrip(".") + ".",
        f"Created the {words.noun()} {words.made_up()}.",
    )
    return Result(
        text,
        f"The tool returned a sentence: `{text}`",
        f"The tool says: {text}",
        (text,),
    )


def _error(draw: Draw) -> Result:
    words = draw.words
    text = draw.pick(
        f"the {words.noun()} is not available.",
        f"unknown {words.noun()} '{words.word()}'.",
        f"no access to the {words.noun()}.",
        "timeout.",
    )
    return Result(
        f"Error: {text}",
        f"The tool returned an error: `{text}`",
        f"The tool failed: {text}",
        ("failed", text),
    )


def _record(draw: Draw, request: Request) -> Result:
    keys = draw.words.distinct(draw.pick(1, 2, 2, 3), 1)
    record = {key: _value(draw) for key in keys}
    if request.plan.kind == "do" and draw.chance(0.5):
        status = draw.pick("done", "ok", "created", "queued", "accepted")
        record = {"status": status, **record}
    if draw.chance(0.3):
        record["id"] = draw.rng.randint(1, 9999)
    return _object(record)


def _object(record: dict[str, Any]) -> Result:
    pairs = [(key, str(value)) for key, value in record.items()]
    lines = "\n".join(f"`{key}` = `{spell(v)}`" for key, v in record.items())
    answer = join([f"the {key} is {value}" for key, value in pairs])
    return Result(
        json.dumps(record),
        f"The tool returned an object:\n{lines}",
        f"{answer[0].upper()}{answer[1:]}.",
        tuple(value for _, value in pairs),
    )


def _list(draw: Draw) -> Result:
    values: list[Any]
    if draw.chance(0.3):
        values = [draw.rng.randint(0, 99) for _ in range(draw.rng.randint(1, 4))]
    else:
        values = list(draw.words.distinct(draw.rng.randint(0, 4), 1))
    listed = join([str(value) for value in values]) if values else "nothing"
    return Result(
        json.dumps(values),
        f"The tool returned a list of {len(values)}.",
        f"The tool found {listed}.",
        tuple(str(value) for value in values) or ("nothing",),
    )
