"""How the model reasons about a call: which tool, which arguments, what is decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_ssr.demo.corpus.example import Check
from langchain_ssr.demo.corpus.tool_requests import Request
from langchain_ssr.demo.corpus.tool_schemas import Tool
from langchain_ssr.demo.corpus.tool_values import Argument, decision

FINAL = "Final decisions:"
NO_TOOL = "tool: none"


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


def choose(request: Request, tools: list[Tool]) -> list[str]:
    """Go through the declared tools until one fits.

    What a tool does stands beside what is wanted, so that a tiny model can tell whether
    they agree. A twin of the right tool looks right until its description is compared
    with the request: that is one of the ways in which the reasoning changes its mind.
    """
    plan = request.plan
    twins = {tool.name: noun for tool, noun in plan.rivals}
    lines = [request.thought]
    for tool in tools:
        line = f"`{tool.name}` ({tool.purpose}) {_goal(request)}:"
        if tool.name == plan.tool.name:
            return [*lines, f"{line} yes."]
        if request.style != "named" and tool.name in twins:
            why = f"the request gives the {plan.of}, not the {twins[tool.name]}"
            lines.append(f"{line} looks right. Wait, {why}: no.")
        else:
            lines.append(f"{line} no.")
    return [*lines, "No tool fits."]


def _goal(request: Request) -> str:
    """Return what the request is for, to stand behind what a tool does."""
    goal = request.thought.removeprefix("The user ").removesuffix(".")
    for said, short in (("wants to", "to"), ("asks for", "for"), ("names", "for")):
        goal = goal.replace(f"{said} ", f"{short} ", 1)
    return goal


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


def reason(requests: list[Request], tools: list[Tool]) -> str:
    """Write the reasoning before the calls."""
    lines: list[str] = []
    first = 1
    for number, request in enumerate(requests, 1):
        lines += choose(request, tools)
        if len(requests) > 1:
            lines.append(_decided_tool(request, number, len(requests)))
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


def changes_mind(request: Request, tools: list[Tool]) -> bool:
    """Say whether the reasoning about a request takes something back."""
    chosen = "Wait" in "\n".join(choose(request, tools))
    return chosen or any(argument.changed for argument in request.arguments)
