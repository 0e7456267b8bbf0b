"""How the model reasons about a call: which tool, which arguments, what is decided."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from langchain_ssr.demo.corpus.example import Check
from langchain_ssr.demo.corpus.tool_requests import Request
from langchain_ssr.demo.corpus.tool_schemas import Tool
from langchain_ssr.demo.corpus.tool_values import Argument, decision

FINAL = "Final decisions:"
NO_TOOL = "tool: none"
_WANTED = {1: "One thing is wanted.", 2: "Two things are wanted."}


def conclude(thoughts: str, decisions: list[str]) -> str:
    """Close a chain of thought with its decisions."""
    return "\n".join([thoughts, "", FINAL, *decisions])


def arguments_of(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return the arguments of the call."""
    return {a.parameter.name: a.value for a in arguments if a.given}


def decide(arguments: Sequence[Argument], first: int = 1) -> list[str]:
    """Return the decisions on the arguments that are given.

    Args:
        arguments: Of a call, in the order of the declaration.
        first: The number of the first one.
    """
    return [
        f"{number}. {decision(argument.parameter.name, argument.value)}"
        for number, argument in enumerate(arguments, first)
        if argument.given
    ]


def _decide_all(requests: list[Request]) -> list[str]:
    """Return the decisions of all calls. Numbers go on from one call to the next."""
    lines: list[str] = []
    first = 1
    for number, request in enumerate(requests, 1):
        lines.append(_decided_tool(request, number, len(requests)))
        lines += decide(request.arguments, first)
        first += len(request.arguments)
    return lines


def _decided_tool(request: Request, number: int, last: int) -> str:
    which = f" {number}" if last > 1 else ""
    return f"tool{which}: `{request.plan.tool.name}`"


def choose(request: Request) -> list[str]:
    """Say what is wanted, and quote the declaration of the tool that does it.

    The quotation begins with the words that say what is wanted, or with the name that
    the user names, and goes on as the declaration does. So a tiny model chooses a tool
    by copying, which it is good at, and never has to tell whether two phrases agree.
    """
    tool = request.plan.tool
    if request.style == "named":
        tool = dataclasses.replace(tool, description="")
    return [request.thought, quote_tool(tool)]


def quote_tool(tool: Tool) -> str:
    """Return the line of the reasoning that finds a tool among the declared ones."""
    return f"The tool: {tool.quoted}"


def fill(request: Request, first: int = 1) -> list[str]:
    """Settle the arguments one by one, in the order of the declaration.

    Args:
        request: Of one call.
        first: The number of the first argument.
    """
    if not request.arguments:
        return [f"`{request.plan.tool.name}` has no parameters."]
    return [
        f"{number}. {argument.thought}"
        for number, argument in enumerate(request.arguments, first)
    ]


def heard(text: str, wanted: int = 0) -> str:
    """Quote what the user says, and say how many things are wanted.

    A tiny model sees best what it has just written, so it tells from the quotation how
    many calls are wanted and which arguments are given.

    Args:
        text: The user's message.
        wanted: How many things, 1 or 2; 0 for a message that wants none.
    """
    return "\n".join(
        [f'The user says "{text}"', *([_WANTED[wanted]] if wanted else [])]
    )


def reason(text: str, requests: list[Request]) -> str:
    """Write the reasoning before the calls.

    Args:
        text: What the user says.
        requests: The calls that it asks for.
    """
    lines = [heard(text, len(requests))]
    first = 1
    for request in requests:
        lines += choose(request)
        lines += fill(request, first)
        first += len(request.arguments)
    return conclude("\n".join(lines), _decide_all(requests))


def calls_check(requests: list[Request]) -> Check:
    """Say which calls are right."""
    expected = [
        {"name": r.plan.tool.name, "arguments": arguments_of(r.arguments)}
        for r in requests
    ]
    return Check("calls", expected, tuple(_decide_all(requests)))
