"""Structured output: records to fill by a call, and answers that are JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.tool_parameters import extra_parameters
from langchain_ssr.demo.corpus.tool_plans import Plan
from langchain_ssr.demo.corpus.tool_reasoning import (
    arguments_of,
    calls_check,
    conclude,
    decide,
    fill,
    reason,
)
from langchain_ssr.demo.corpus.tool_requests import Request
from langchain_ssr.demo.corpus.tool_schemas import Dialect, Parameter, Tool
from langchain_ssr.demo.corpus.tool_turns import call_message, system_message
from langchain_ssr.demo.corpus.tool_values import (
    Argument,
    give,
    join,
    leave_out,
    make_value,
    one,
    spell,
)

_GENRES = ("poem", "riddle", "story", "slogan", "headline", "speech", "toast", "rhyme")


def make_structured(draw: Draw) -> Example:
    """Make a conversation whose answer is a record: a call, or bare JSON."""
    thinking = not draw.chance(0.04)
    invents = draw.chance(0.25)
    if draw.chance(0.6):
        task = _invent(draw) if invents else _extract(draw)
        return _by_call(draw, task, thinking=thinking)
    by_schema = draw.chance(0.45)
    task = _invent(draw) if invents else _extract(draw, typed=by_schema)
    return _by_json(draw, task, by_schema=by_schema, thinking=thinking)


@dataclasses.dataclass(frozen=True)
class _Task:
    """A record and the text that it is filled from."""

    record: Tool
    arguments: tuple[Argument, ...]
    text: str
    request: str


def _extract(draw: Draw, *, typed: bool = True) -> _Task:
    """Draw a record whose values stand in a text.

    Args:
        draw: The source of choices.
        typed: Whether a schema says the types; if not, the text itself has to.
    """
    parameters = extra_parameters(draw, draw.rng.randint(1, 4))
    if not typed:
        parameters = [
            Parameter(p.name, p.type) for p in parameters if p.type != "array"
        ]
        parameters = parameters or [Parameter("count", "integer")]
    elif draw.chance(0.15):
        parameters[0] = dataclasses.replace(
            parameters[0], required=True, nullable=True, default=None
        )
    arguments = tuple(_fact(draw, p, typed=typed) for p in parameters)
    while not any(argument.given for argument in arguments):
        arguments = tuple(_fact(draw, p, typed=typed) for p in parameters)
    snake = draw.words.snake()
    title = "".join(word.capitalize() for word in snake.split("_"))
    subject = snake.replace("_", " ")
    name = draw.pick(title, title, f"{title}Record", f"{title}Info")
    described = draw.pick(
        *("", f"{one(subject).capitalize()}.", f"{one(subject).capitalize()}"),
        *(f"Record of {one(subject)}.", f"The data of {one(subject)}."),
    )
    text = _tell(draw, subject, [a for a in arguments if a.written])
    request = draw.pick(
        "Extract the record.",
        f"Extract the {subject}.",
        "Read the data from this text.",
    )
    return _Task(Tool(name, described, tuple(parameters)), arguments, text, request)


def _fact(draw: Draw, parameter: Parameter, *, typed: bool) -> Argument:
    if not typed:
        value = make_value(draw, parameter)
        written = json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and value.isascii() and draw.chance(0.5):
            written = value.rstrip(".")
            value = written
        settled = f" is `{spell(value)}`."
        fact = Argument(parameter, value, written, f"`{parameter.name}`", settled)
        return fact.after(parameter.label)
    absent = 0.35 if not parameter.required or parameter.nullable else 0
    if draw.chance(absent):
        return leave_out(parameter)
    fact = give(draw, parameter).after(parameter.label)
    if parameter.type == "boolean" and draw.chance(0.3):
        written = "yes" if fact.value else "no"
        settled = f", {written}{fact.settled}"
        return dataclasses.replace(fact, written=written, settled=settled)
    return fact


def _tell(draw: Draw, subject: str, facts: list[Argument]) -> str:
    """Write the facts as a text, one time in five in an order of its own."""
    if draw.chance(0.2):
        facts = draw.rng.sample(facts, len(facts))
    pairs = [(fact.parameter.label, fact.written) for fact in facts]
    if draw.chance(0.1):
        other = draw.words.adjective() + " " + draw.words.noun()
        pairs.insert(draw.rng.randint(0, len(pairs)), (other, draw.words.word()))
    if not pairs:
        return f"There is {one(subject)}."
    style = draw.rng.randint(0, 4)
    if style == 0:
        return f"The {subject} has " + join([f"{k} {v}" for k, v in pairs]) + "."
    if style == 1:
        return " ".join(f"The {k} is {v}." for k, v in pairs)
    if style == 2:  # noqa: PLR2004
        return "\n".join(f"{k}: {v}" for k, v in pairs)
    if style == 3:  # noqa: PLR2004
        return f"New {subject}: " + "; ".join(f"{k} {v}" for k, v in pairs) + "."
    facts_told = "; its ".join(f"{k} is {v}" for k, v in pairs)
    return f"I saw {one(subject)}. Its {facts_told}."


def _invent(draw: Draw) -> _Task:
    """Draw a record of texts that nobody gives: the model has to write them.

    A model of five million parameters is no poet: for each text it writes a line that
    names the field and the topic, which is enough to fill any schema sensibly.
    """
    genre = draw.rng.choice(_GENRES)
    names = draw.words.distinct(draw.rng.randint(1, 3), 2)
    topic = draw.pick(f"{draw.words.noun()}s", f"a {draw.words.adjective()} robot")
    topic = draw.pick(topic, draw.words.place(), f"{draw.words.word()}s")
    skipped = names[-1] if len(names) > 1 and draw.chance(0.35) else ""
    arguments = []
    for name in names:
        label = name.replace("_", " ")
        optional = name == skipped
        described = draw.pick("", f"the {label} of the {genre}", f"{label} to use")
        parameter = Parameter(name, "string", described, required=not optional)
        arguments.append(_invented(parameter, topic, skip=name == skipped))
    if draw.chance(0.2):
        rating = Parameter(draw.pick("rating", "level"), "integer", required=False)
        arguments.append(leave_out(rating))
    request = draw.pick(
        f"Write {one(genre)} about {topic}",
        f"Write me {one(genre)} about {topic}",
        f"Make up a {genre} about {topic}",
        f"I want a {genre} about {topic}",
    )
    if skipped:
        label = skipped.replace("_", " ")
        request += draw.pick(f", no {label}", f" without the {label}")
    parameters = tuple(argument.parameter for argument in arguments)
    a_genre = one(genre).capitalize()
    described = draw.pick("", f"{a_genre}.", a_genre, f"{a_genre} for the user.")
    name = draw.pick(genre.capitalize(), f"{draw.words.title(1)}{genre.capitalize()}")
    tool = Tool(name, described, parameters)
    return _Task(tool, tuple(arguments), "", request + ".")


def _invented(parameter: Parameter, topic: str, *, skip: bool) -> Argument:
    name = parameter.name
    if skip:
        thought = f"`{name}` is optional, not wanted: leave it out."
        return Argument(parameter, None, "", thought, given=False)
    value = f"The {parameter.label} about {topic}."
    reading = f"`{name}` is a string that I write"
    return Argument(parameter, value, value, reading, f": `{value}`.")


def _by_call(draw: Draw, task: _Task, *, thinking: bool) -> Example:
    """Let the record be filled by a call, as `with_structured_output` does."""
    record = task.record
    text = draw.pick(
        f"{task.request} {task.text}",
        f"{task.request}\n{task.text}",
        f"{task.text} {task.request}",
        f"Fill in a {record.name}: {task.text or task.request}",
        task.text or task.request,
    ).strip()
    plan = Plan("make", record, "fill", record.name)
    thought = "The user wants a record."
    request = Request(plan, "do", text, "", thought, task.arguments)
    reasoning = reason(text, [request]) if thinking else ""
    check = calls_check([request])
    message = call_message(check.expected, reasoning)
    dialect: Dialect = draw.pick("pydantic", "pydantic", "openai")
    user = {"role": "user", "content": text}
    return Example(
        "tools",
        "record_by_call",
        [*system_message(draw), user, message],
        [check if thinking else Check(check.kind, check.expected)],
        [record.declaration(dialect)],
        thinking,
    )


def _by_json(draw: Draw, task: _Task, *, by_schema: bool, thinking: bool) -> Example:
    """Let the answer be JSON, as the JSON modes do."""
    demand = _schema_demand(draw, task) if by_schema else _keys_demand(draw, task)
    ask = f"{task.request} {task.text}".strip()
    if draw.chance(0.35):
        messages = [{"role": "system", "content": demand}]
        user = draw.pick(ask, task.text or ask)
    else:
        messages = []
        user = draw.pick(f"{ask}\n{demand}", f"{demand}\n{ask}", f"{ask} {demand}")
    arguments = task.arguments if by_schema else _wanted(task)
    answer = arguments_of(arguments)
    plan = Plan("make", task.record, "", "")
    lines = fill(Request(plan, "do", "", "", "", arguments))
    keys = ", ".join(f"`{key}`" for key in answer)
    goal = "that fits the schema" if by_schema else f"with the keys {keys}"
    decisions = decide(arguments)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": json.dumps(answer, ensure_ascii=False),
    }
    if thinking:
        thoughts = "\n".join([f"The user wants JSON {goal}.", *lines])
        message["reasoning_content"] = conclude(thoughts, decisions)
    return Example(
        "tools",
        "json_by_schema" if by_schema else "json_by_keys",
        [*messages, {"role": "user", "content": user}, message],
        [Check("json", answer, tuple(decisions) if thinking else ())],
        enable_thinking=thinking,
    )


def _wanted(task: _Task) -> tuple[Argument, ...]:
    """Return the arguments that the answer gives: without a schema, no others exist."""
    return tuple(argument for argument in task.arguments if argument.given)


def _keys_demand(draw: Draw, task: _Task) -> str:
    names = [argument.parameter.name for argument in _wanted(task)]
    mark = draw.pick("`", "`", "'", '"', "")
    listed = join([f"{mark}{name}{mark}" for name in names])
    noun = "key" if len(names) == 1 else "keys"
    return draw.pick(
        f"Answer in JSON with the {noun} {listed}.",
        f"Give the answer as a JSON object with the {noun} {listed}.",
        f"Respond with JSON only, {noun}: {listed}.",
        f"Write JSON with {listed} {noun} and nothing else.",
        f"Your answer has to be a JSON object with {listed} as {noun}.",
    )


def _schema_demand(draw: Draw, task: _Task) -> str:
    schema = task.record.schema(draw.pick("openai", "pydantic"))
    if draw.chance(0.5):
        schema = {**schema, "title": task.record.name}
    text = json.dumps(schema)
    return draw.pick(
        f"Answer with a JSON object that fits this schema: {text}",
        f"Answer in JSON. The schema:\n{text}",
        f"Respond with JSON that conforms to this JSON schema:\n```\n{text}\n```",
        f"Output schema: {text}\nOutput JSON only.",
    )
