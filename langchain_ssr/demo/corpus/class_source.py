"""Writes the source of a class, and the lines that the reasoning states about it."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import fill, slots
from langchain_ssr.demo.corpus.class_kinds_containers import (
    ANY_CONTAINER_KINDS,
    LIST_KINDS,
)
from langchain_ssr.demo.corpus.class_kinds_dicts import DICT_KINDS
from langchain_ssr.demo.corpus.class_kinds_scalars import (
    NUMBER_KINDS,
    SCALAR_KINDS,
)
from langchain_ssr.demo.corpus.class_kinds_whole import PAIR_KINDS, WHOLE_KINDS
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Field, Method

KINDS = {
    **LIST_KINDS,
    **DICT_KINDS,
    **ANY_CONTAINER_KINDS,
    **NUMBER_KINDS,
    **SCALAR_KINDS,
    **PAIR_KINDS,
    **WHOLE_KINDS,
}
"""All kinds of methods by their keys."""

_EMPTY = {"list": "[]", "dict": "{}"}


def method_name(spec: ClassSpec, method: Method) -> str:
    """Return the name of a method."""
    return method.name or fill(KINDS[method.kind].name, slots(spec, method))


def signature(spec: ClassSpec, method: Method) -> str:
    """Return the first line of a method without `def` and the colon."""
    kind, filled = KINDS[method.kind], slots(spec, method)
    params = ["cls" if method.kind == "from_dict" else "self"]
    for name, type_ in kind.params:
        params.append(f"{name}: {type_}" if spec.hints else name)
    head = f"{method_name(spec, method)}({fill(', '.join(params), filled)})"
    return f"{head} -> {fill(kind.returns, filled)}" if spec.hints else head


def method_text(spec: ClassSpec, method: Method) -> str:
    """Return the sentence that says what a method does."""
    return fill(KINDS[method.kind].text, slots(spec, method))


def method_line(spec: ClassSpec, method: Method) -> str:
    """Return the decision that the reasoning states about a method."""
    return f"`{signature(spec, method)}`: {method_text(spec, method)}"


def decisions(spec: ClassSpec) -> tuple[str, ...]:
    """Return the lines of the reasoning's closing list.

    Fields and methods are numbered: so a tiny model finds what it said last of each,
    even where its name has changed since.
    """
    lines = [field.line for field in spec.fields]
    lines += [method_line(spec, method) for method in spec.methods]
    return (spec.line, *(f"{n}. {line}" for n, line in enumerate(lines, 1)))


def _dataclass_field(field: Field) -> str:
    if field.default is None:
        return f"    {field.name}: {field.type}"
    if field.default == "empty":
        factory = f"field(default_factory={field.base})"
        return f"    {field.name}: {field.type} = {factory}"
    return f"    {field.name}: {field.type} = {field.default}"


def _parameter(field: Field, hints: bool) -> str:
    if field.default is None:
        return f"{field.name}: {field.type}" if hints else field.name
    if field.default == "empty":
        return (
            f"{field.name}: {field.type} | None = None"
            if hints
            else (f"{field.name}=None")
        )
    if hints:
        return f"{field.name}: {field.type} = {field.default}"
    return f"{field.name}={field.default}"


def _constructor(spec: ClassSpec) -> list[str]:
    params = ", ".join(_parameter(field, spec.hints) for field in spec.fields)
    lines = [f"    def __init__(self, {params}){' -> None' if spec.hints else ''}:"]
    for field in spec.fields:
        value = field.name
        if field.default == "empty":
            value = f"{_EMPTY[field.base]} if {field.name} is None else {field.name}"
        lines.append(f"        self.{field.name} = {value}")
    return lines


def _method(spec: ClassSpec, method: Method) -> list[str]:
    filled = slots(spec, method)
    lines = ["", f"    def {signature(spec, method)}:"]
    if method.kind == "from_dict":
        lines.insert(1, "    @classmethod")
    if spec.docstrings:
        lines.append(f'        """{method_text(spec, method)}"""')
    lines += [f"        {fill(line, filled)}" for line in KINDS[method.kind].body]
    return lines


def write_source(spec: ClassSpec) -> str:
    """Write the class.

    Args:
        spec: What to write.

    Returns:
        Python source that ends with a line break.
    """
    lines: list[str] = []
    if spec.dataclass:
        factory = any(field.default == "empty" for field in spec.fields)
        names = "dataclass, field" if factory else "dataclass"
        lines += [f"from dataclasses import {names}", "", "", "@dataclass"]
    lines.append(f"class {spec.name}:")
    if spec.docstrings:
        kept = ", ".join(f"`{field.name}`" for field in spec.fields)
        lines += [f'    """Keep {kept}."""', ""]
    if spec.dataclass:
        lines += [_dataclass_field(field) for field in spec.fields]
    else:
        lines += _constructor(spec)
    for method in spec.methods:
        lines += _method(spec, method)
    return "\n".join(lines) + "\n"
