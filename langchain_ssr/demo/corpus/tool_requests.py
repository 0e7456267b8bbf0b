"""What a user asks of a tool: the sentence, and the arguments that it gives."""

from __future__ import annotations

import dataclasses
import json

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_plans import SUMS, Plan
from langchain_ssr.demo.corpus.tool_schemas import Parameter
from langchain_ssr.demo.corpus.tool_values import Argument, give, leave_out, one

_DO = (
    "{C}.",
    "{C}.",
    "{c}",
    "Please {c}.",
    "Can you {c}?",
    "Could you please {c}?",
    "I want to {c}.",
    "I need to {c}.",
    "I would like you to {c}.",
    "{C}, please.",
    "Use a tool to {c}.",
    "{C}. Use the tool.",
    "Help me to {c}.",
    "Hi! {C}.",
)
_ASK = (
    "What is {c}?",
    "What is {c}?",
    "What's {c}?",
    "{c}?",
    "{c}",
    "Tell me {c}.",
    "Give me {c}.",
    "I want to know {c}.",
    "Do you know {c}?",
    "Please look up {c}.",
    "I need {c}.",
    "What is {c}? A tool can tell you.",
)
_NAMED = (
    "Use {c}.",
    "Call {c}.",
    "Please call {c}.",
    "Run {c} for me.",
    "Evaluate {c}.",
    "What does {c} return?",
    "Give me the value of {c}.",
    "What does {c} give?",
    "I need the result of {c}.",
    "{c}",
)


