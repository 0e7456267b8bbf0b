"""The skill "tools": calls of declared tools, records to fill, and agent loops."""

from __future__ import annotations

from typing import Any

from langchain_ssr.demo.corpus.agent_loop import make_agent_loop
from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.structured import make_structured
from langchain_ssr.demo.corpus.tool_plans import Plan, make_plan, other_tools
from langchain_ssr.demo.corpus.tool_reasoning import (
    NO_TOOL,
    calls_check,
    conclude,
    heard,
    reason,
)
from langchain_ssr.demo.corpus.tool_requests import Request, make_request, say
from langchain_ssr.demo.corpus.tool_results import Result, make_result
from langchain_ssr.demo.corpus.tool_schemas import Dialect, Tool
from langchain_ssr.demo.corpus.tool_turns import call_message, system_message

__all__ = ["make_agent_loop", "make_call", "make_structured"]

_SMALL_TALK = (
    ("Thank you, that helped.", "You are welcome."),
    ("Thanks!", "You are welcome."),
    ("Good morning!", "Good morning! How can I help?"),
    ("Good evening.", "Good evening! How can I help?"),
    ("Goodbye.", "Goodbye!"),
    ("Are you there?", "Yes, I am here. How can I help?"),
    ("Never mind.", "All right."),
    ("I am done for today.", "All right. Goodbye!"),
)


_MOST_TOOLS = 4


def make_call(draw: Draw) -> Example:
    """Make a conversation about declared tools: call one, two or none, then answer."""
    sort = draw.rng.random()
    thinking = not draw.chance(0.04)
    if sort < 0.15:  # noqa: PLR2004
        return _no_call(draw, thinking=thinking)
    requests, text = _requests(draw, parallel=sort < 0.3)  # noqa: PLR2004
    tools = _declared(draw, requests)
    results = [make_result(draw, request) for request in requests]
    messages = system_message(draw)
    if draw.chance(0.12):
        told, tool = _history(draw, requests[0].plan)
        known = {declared.name for declared in tools}
        if tool.name in known or len(known) < _MOST_TOOLS:
            messages += told
            tools += [] if tool.name in known else [tool]
    reasoning = reason(text, requests) if thinking else ""
    messages.append({"role": "user", "content": text})
    messages += _exchange(requests, results, reasoning, thinking=thinking)
    values = [value for result in results for value in result.values]
    calls = calls_check(requests)
    if not thinking:
        calls = Check(calls.kind, calls.expected)
    dialect: Dialect = draw.pick("openai", "pydantic")
    return Example(
        "tools",
        "parallel_calls" if len(requests) > 1 else "call",
        messages,
        [calls, Check("contains", values)],
        [tool.declaration(dialect) for tool in tools],
        thinking,
    )


def _requests(draw: Draw, *, parallel: bool) -> tuple[list[Request], str]:
    """Draw one request or two, and the message that makes them."""
    plan = make_plan(draw)
    first = make_request(draw, plan)
    if not parallel:
        return [first], say(draw, first)
    for _ in range(20):
        other = plan if draw.chance(0.4) else make_plan(draw)
        second = make_request(draw, other)
        same_verb = (other.verb, other.subject) == (plan.verb, plan.subject)
        clash = other is not plan and (other.tool.name == plan.tool.name or same_verb)
        if not clash and second != first and first.style == second.style:
            break
    else:
        return [first], say(draw, first)
    if first.extra or second.extra:
        return [first, second], f"{say(draw, first)}\n{say(draw, second)}"
    link = draw.pick(" and ", " and ", ", and ", ", then ")
    if first.style == "ask":
        link = " and "
    both = Request(
        plan, first.style, f"{first.clause}{link}{second.clause}", "", "", ()
    )
    return [first, second], say(draw, both)


def _declared(draw: Draw, requests: list[Request]) -> list[Tool]:
    """Draw the tools that are declared, in any order."""
    found = {request.plan.tool.name: request.plan.tool for request in requests}
    room = draw.pick(0, 1, 1, 1, 1, 2, 2, 3)
    for request in requests:
        asks = request.style == "ask"
        rival = request.plan.rival
        count = room // len(requests)
        others = other_tools(draw, request.plan, count, asks=asks)
        for tool in ([rival] if rival else []) + others:
            if len(found) < _MOST_TOOLS:
                found.setdefault(tool.name, tool)
    tools = list(found.values())
    draw.rng.shuffle(tools)
    return tools


def _exchange(
    requests: list[Request], results: list[Result], reasoning: str, *, thinking: bool
) -> list[dict[str, Any]]:
    """Return the messages from the calls to the final answer."""
    answer: dict[str, Any] = {
        "role": "assistant",
        "content": " ".join(result.answer for result in results),
    }
    if thinking:
        answer["reasoning_content"] = "\n".join(result.thought for result in results)
    messages = [call_message(calls_check(requests).expected, reasoning)]
    for number, result in enumerate(results):
        messages.append(
            {
                "role": "tool",
                "tool_call_id": f"call_{number}",
                "content": result.content,
            }
        )
    return [*messages, answer]


def _history(draw: Draw, plan: Plan) -> tuple[list[dict[str, Any]], Tool]:
    """Draw an earlier turn, with the same tool or another one."""
    earlier = plan if draw.chance(0.6) else make_plan(draw)
    if earlier.subject == plan.subject:
        earlier = plan
    request = make_request(draw, earlier)
    user = {"role": "user", "content": say(draw, request)}
    results = [make_result(draw, request)]
    return [user, *_exchange([request], results, "", thinking=False)], earlier.tool


def _no_call(draw: Draw, *, thinking: bool) -> Example:
    """Make a message that no declared tool can answer, or that needs none."""
    request = make_request(draw, make_plan(draw))
    asks = request.style == "ask"
    tools = other_tools(draw, request.plan, draw.rng.randint(2, 4), asks=asks)
    sort = draw.rng.random()
    if sort < 0.5 and request.style != "named":  # noqa: PLR2004
        text = say(draw, request)
        answer = f"I have no tool to {request.goal}."
        thoughts = f"{heard(text, 1)}\n{request.thought}\nNo tool says that."
    elif sort < 0.75:  # noqa: PLR2004
        text, answer = draw.rng.choice(_SMALL_TALK)
        thoughts = f"{heard(text)}\nThe user makes small talk. No tool is needed."
    else:
        word = draw.words.word()
        text = draw.pick(
            f"Say the word {word}.",
            f"Repeat after me: {word}",
            f"Just write {word}, nothing else.",
            f"Answer with the word '{word}'.",
        )
        answer = word
        thoughts = (
            f"{heard(text)}\nThe user wants the word `{word}`. No tool is needed."
        )
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if thinking:
        message["reasoning_content"] = conclude(thoughts, [NO_TOOL])
    messages = [*system_message(draw), {"role": "user", "content": text}, message]
    dialect: Dialect = draw.pick("openai", "pydantic")
    return Example(
        "tools",
        "no_call",
        messages,
        [Check("text", [answer], (NO_TOOL,) if thinking else ())],
        [tool.declaration(dialect) for tool in tools],
        thinking,
    )
