"""Parameters of made-up tools and records."""

from __future__ import annotations

from typing import Any

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_schemas import Parameter, Type
from langchain_ssr.demo.corpus.tool_values import make_integer, make_number

_NAMES: dict[str, list[str]] = {
    line.split()[0]: line.split()[1:]
    for line in """
string title note comment category color language address email topic
integer limit count size year page quantity level seconds width height
number price weight ratio distance amount share budget temperature
boolean verbose urgent recursive public draft dry_run shared silent
array tags labels items members keys codes
enum mode format unit kind color priority status
""".strip().splitlines()
}
"""Usual names of parameters, by sort."""
_DESCRIBED = 0.3  # share of the parameters that have a description
_GENERIC = ("name", "value", "input", "query", "key", "text", "argument", "id")


def docstring(parameters: list[Parameter]) -> str:
    """Write what LangChain leaves of a docstring in a description."""
    lines = "".join(f"\n        {p.name}: The {p.label}." for p in parameters)
    return f"\n\n    Args:{lines}" if lines else "\n\n    Returns a text."


def main_parameter(draw: Draw, of: str, others: list[Parameter]) -> Parameter:
    """Draw the parameter for `of`; its name or its description says so."""
    taken = {parameter.name for parameter in others}
    kind: Type = draw.pick("string", "string", "string", "integer")
    name, description = of, f"The {of}." if draw.chance(_DESCRIBED) else ""
    sort = draw.rng.random()
    if sort < 0.2:  # noqa: PLR2004
        name = f"{of}_{'id' if kind == 'integer' else 'name'}"
    elif sort < 0.4:  # noqa: PLR2004
        name, description = draw.rng.choice(_GENERIC), f"The {of}."
    name = of if name in taken else name
    if name in taken:
        name = f"the_{of}"
    return Parameter(name, kind, description)


def extra_parameters(draw: Draw, count: int) -> list[Parameter]:
    """Draw parameters with different names, the optional ones at the end."""
    found: dict[str, Parameter] = {}
    while len(found) < count:
        parameter = _extra_parameter(draw)
        found.setdefault(parameter.name, parameter)
    return sorted(found.values(), key=lambda parameter: not parameter.required)


def _extra_parameter(draw: Draw) -> Parameter:
    sort = draw.pick("string", "string", "integer", "integer", *_NAMES)
    known = draw.chance(0.35)
    name = draw.rng.choice(_NAMES[sort]) if known else draw.words.snake()
    label = name.replace("_", " ")
    kind: Type = "string" if sort == "enum" else sort
    options: tuple[str, ...] = ()
    if sort == "enum":
        options = tuple(draw.words.distinct(draw.rng.randint(2, 3), 1))
    description = ""
    if draw.chance(_DESCRIBED):
        description = draw.pick(f"The {label}.", f"The {label} to use.")
    items = draw.pick("string", "integer") if sort == "array" else "string"
    required = draw.chance(0.6)
    default = None
    if not required and draw.chance(0.75):
        default = _default(draw, sort, options)
    bounds: tuple[tuple[str, int], ...] = ()
    if kind == "integer" and draw.chance(0.05):
        bounds = draw.pick(
            (("minimum", -9999), ("maximum", 9999)),
            (("exclusiveMaximum", 10000), ("exclusiveMinimum", -10000)),
        )
    return Parameter(
        name, kind, description, items, options, required, default, bounds=bounds
    )


def _default(draw: Draw, sort: str, options: tuple[str, ...]) -> Any:
    if options:
        return options[0]
    if sort == "integer":
        return abs(make_integer(draw))
    if sort == "number":
        return abs(make_number(draw))
    if sort == "boolean":
        return draw.chance(0.5)
    return draw.words.noun() if sort == "string" else None
