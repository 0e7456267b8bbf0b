"""What a user asks of a tool: the sentence, and the arguments that it gives."""

from __future__ import annotations

import dataclasses
import json

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_plans import SUMS, Plan
from langchain_ssr.demo.corpus.tool_schemas import Parameter
from langchain_ssr.demo.corpus.tool_values import (
    NUMBER_WORDS,
    Argument,
    give,
    join,
    leave_out,
)

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
        thought: How the reasoning sums it up, in the first words of the description.
        arguments: One for each parameter of the tool, in its order.
    """

    plan: Plan
    style: str
    clause: str
    extra: str
    thought: str
    arguments: tuple[Argument, ...]

    @property
    def goal(self) -> str:
        """What the user wants to do; not for requests that name the tool."""
        return self.thought.removeprefix("The user wants to ").removesuffix(".")


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
    main = next((a for a in arguments if a.parameter.name == plan.main), None)
    others = [a for a in arguments if a.given and a is not main]
    clause_tail, extra, others = _options(draw, others)
    goal, link = plan.goal, ""
    if main:
        goal, link, sentence, main = _main(draw, plan, main)
        extra = sentence + extra
    placed = {a.parameter.name: a for a in (*others, *([main] if main else ()))}
    arguments = tuple(placed.get(a.parameter.name, a) for a in arguments)
    thought = f"The user wants to {goal}."
    clause = plan.goal + link + clause_tail
    # A question has no verb; the verb to supply is always the same.
    if plan.verb == "get" and draw.chance(0.75):
        clause = clause.removeprefix("get ")
        return Request(plan, "ask", clause, extra, thought, arguments)
    return Request(plan, "do", clause, extra, thought, arguments)


def _main(draw: Draw, plan: Plan, main: Argument) -> tuple[str, str, str, Argument]:
    """Place the main value: in the clause, after its noun or not, or behind it.

    Returns:
        The goal as the request says it, the end of the clause, a sentence to follow,
        and the argument with the words before its value.
    """
    sort = draw.rng.random()
    if plan.of and (plan.rival or sort < 0.7 or plan.kind == "make"):  # noqa: PLR2004
        noun = f" {plan.link} the {plan.of}"
        goal = plan.goal + (noun if plan.kind != "make" else "")
        return goal, f"{noun} {main.written}", "", main.after(f"the {plan.of}")
    if plan.of and sort < 0.8 and not main.changed:  # noqa: PLR2004
        sentence = f" The {plan.of} is {main.written}."
        return plan.goal, "", sentence, main.after(f"the {plan.of}")
    words = f"{plan.subject} {plan.link}"
    return plan.goal, f" {plan.link} {main.written}", "", main.after(words)


def _arguments(draw: Draw, plan: Plan, *, plain: bool) -> tuple[Argument, ...]:
    return tuple(_argument(draw, plan, p, plain=plain) for p in plan.tool.parameters)


def _argument(draw: Draw, plan: Plan, parameter: Parameter, *, plain: bool) -> Argument:
    if plan.kind == "make":
        value = draw.words.adjective()
        reading = f"`{parameter.name}` is a string"
        return Argument(parameter, value, value, reading, f": `{value}`.")
    if parameter.required or draw.chance(0.5):
        return give(draw, parameter, plain=plain)
    return leave_out(parameter)


def _sum_request(draw: Draw, plan: Plan) -> Request:
    first, second = (give(draw, p, plain=True) for p in plan.tool.parameters)
    a, b = first.written, second.written
    words = next(words for _, symbol, words in SUMS if symbol == plan.symbol)
    thought = f"The user wants to {plan.goal}."
    asks = draw.chance(0.6)
    between = draw.pick(plan.symbol, words) if asks else "and"
    clause = f"{a} {between} {b}" if asks else f"{plan.verb} {a} and {b}"
    arguments = (first if asks else first.after(plan.verb), second.after(between))
    style = "ask" if asks else "do"
    return Request(plan, style, clause, "", thought, arguments)


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


def _options(draw: Draw, arguments: list[Argument]) -> tuple[str, str, list[Argument]]:
    """Write labelled arguments.

    Returns:
        The end of a clause, further sentences, and the arguments with the words before
        their values.
    """
    if not arguments:
        return "", "", []
    pairs = [(a.parameter.label, a.written) for a in arguments]
    placed = [a.after(a.parameter.label) for a in arguments]
    style = draw.rng.randint(0, 4)
    if style == _AS_CODE and any(
        a.changed or a.written in NUMBER_WORDS for a in arguments
    ):
        style = 1
    if style == 0:
        return f" with {join([f'{k} {v}' for k, v in pairs])}", "", placed
    if style == 1:
        return "", "".join(f" The {k} is {v}." for k, v in pairs), placed
    if style == 2:  # noqa: PLR2004
        listed = "; ".join(f"{label}: {written}" for label, written in pairs)
        return f" ({listed})", "", placed
    if style == _AS_CODE:
        named = [f"{a.parameter.name}={_literal(a)}" for a in arguments]
        return "", f" Use {', '.join(named)}.", arguments
    return "", "".join(f"\n{label}: {written}" for label, written in pairs), placed
