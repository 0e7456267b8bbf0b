"""The kinds of changes of mind."""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_change import NO_FIELD, STYLE, Change
from langchain_ssr.demo.corpus.class_draw import draw_default, identifiers, is_free
from langchain_ssr.demo.corpus.class_source import KINDS, method_name
from langchain_ssr.demo.corpus.class_spec import LISTS, ClassSpec, Field
from langchain_ssr.demo.corpus.example import Draw


def _method_step(spec: ClassSpec, index: int) -> int:
    return 1 + len(spec.fields) + index


def _field_step(spec: ClassSpec, field: Field) -> int:
    return 1 + spec.fields.index(field)


def _to_set(draw: Draw, spec: ClassSpec) -> Change | None:
    """Duplicates must not count, so a list becomes a set."""

    def fits(field: Field) -> bool:
        kinds = [KINDS[m.kind] for m in spec.methods if field.key in m.keys]
        return (
            field.type in LISTS[:2]
            and not field.name.endswith("_list")
            and bool(kinds)
            and all(kind.as_set for kind in kinds)
        )

    fields = [field for field in spec.fields if fits(field)]
    if not fields:
        return None
    field = draw.pick(*fields)
    new = field.type.replace("list", "set")
    tail = draw.pick(
        f"Duplicates in `{field.name}` must not count.",
        f"`{field.name}` must not hold the same {field.stem} twice.",
        f"Each {field.stem} may be in `{field.name}` only once.",
    )

    def apply(old: ClassSpec) -> ClassSpec:
        changed = old.with_field(dataclasses.replace(old.field(field.key), type=new))
        for index, method in enumerate(old.methods):
            if field.key in method.keys:
                changed = changed.with_method(index, kind=KINDS[method.kind].as_set)
        return changed

    thought = (
        f"the request does not want duplicates in `{field.name}`. A list keeps them, "
        f"so `{field.name}` becomes a `{new}`."
    )
    step = _field_step(spec, field)
    return Change(tail, thought, apply, frozenset({field.key}), step, spec)


_REFUSALS = {
    "increase": ("a negative amount", "ValueError"),
    "decrease": ("a negative amount", "ValueError"),
    "raise_entry": ("a negative amount", "ValueError"),
    "rename": ("an empty value", "ValueError"),
    "get": ("a missing key", "KeyError"),
}


