"""How the model reasons about a call: which tool, which arguments, what is decided."""

from __future__ import annotations

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


def decide(request: Request) -> list[str]:
    """Return the decisions of one call."""
    tool = request.plan.tool
    arguments = arguments_of(request.arguments)
    lines = [decision(name, value) for name, value in arguments.items()]
    return [f"tool: `{tool.name}`", *lines]


def choose(request: Request, tools: list[Tool]) -> list[str]:
    """Go through the declared tools until one fits.

    A twin of the right tool looks right until its description is compared with the
    request: that is one of the ways in which the reasoning changes its mind.
    """
    plan = request.plan
    twins = {tool.name: noun for tool, noun in plan.rivals}
    lines = [request.thought]
    for tool in tools:
        line = f"`{tool.name}` ({tool.purpose}):"
        if tool.name == plan.tool.name:
            return [*lines, f"{line} yes."]
        if request.style != "named" and tool.name in twins:
            why = f"the request gives the {plan.of}, not the {twins[tool.name]}"
            lines.append(f"{line} looks right. Wait, {why}: no.")
        else:
            lines.append(f"{line} no.")
    return [*lines, "No tool fits."]


def fill(request: Request) -> list[str]:
    """Settle the arguments one by one, in the order of the declaration."""
    if not request.arguments:
        return [f"`{request.plan.tool.name}` has no parameters."]
    return [argument.thought for argument in request.arguments]


def reason(requests: list[Request], tools: list[Tool]) -> str:
    """Write the reasoning before the calls."""
    lines: list[str] = []
    for number, request in enumerate(requests):
        if len(requests) > 1:
            lines.append(f"Call {number + 1}:")
        lines += [*choose(request, tools), *fill(request)]
    decisions = [line for request in requests for line in decide(request)]
    return conclude("\n".join(lines), decisions)


def calls_check(requests: list[Request]) -> Check:
    """Say which calls are right."""
    expected = [
        {"name": r.plan.tool.name, "arguments": arguments_of(r.arguments)}
        for r in requests
    ]
    decisions = tuple(line for request in requests for line in decide(request))
    return Check("calls", expected, decisions)


def changes_mind(request: Request, tools: list[Tool]) -> bool:
    """Say whether the reasoning about a request takes something back."""
    chosen = "Wait" in "\n".join(choose(request, tools))
    return chosen or any(argument.changed for argument in request.arguments)
