"""Draws a class to be written."""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_kinds import fill, slots
from langchain_ssr.demo.corpus.class_kinds_whole import PAIR_KINDS, WHOLE_KINDS
from langchain_ssr.demo.corpus.class_source import KINDS, method_name, signature
from langchain_ssr.demo.corpus.class_spec import (
    CONTAINERS,
    DICTS,
    LISTS,
    RESERVED,
    ClassSpec,
    Field,
    Method,
)
from langchain_ssr.demo.corpus.example import Draw

_SUFFIXES = {
    "list[str]": ("names", "list", "labels", "log"),
    "list[int]": ("scores", "numbers", "points"),
    "list[float]": ("sizes", "weights", "lengths"),
    "dict[str, int]": ("counts", "votes", "totals"),
    "dict[str, float]": ("prices", "rates", "costs"),
}
_WHOLE = 0.25
"""How often a method on all fields may be drawn, which is then likely."""
_NONSENSE = 0.08
"""Of the names that a user gives: they say nothing about the method."""


def identifiers(draw: Draw, count: int) -> list[str]:
    """Draw different identifiers that are safe in a class, mostly of one word."""
    found: dict[str, None] = {}
    while len(found) < count:
        name = draw.words.snake(draw.pick(1, 1, 1, 1, 2))
        if name not in RESERVED:
            found[name] = None
    return list(found)


def draw_default(draw: Draw, type_: str) -> str:
    """Draw a default of a type, as Python source."""
    if type_ == "int":
        return str(draw.pick(0, 1, draw.rng.randint(2, 20), draw.rng.randint(21, 999)))
    if type_ == "float":
        return f"{draw.rng.randint(0, 99)}.{draw.pick(0, 5, 25)}"
    if type_ == "bool":
        return draw.pick("True", "False")
    if type_ == "str":
        return f'"{draw.words.word()}"'
    return "empty"


def draw_type(draw: Draw) -> str:
    """Draw a field's type; lists and dicts have more methods and come often."""
    ones = (("int",), ("int",), ("float",), ("str",), ("bool",))
    group = draw.pick(*ones, LISTS, LISTS, LISTS, DICTS, DICTS)
    return str(draw.pick(*group))


def draw_field(draw: Draw, key: int, stem: str, type_: str | None = None) -> Field:
    """Draw a field.

    Args:
        draw: The choices.
        key: Its number.
        stem: A name that no other field uses.
        type_: Its type, if it is not to be drawn.

    Returns:
        The field.
    """
    type_ = type_ or draw_type(draw)
    name = f"{stem}_{draw.pick(*_SUFFIXES[type_])}" if type_ in CONTAINERS else stem
    likely = 0.75 if type_ in CONTAINERS else 0.55
    default = draw_default(draw, type_) if draw.chance(likely) else None
    return Field(key, name, stem, type_, default)


def _candidates(draw: Draw, spec: ClassSpec) -> list[Method]:
    """Return all methods that the fields allow."""
    found = [
        Method(key, (field.key,))
        for field in spec.fields
        for key, kind in KINDS.items()
        if field.type in kind.types
        if key != "reset" or field.default is not None
    ]
    scalars = [field.key for field in spec.fields if field.type in {"int", "str"}]
    if len(scalars) > 1:
        found += [Method(key, (scalars[0], scalars[1])) for key in PAIR_KINDS]
    return found + [Method(key, ()) for key in WHOLE_KINDS if draw.chance(_WHOLE)]


def _base(kind: str) -> str:
    return kind.removesuffix("_checked")


def draw_methods(draw: Draw, spec: ClassSpec, count: int) -> ClassSpec:
    """Give a class methods; each field gets one before any gets two.

    Args:
        draw: The choices.
        spec: A class with fields.
        count: How many methods.

    Returns:
        The class with its methods.
    """
    candidates = _candidates(draw, spec)
    draw.rng.shuffle(candidates)
    used: dict[tuple[int, ...], int] = {}
    chosen: list[Method] = []
    kinds: set[str] = set()
    names = {field.name for field in spec.fields} | RESERVED
    while len(chosen) < count and candidates:
        candidates.sort(key=lambda method: used.get(method.keys[:1], 0))
        method = candidates.pop(0)
        name = method_name(spec, method)
        if name in names or (_base(method.kind) in kinds and draw.chance(0.7)):
            continue
        chosen.append(method)
        names.add(name)
        kinds.add(_base(method.kind))
        used[method.keys[:1]] = used.get(method.keys[:1], 0) + 1
    # The order in which the user thinks of them is not the order of the fields.
    draw.rng.shuffle(chosen)
    return dataclasses.replace(spec, methods=tuple(chosen))


def _name_methods(draw: Draw, spec: ClassSpec) -> ClassSpec:
    """Give each method the name that the user asks for."""
    for index, method in enumerate(spec.methods):
        new = fill(draw.pick(*KINDS[method.kind].names), slots(spec, method))
        if draw.chance(_NONSENSE):
            new = identifiers(draw, 1)[0]
        name = new if is_free(spec, new) else method_name(spec, method)
        spec = spec.with_method(index, name=name)
    return spec


def draw_spec(draw: Draw, fields: int, methods: int, *, named: bool) -> ClassSpec:
    """Draw a class.

    Args:
        draw: The choices.
        fields: How many fields.
        methods: How many methods at most.
        named: Whether the user names the methods.

    Returns:
        The class; fields without default come first.
    """
    stems = identifiers(draw, fields)
    drawn = [draw_field(draw, key, stem) for key, stem in enumerate(stems)]
    drawn.sort(key=lambda field: field.default is not None)
    dataclass = draw.chance(0.45)
    spec = ClassSpec(
        name=class_name(draw),
        dataclass=dataclass,
        hints=dataclass or draw.chance(0.7),
        docstrings=draw.chance(0.4),
        fields=tuple(
            dataclasses.replace(field, key=key) for key, field in enumerate(drawn)
        ),
        methods=(),
    )
    spec = draw_methods(draw, spec, methods)
    return _name_methods(draw, spec) if named else spec


def class_name(draw: Draw) -> str:
    """Draw a class name that is no builtin."""
    while True:
        name = draw.words.title(draw.pick(1, 2))
        if name not in RESERVED:
            return name


def is_free(spec: ClassSpec, name: str) -> bool:
    """Say whether no field, method or parameter of a class has this name."""
    taken = {field.name for field in spec.fields} | {f.stem for f in spec.fields}
    taken |= {method_name(spec, method) for method in spec.methods}
    signatures = " ".join(signature(spec, method) for method in spec.methods)
    return name not in taken and f"{name}(" not in signatures and name not in RESERVED