def _add_check(draw: Draw, spec: ClassSpec) -> Change | None:
    """A method must refuse something, so it gets a check."""
    indices = [i for i, m in enumerate(spec.methods) if KINDS[m.kind].checked]
    if not indices:
        return None
    index = draw.pick(*indices)
    method = spec.methods[index]
    name, (what, error) = method_name(spec, method), _REFUSALS[method.kind]
    tail = draw.pick(
        f"`{name}` must refuse {what} with `{error}`.",
        f"In `{name}`, {what} must raise `{error}`.",
        f"`{name}` should raise `{error}` for {what}.",
    )
    thought = (
        f"the request says that `{name}` must refuse {what}. "
        f"It needs a check that raises `{error}`."
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_method(index, kind=KINDS[method.kind].checked, error=error)

    step = _method_step(spec, index)
    return Change(tail, thought, apply, frozenset(method.keys), step, spec)


def _renamable(spec: ClassSpec) -> list[int]:
    return [
        index
        for index, method in enumerate(spec.methods)
        if not KINDS[method.kind].name.startswith("__")
    ]


def _rename_method(draw: Draw, spec: ClassSpec) -> Change | None:
    """The user wants another name for a method."""
    indices = _renamable(spec)
    new = identifiers(draw, 1)[0]
    if not indices or not is_free(spec, new):
        return None
    index = draw.pick(*indices)
    method = spec.methods[index]
    old_name = method_name(spec, method)
    tail = draw.pick(
        f"The method `{old_name}` should be called `{new}`.",
        f"The method `{old_name}` should have the name `{new}`.",
        f"Rename `{old_name}` to `{new}`.",
    )
    thought = (
        f"the request says that `{old_name}` is to be `{new}`. What it does stays."
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_method(index, name=new)

    step = _method_step(spec, index)
    keys = frozenset(method.keys or {NO_FIELD})
    return Change(tail, thought, apply, keys, step, spec, at_once=True)


def _rename_field(draw: Draw, spec: ClassSpec) -> Change | None:
    """The user wants another name for a field; names that follow from it change too."""
    field = draw.pick(*spec.fields)
    new = identifiers(draw, 1)[0]
    suffix = field.name.removeprefix(field.stem)
    if not is_free(spec, new) or not is_free(spec, new + suffix):
        return None
    tail = draw.pick(
        f"Rename the field `{field.name}` to `{new}{suffix}`, also in method names.",
        f"The field `{field.name}` should be called `{new}{suffix}`, "
        "and the method names should follow.",
    )
    thought = (
        f"the request renames the field `{field.name}` to `{new}{suffix}`. "
        "The methods have to follow."
    )

    def apply(old: ClassSpec) -> ClassSpec:
        renamed = dataclasses.replace(old.field(field.key), name=new + suffix, stem=new)
        return old.with_field(renamed)

    keys, step = frozenset({field.key}), _field_step(spec, field)
    return Change(tail, thought, apply, keys, step, spec, at_once=True)


def _clash(draw: Draw, spec: ClassSpec) -> Change | None:
    """A method has the name of a field, and the user said what to do then."""
    indices = [index for index in _renamable(spec) if not spec.methods[index].name]
    if not indices:
        return None
    index = draw.pick(*indices)
    name = draw.pick(*spec.fields).name
    prefix = draw.pick("get", "do", "run", "call", "make")
    new = f"{prefix}_{name}"
    if not is_free(spec, new):
        return None
    before = spec.with_method(index, name=name)
    tail = draw.pick(
        f"If a method has the name of a field, put `{prefix}_` in front of it.",
        f"Where a method and a field share a name, the method gets `{prefix}_` first.",
    )
    thought = (
        f"`{name}` is already a field, so a method `{name}` would clash with it. "
        f"The method becomes `{new}`, as the request says."
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_method(index, name=new)

    # All fields: none of them may be renamed at the same time.
    keys = frozenset(field.key for field in spec.fields)
    step = _method_step(spec, index)
    return Change(tail, thought, apply, keys, step, before, at_once=True)


def _new_default(draw: Draw, spec: ClassSpec) -> Change | None:
    """The user corrects a default."""
    fields = [f for f in spec.fields if f.default not in {None, "empty"}]
    if not fields:
        return None
    field = draw.pick(*fields)
    new = draw_default(draw, field.type)
    if new == field.default:
        return None
    tail = draw.pick(
        f"Correction: the default of `{field.name}` is {new}.",
        f"Sorry, `{field.name}` should start at {new}, not {field.default}.",
        f"I changed my mind: `{field.name}` starts at {new}.",
    )
    thought = f"the request corrects the default of `{field.name}` to `{new}`."

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_field(dataclasses.replace(old.field(field.key), default=new))

    step = _field_step(spec, field)
    return Change(tail, thought, apply, frozenset({field.key}), step, spec)


def _to_float(draw: Draw, spec: ClassSpec) -> Change | None:
    """A number can have fractions, so an int becomes a float."""
    fields = [f for f in spec.fields if f.type == "int" and f.default is not None]
    if not fields:
        return None
    field = draw.pick(*fields)
    tail = draw.pick(
        f"`{field.name}` can have fractions.",
        f"Mind that `{field.name}` is not always a whole number.",
    )
    thought = (
        f"the request says that `{field.name}` can have fractions. "
        f"An `int` cannot, so it becomes a `float` with default `{field.default}.0`."
    )

    def apply(old: ClassSpec) -> ClassSpec:
        changed = dataclasses.replace(
            old.field(field.key), type="float", default=f"{field.default}.0"
        )
        return old.with_field(changed)

    step = _field_step(spec, field)
    return Change(tail, thought, apply, frozenset({field.key}), step, spec)


def _style(draw: Draw, spec: ClassSpec) -> Change | None:
    """The style is asked for only at the end."""
    before = dataclasses.replace(spec, dataclass=False, hints=True, docstrings=False)
    what, changes, tails = draw.pick(
        (
            "a dataclass, so there is no `__init__` to write",
            {"dataclass": True},
            ("Please make it a dataclass.", "It must be a dataclass."),
        ),
        (
            "docstrings in the class and in each method",
            {"docstrings": True},
            ("And please add docstrings.", "Everything needs docstrings."),
        ),
        (
            "no type hints",
            {"hints": False},
            ("Leave out the type hints.", "And no type hints please."),
        ),
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return dataclasses.replace(old, **changes)

    thought = f"the end of the request asks for {what}."
    return Change(draw.pick(*tails), thought, apply, frozenset({STYLE}), 0, before)


MAKERS = (
    _to_set,
    _to_set,
    _add_check,
    _add_check,
    _rename_method,
    _rename_field,
    _clash,
    _new_default,
    _to_float,
    _style,
)
"""Each makes a change of its kind, or None if the class does not allow it."""
