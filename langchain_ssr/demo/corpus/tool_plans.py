"""Tools worth calling: what each is for, and the tools that it is mistaken for."""

from __future__ import annotations

import dataclasses
from typing import Literal

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_parameters import (
    docstring,
    extra_parameters,
    main_parameter,
)
from langchain_ssr.demo.corpus.tool_schemas import A_TYPE, Parameter, Tool, Type
from langchain_ssr.demo.corpus.tool_values import one

_VERBS = """
get find fetch search read show check list count measure compute calculate estimate
query retrieve load track inspect report view

add archive assign block book build buy cancel change clean clear close copy create
delete deliver draw edit enable export fill hide import lock mark merge move open
order pay plan print publish release remove rename repair replace reserve reset
restart schedule sell send ship sort start stop store submit test unlock update
upload validate verify
"""
GET, DO = (verbs.split() for verbs in _VERBS.split("\n\n"))
"""Verbs of tools that answer a question, and of tools that change something."""
SUMS = (
    ("add", "+", "plus"),
    ("subtract", "-", "minus"),
    ("multiply", "*", "times"),
    ("divide", "/", "over"),
    ("raise", "^", "to the power of"),
)
_PAIRS = (("a", "b"), ("x", "y"), ("left", "right"), ("first", "second"), ("p", "q"))
_BY_NAME = 0.85  # share of the tools whose name says what they do

