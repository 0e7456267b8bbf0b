"""Tools worth calling: what each is for, and the tools declared beside it.

A description begins with the words in which the reasoning states the goal of a request,
so that to choose a tool is to go on copying: the words again, then what follows them.
"""

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
_ENDINGS = ("Returns a number.", "Returns a text.", "Use it with care.")

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
        link: The preposition between the subject and the main value.
        symbol: The operator of a sum.
        rival: A tool that differs in what its main parameter is, if there is one.
    """

    kind: Kind
    tool: Tool
    verb: str
    subject: str
    main: str = ""
    of: str = ""
    link: str = "of"
    symbol: str = ""
    rival: Tool | None = None

    @property
    def goal(self) -> str:
        """What the tool does, in the first words of its description."""
        if self.kind == "sum":
            return f"{self.verb} two numbers"
        if self.kind == "make":
            return f"{self.verb} {one(self.subject)}"
        return f"{self.verb} the {self.subject}"


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
    return common_plan(draw, kind, _verb(draw, kind), draw.words.snake())


def _verb(draw: Draw, kind: Kind) -> str:
    """Draw a verb. Only what a tool "gets" can be asked for without a verb."""
    if kind == "do":
        return draw.rng.choice(DO)
    return "get" if draw.chance(0.5) else draw.rng.choice(GET)


def common_plan(draw: Draw, kind: Kind, verb: str, snake: str) -> Plan:
    """Draw the rest of a tool, given its verb and the thing that it works on."""
    goal = f"{verb} the {snake.replace('_', ' ')}"
    of = "" if draw.chance(0.12) else _noun_not_in(draw, snake)
    link = draw.pick("of", "of", "for", "in", "at")
    parameters = extra_parameters(draw, draw.pick(0, 0, 0, 1, 1, 1, 2, 3))
    main = main_parameter(draw, of, parameters) if of else None
    described = goal.capitalize()
    rival: Tool | None = None
    bare = draw.chance(0.1)
    name = f"{verb}_{snake}" if bare else _name(draw, verb, snake)
    if main:
        num_required = sum(parameter.required for parameter in parameters)
        parameters.insert(draw.rng.randint(0, num_required), main)
        if not bare and draw.chance(0.25):
            rival = _twin(draw, f"{verb}_{snake}", f"{described} {link}", main, of)
            alike = name == rival.name or draw.chance(0.4)
            name += f"_by_{of}" if alike else ""
        plain = rival or draw.chance(0.7)
        described += f" {link} {f'the {of}' if plain else one(of)}"
    described += draw.pick(".", ".", ".", "")
    if draw.chance(0.04):
        described += docstring(parameters)
    elif draw.chance(0.06):
        described = f"{described.rstrip('.')}. {draw.pick(*_ENDINGS)}"
    tool = Tool(name, "" if bare else described, tuple(parameters))
    subject = snake.replace("_", " ")
    given = main.name if main else ""
    return Plan(kind, tool, verb, subject, given, of, link, "", rival)


def _name(draw: Draw, verb: str, snake: str) -> str:
    """Draw the name of a tool; the description says what it does in any case."""
    shape = draw.rng.random()
    if shape < 0.75:  # noqa: PLR2004
        return f"{verb}_{snake}"
    return f"{snake}_{verb}" if shape < _BY_NAME else draw.words.made_up()


def _twin(draw: Draw, name: str, described: str, main: Parameter, of: str) -> Tool:
    """Draw a tool that does the same for another noun."""
    other = _noun_not_in(draw, f"{name}_{of}")
    name += draw.pick("", f"_by_{other}")
    parameter = dataclasses.replace(main, name=other, description="")
    return Tool(name, f"{described} the {other}.", (parameter,))


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
        tool = Tool(snake, f"Get the {subject}.")
        return Plan("apply", tool, "get", subject)
    name = draw.pick(
        "x", "n", "value", "number", "input", "argument", draw.words.word()
    )
    kind: Type = draw.pick("integer", "integer", "integer", "number")
    verb, link = draw.pick(
        *(("get", "of"), ("get", "of"), ("compute", "of"), ("apply", "to")),
        ("use", "on"),
    )
    described = f"{verb.capitalize()} the {subject} {link} {A_TYPE[kind]}."
    bounds: tuple[tuple[str, int], ...] = ()
    if kind == "integer" and draw.chance(0.15):
        bounds = (("exclusiveMaximum", 10000), ("exclusiveMinimum", -10000))
    main = Parameter(name, kind, draw.pick("", "", f"The {name}."), bounds=bounds)
    tool = Tool(snake, described, (main,))
    return Plan("apply", tool, verb, subject, name, "", link)


def _sum_plan(draw: Draw) -> Plan:
    """Draw a tool for arithmetic with two numbers."""
    verb, symbol, _ = draw.rng.choice(SUMS)
    kind: Type = draw.pick("integer", "integer", "number")
    first, second = (Parameter(name, kind) for name in draw.rng.choice(_PAIRS))
    noun = draw.words.noun()
    name = draw.pick(f"{verb}_values", f"{noun}_{verb}", f"{verb}_{noun}")
    tool = Tool(name, f"{verb.capitalize()} two numbers.", (first, second))
    return Plan("sum", tool, verb, "result", first.name, symbol=symbol)


def _make_plan(draw: Draw) -> Plan:
    """Draw a tool that makes a thing in some style."""
    noun = draw.words.noun()
    word = draw.pick("style", "manner", "theme", "flavor", "mood")
    name = draw.pick(word, f"{noun}_{word}", f"output_{word}")
    verb = draw.pick("make", "produce")
    described = f"{verb.capitalize()} {one(noun)}{draw.pick('', f' in some {word}')}."
    main = Parameter(name, "string", draw.pick("", "", f"The {word}."))
    ending = draw.pick("maker", "writer", "producer", "builder")
    tool = Tool(f"{noun}_{ending}", described, (main,))
    return Plan("make", tool, verb, noun, name, word, "with")


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
    """Draw a tool that shares the subject or the verb in half of the cases."""
    sort = draw.rng.random()
    if plan.kind in ("get", "do") and sort < 0.5:  # noqa: PLR2004
        if sort < 0.25:  # noqa: PLR2004
            kind: Kind = draw.pick("get", "do")
            snake = plan.subject.replace(" ", "_")
            return common_plan(draw, kind, _verb(draw, kind), snake)
        return common_plan(draw, plan.kind, plan.verb, draw.words.snake())
    if plan.kind == "apply" and sort < 0.4:  # noqa: PLR2004
        return apply_plan(draw)
    if plan.kind == "sum" and sort < 0.4:  # noqa: PLR2004
        return _sum_plan(draw)
    while (rival := make_plan(draw)).verb == plan.verb:
        pass
    return rival


def _confusable(plan: Plan, rival: Plan, *, asks: bool) -> bool:
    if plan.kind == "sum":
        return rival.verb == plan.verb
    if rival.subject != plan.subject:
        return False
    if plan.kind not in ("get", "do"):
        return True
    return rival.verb == plan.verb or (asks and rival.kind == "get")