_AS_CODE = 3  # the style of options that spells them as a call does


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for one call.

    Attributes:
        plan: What it wants.
        style: `"do"` (a verb says what), `"ask"` (a question) or `"named"` (it names
            the tool).
        clause: The request without the words around it.
        extra: Sentences that follow it.
        thought: How the reasoning sums it up.
        arguments: One for each parameter of the tool, in its order.
        says_of: Whether it says which noun its main value is.
    """

    plan: Plan
    style: str
    clause: str
    extra: str
    thought: str
    arguments: tuple[Argument, ...]
    says_of: bool = False


def say(draw: Draw, request: Request) -> str:
    """Write the request as a message."""
    frames = {"do": _DO, "ask": _ASK, "named": _NAMED}[request.style]
    frame: str = draw.rng.choice(frames)
    clause = request.clause
    start = clause if request.style == "named" else clause[0].upper() + clause[1:]
    text = frame.format(c=clause, C=start)
    if request.extra and text[-1] not in ".?!":
        text += "."
    return text + request.extra


def make_request(draw: Draw, plan: Plan) -> Request:
    """Draw a request for a call of the tool."""
    if plan.kind == "sum":
        return _sum_request(draw, plan)
    named = draw.chance(0.3 if plan.kind == "apply" else 0.1)
    arguments = _arguments(draw, plan, plain=named)
    if named:
        return _named_request(plan, arguments)
    subject = plan.subject
    main = next((a for a in arguments if a.parameter.name == plan.main), None)
    others = [a for a in arguments if a.given and a is not main]
    says_of = bool(plan.rivals) or draw.chance(0.5)
    link, tail = "", ""
    if main and plan.of:
        which = f"the {plan.of} {main.written}" if says_of else main.written
        link = f" {draw.pick('of', 'of', 'for', 'for', 'in', 'at')} {which}"
    elif main and plan.kind == "apply":
        link = f" of {main.written}"
    clause_tail, extra = _options(draw, others)
    tail = link + clause_tail
    if plan.kind == "make" and main:
        tool = draw.pick("", " with the tool", " with a tool")
        clause = draw.pick(
            f"{plan.verb} {one(main.written)} {subject}{tool}",
            f"{plan.verb} {one(subject)} in {main.written} style{tool}",
        )
        thought = f"The user wants to {plan.verb} {one(subject)}."
        return Request(plan, "do", clause, extra, thought, arguments)
    if plan.kind == "apply":
        return _apply_request(draw, plan, tail, arguments)
    if plan.kind == "get" and draw.chance(0.5):
        thought = f"The user asks for the {subject}."
        return Request(
            plan, "ask", f"the {subject}{tail}", extra, thought, arguments, says_of
        )
    thought = f"The user wants to {plan.verb} the {subject}."
    clause = f"{plan.verb} the {subject}{tail}"
    return Request(plan, "do", clause, extra, thought, arguments, says_of)


def _arguments(draw: Draw, plan: Plan, *, plain: bool) -> tuple[Argument, ...]:
    return tuple(_argument(draw, plan, p, plain=plain) for p in plan.tool.parameters)


def _argument(draw: Draw, plan: Plan, parameter: Parameter, *, plain: bool) -> Argument:
    if plan.kind == "make":
        value = draw.words.adjective()
        thought = f"`{parameter.name}` is a string: `{value}`."
        return Argument(parameter, value, value, thought)
    if parameter.required or draw.chance(0.5):
        return give(draw, parameter, plain=plain)
    return leave_out(parameter)


def _apply_request(
    draw: Draw, plan: Plan, tail: str, arguments: tuple[Argument, ...]
) -> Request:
    subject = plan.subject
    if draw.chance(0.6) or not arguments:
        thought = f"The user asks for the {subject}."
        return Request(plan, "ask", f"the {subject}{tail}", "", thought, arguments)
    written = arguments[0].written
    verb, clause = draw.pick(
        ("compute", f"compute the {subject}{tail}"),
        ("apply", f"apply the {subject} to {written}"),
        ("use", f"use the {subject} on {written}"),
    )
    thought = f"The user wants to {verb} the {subject}."
    return Request(plan, "do", clause, "", thought, arguments)


def _sum_request(draw: Draw, plan: Plan) -> Request:
    first, second = (give(draw, p, plain=True) for p in plan.tool.parameters)
    arguments = (first, second)
    a, b = first.written, second.written
    words = next(words for _, symbol, words in SUMS if symbol == plan.symbol)
    thought = f"The user wants to {plan.verb} two numbers."
    if draw.chance(0.6):
        clause = draw.pick(f"{a} {plan.symbol} {b}", f"{a} {words} {b}")
        return Request(plan, "ask", clause, "", thought, arguments)
    clause = f"{plan.verb} {a} and {b}"
    return Request(plan, "do", clause, "", thought, arguments)


def _named_request(plan: Plan, arguments: tuple[Argument, ...]) -> Request:
    """Write a request as a call, as programmers do."""
    given = [argument for argument in arguments if argument.given]
    values = [_literal(argument) for argument in given]
    if len(values) > 1 or len(arguments) > 1:
        values = [f"{a.parameter.name}={v}" for a, v in zip(given, values, strict=True)]
    name = plan.tool.name
    clause = f"{name}({', '.join(values)})"
    return Request(plan, "named", clause, "", f"The user names `{name}`.", arguments)


def _literal(argument: Argument) -> str:
    return json.dumps(argument.value, ensure_ascii=False)


def _options(draw: Draw, arguments: list[Argument]) -> tuple[str, str]:
    """Write labelled arguments: the end of a clause, and further sentences."""
    if not arguments:
        return "", ""
    pairs = [(a.parameter.label, a.written) for a in arguments]
    style = draw.rng.randint(0, 4)
    if style == _AS_CODE and any(argument.changed for argument in arguments):
        style = 1
    if style == 0:
        parts = [_with(argument) for argument in arguments]
        ending = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
        return f" {ending}", ""
    if style == 1:
        verb = draw.pick("Set the {} to {}.", "The {} is {}.", "Use {1} as the {0}.")
        return "", "".join(f" {verb.format(*pair)}" for pair in pairs)
    if style == 2:  # noqa: PLR2004
        listed = "; ".join(f"{label}: {written}" for label, written in pairs)
        return f" ({listed})", ""
    if style == _AS_CODE:
        named = [f"{a.parameter.name}={_literal(a)}" for a in arguments]
        return "", f" Use {', '.join(named)}."
    lines = "".join(f"\n{label}: {written}" for label, written in pairs)
    return "", lines


def _with(argument: Argument) -> str:
    label = argument.parameter.label
    if argument.parameter.type == "boolean":
        return f"with {label}" if argument.value else f"without {label}"
    return f"with {label} {argument.written}"