Kind = Literal["get", "do", "apply", "sum", "make"]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A tool and what its requests are about.

    Attributes:
        kind: Which phrasings suit it.
        tool: The tool.
        verb: The verb of its description.
        subject: What it works on, in words.
        main: The name of the parameter that is the point of a request; may be empty.
        of: The noun that tells what the main parameter is; may be empty.
        symbol: The operator of a sum.
        rivals: Tools that only the description tells from this one, with the noun of
            their main parameter.
    """

    kind: Kind
    tool: Tool
    verb: str
    subject: str
    main: str = ""
    of: str = ""
    symbol: str = ""
    rivals: tuple[tuple[Tool, str], ...] = ()


def make_plan(draw: Draw) -> Plan:
    """Draw a tool of any kind."""
    sort = draw.rng.random()
    if sort < 0.14:  # noqa: PLR2004
        return apply_plan(draw)
    if sort < 0.2:  # noqa: PLR2004
        return _sum_plan(draw)
    if sort < 0.25:  # noqa: PLR2004
        return _make_plan(draw)
    kind: Kind = draw.pick("get", "do")
    verb = draw.rng.choice(GET if kind == "get" else DO)
    return common_plan(draw, kind, verb, draw.words.snake())


def common_plan(draw: Draw, kind: Kind, verb: str, snake: str) -> Plan:
    """Draw the rest of a tool, given its verb and the thing that it works on."""
    subject = snake.replace("_", " ")
    of = "" if draw.chance(0.12) else _noun_not_in(draw, snake)
    name_verb = draw.rng.choice(GET) if kind == "get" and draw.chance(0.15) else verb
    shape = draw.rng.random()
    if shape < 0.75:  # noqa: PLR2004
        name = f"{name_verb}_{snake}"
    elif shape < _BY_NAME:
        name = f"{snake}_{name_verb}"
    else:
        name = draw.words.made_up()
    rivals: tuple[tuple[Tool, str], ...] = ()
    parameters = extra_parameters(draw, draw.pick(0, 0, 1, 1, 2, 3))
    described = f"{verb.capitalize()} the {subject}"
    link = draw.pick("of", "of", "for", "in", "at")
    if of:
        main = main_parameter(draw, of, parameters)
        num_required = sum(parameter.required for parameter in parameters)
        parameters.insert(draw.rng.randint(0, num_required), main)
        if draw.chance(0.3):
            rival = _twin(draw, f"{verb}_{snake}", f"{described} {link} ", main, of)
            rivals = (rival,)
            # Without this, `_by_` would give the wrong one away.
            named_alike = shape < _BY_NAME and (
                name == rival[0].name or draw.chance(0.5)
            )
            name += f"_by_{of}" if named_alike else ""
        described += f" {link} {one(of)}"
    elif not parameters and draw.chance(0.5):
        described = f"{verb.capitalize()} every {subject}"
    described += draw.pick(".", ".", ".", ".", "")
    if draw.chance(0.1) and not rivals and of and shape < _BY_NAME:
        described = ""
    elif draw.chance(0.08):
        described += docstring(parameters)
    elif draw.chance(0.12):
        more = ("Returns a number", "Use it with care", f"Not for {draw.words.noun()}s")
        described = f"{described.rstrip('.')}. {draw.pick(*more)}."
    tool = Tool(name, described, tuple(parameters))
    verb = verb if described else name_verb
    return Plan(kind, tool, verb, subject, main.name if of else "", of, "", rivals)


def _twin(
    draw: Draw, name: str, described: str, main: Parameter, of: str
) -> tuple[Tool, str]:
    """Draw a tool that does the same for another noun."""
    other = _noun_not_in(draw, f"{name}_{of}")
    name += draw.pick("", f"_by_{other}")
    parameter = dataclasses.replace(main, name=other, description="")
    return Tool(name, f"{described}{one(other)}.", (parameter,)), other


def _noun_not_in(draw: Draw, snake: str) -> str:
    while (noun := draw.words.word()) in snake:
        pass
    return noun


def apply_plan(draw: Draw) -> Plan:
    """Draw an odd function of one number, or of nothing, that has a name of its own."""
    snake = draw.pick(
        f"{draw.words.adjective()}_{draw.words.noun()}",
        f"{draw.words.word()}_{draw.pick('function', 'value', 'rule', 'number')}",
        f"{draw.words.made_up()}_{draw.words.noun()}",
    )
    subject = snake.replace("_", " ")
    if draw.chance(0.2):
        described = draw.pick(f"Compute the {subject}.", f"The {subject}.")
        return Plan("apply", Tool(snake, described), "compute", subject)
    name = draw.pick(
        "x", "n", "value", "number", "input", "argument", draw.words.word()
    )
    kind: Type = draw.pick("integer", "integer", "integer", "number")
    described = draw.pick(
        f"Compute the {subject} of {A_TYPE[kind]}.",
        f"Apply the {subject} to {A_TYPE[kind]}.",
        f"The {subject} of {A_TYPE[kind]}.",
    )
    bounds: tuple[tuple[str, int], ...] = ()
    if kind == "integer" and draw.chance(0.3):
        bounds = (("exclusiveMaximum", 10000), ("exclusiveMinimum", -10000))
    main = Parameter(name, kind, draw.pick("", "", f"The {name}."), bounds=bounds)
    return Plan("apply", Tool(snake, described, (main,)), "compute", subject, name)


def _sum_plan(draw: Draw) -> Plan:
    """Draw a tool for arithmetic with two numbers."""
    verb, symbol, _ = draw.rng.choice(SUMS)
    kind: Type = draw.pick("integer", "integer", "number")
    first, second = (Parameter(name, kind) for name in draw.rng.choice(_PAIRS))
    noun = draw.words.noun()
    name = draw.pick(f"{verb}_values", f"{noun}_{verb}", f"{verb}_{noun}")
    described = f"{verb.capitalize()} two {draw.pick('numbers', 'values')}."
    tool = Tool(name, described, (first, second))
    return Plan("sum", tool, verb, "result", first.name, symbol=symbol)


def _make_plan(draw: Draw) -> Plan:
    """Draw a tool that makes a thing in some style."""
    noun = draw.words.noun()
    word = draw.pick("style", "manner", "theme", "flavor", "mood")
    name = draw.pick(word, f"{noun}_{word}", f"output_{word}")
    described = draw.pick(f"Make {one(noun)} in some {word}.", f"Produce one {noun}.")
    main = Parameter(name, "string", draw.pick("", "", f"The {word}."))
    ending = draw.pick("maker", "writer", "producer", "builder")
    tool = Tool(f"{noun}_{ending}", described, (main,))
    return Plan("make", tool, described.split()[0].lower(), noun, name)


def other_tools(draw: Draw, plan: Plan, count: int, *, asks: bool) -> list[Tool]:
    """Draw tools that a request for `plan` does not want, though they look like it.

    Args:
        draw: The source of choices.
        plan: What the request wants.
        count: How many tools.
        asks: Whether the request is a question without a verb; then only tools that
            change something may share the subject.
    """
    found: dict[str, Tool] = {plan.tool.name: plan.tool}
    while len(found) <= count:
        rival = _rival(draw, plan)
        if not _confusable(plan, rival, asks=asks):
            found.setdefault(rival.tool.name, rival.tool)
    return list(found.values())[1:]


def _rival(draw: Draw, plan: Plan) -> Plan:
    """Draw a tool that shares the verb, the subject, the kind or nothing."""
    sort = draw.rng.random()
    if plan.kind in ("get", "do"):
        if sort < 0.35:  # noqa: PLR2004
            kind: Kind = draw.pick("get", "do")
            verb = draw.rng.choice(GET if kind == "get" else DO)
            return common_plan(draw, kind, verb, plan.subject.replace(" ", "_"))
        if sort < 0.6:  # noqa: PLR2004
            return common_plan(draw, plan.kind, plan.verb, draw.words.snake())
    elif plan.kind == "apply" and sort < 0.6:  # noqa: PLR2004
        return apply_plan(draw)
    elif plan.kind == "sum" and sort < 0.6:  # noqa: PLR2004
        return _sum_plan(draw)
    return make_plan(draw)


def _confusable(plan: Plan, rival: Plan, *, asks: bool) -> bool:
    if plan.kind == "sum":
        return rival.verb == plan.verb
    if rival.subject != plan.subject:
        return False
    if plan.kind not in ("get", "do"):
        return True
    return rival.verb == plan.verb or (asks and rival.kind == "get")
