"""The kinds of changes of mind."""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_change import NO_FIELD, STYLE, Change
from langchain_ssr.demo.corpus.class_draw import draw_default, identifiers, is_free
from langchain_ssr.demo.corpus.class_source import KINDS, method_name
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.example import Draw

_REFUSALS = {
    "increase": ("if the amount is negative", "for a negative amount"),
    "decrease": ("if there is not enough", "if it is more than there is"),
}


def _add_check(draw: Draw, spec: ClassSpec) -> Change | None:
    """A method must refuse something, so it gets a check."""
    indices = [i for i, m in enumerate(spec.methods) if KINDS[m.kind].checked]
    if not indices:
        return None
    index = draw.pick(*indices)
    method = spec.methods[index]
    checked = KINDS[method.kind].checked
    name, error = method_name(spec, method), KINDS[checked].error
    when = draw.pick(*_REFUSALS[method.kind])
    tail = draw.pick(
        f"`{name}` must raise `{error}` {when}.",
        f"`{name}` should raise `{error}` {when}.",
        f"let `{name}` raise `{error}` {when}.",
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_method(index, kind=checked)

    thought = f"`{name}` gets a check:"
    return Change(tail, thought, apply, frozenset(method.keys), spec)


def _rename_method(draw: Draw, spec: ClassSpec) -> Change | None:
    """The user wants another name for a method."""
    new = identifiers(draw, 1)[0]
    if not is_free(spec, new):
        return None
    index = draw.rng.randrange(len(spec.methods))
    method = spec.methods[index]
    name = method_name(spec, method)
    tail = draw.pick(
        f"call `{name}` `{new}` instead.",
        f"the method `{name}` should be called `{new}`.",
        f"rename `{name}` to `{new}`.",
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_method(index, name=new)

    keys = frozenset(method.keys or {NO_FIELD})
    return Change(tail, f"`{name}` becomes `{new}`:", apply, keys, spec)


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
        f"the default of `{field.name}` should be {new}.",
        f"`{field.name}` should start at {new}.",
        f"let `{field.name}` start at {new}.",
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return old.with_field(dataclasses.replace(old.field(field.key), default=new))

    thought = f"`{field.name}` starts at `{new}`:"
    return Change(tail, thought, apply, frozenset({field.key}), spec)


def _to_float(draw: Draw, spec: ClassSpec) -> Change | None:
    """A number can have fractions, so an int becomes a float."""
    fields = [f for f in spec.fields if f.type == "int" and f.default is not None]
    if not fields:
        return None
    field = draw.pick(*fields)
    tail = draw.pick(
        f"`{field.name}` can have fractions, so make it a float.",
        f"make `{field.name}` a float.",
        f"`{field.name}` should be a float.",
    )

    def apply(old: ClassSpec) -> ClassSpec:
        changed = dataclasses.replace(
            old.field(field.key), type="float", default=f"{field.default}.0"
        )
        return old.with_field(changed)

    thought = f"`{field.name}` becomes `float`:"
    return Change(tail, thought, apply, frozenset({field.key}), spec)


def _style(draw: Draw, spec: ClassSpec) -> Change | None:
    """The style is asked for only at the end."""
    before = dataclasses.replace(spec, dataclass=False, hints=True, docstrings=False)
    thought, changes, tails = draw.pick(
        (
            "The class becomes a dataclass:",
            {"dataclass": True},
            ("make it a dataclass.", "it must be a dataclass.", "use a dataclass."),
        ),
        (
            "The class gets docstrings:",
            {"docstrings": True},
            ("add docstrings.", "please write docstrings.", "I want docstrings."),
        ),
    )

    def apply(old: ClassSpec) -> ClassSpec:
        return dataclasses.replace(old, **changes)

    return Change(draw.pick(*tails), thought, apply, frozenset({STYLE}), before)


MAKERS = (
    _add_check,
    _add_check,
    _rename_method,
    _rename_method,
    _new_default,
    _to_float,
    _style,
)
"""Each makes a change of its kind, or None if the class does not allow it; drawn as
often as they are here."""
