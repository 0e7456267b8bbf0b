"""What a kind of method is, and how its templates are filled for one class.

Templates have slots such as `<f>` (the field) or `<s>` (one element of it). The text of
a kind is the decision that the reasoning states, the docstring and what the body needs.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from langchain_ssr.demo.corpus.class_spec import ClassSpec, Method

Test = list[str]
"""An expression over a new instance `c`, and the `repr` of its value or `raises X`."""

_SLOT = re.compile(r"<(\w+)>")


@dataclasses.dataclass(frozen=True)
class Case:
    """One method with a sample instance `c` that it is tested on.

    Attributes:
        m: The method's name.
        cls: The class's name.
        f: The field's name.
        v: The field's value in the sample.
        x: An element, or a dict's key, that is not in the sample's value.
        d: The field's default; None if it has none or is a container.
        err: What the method raises if its check fails.
        values: All fields of the sample, in the order of the constructor.
    """

    m: str
    cls: str
    f: str
    v: Any
    x: Any
    d: Any
    err: str
    values: dict[str, Any]

    def gives(self, expression: str, value: Any) -> Test:
        """Expect a value; `M` stands for `c.<method>` and `F` for the field."""
        field = f"sorted(c.{self.f})" if isinstance(self.v, set) else f"c.{self.f}"
        if isinstance(value, set):
            value = sorted(value)
        return [
            expression.replace("M(", f"c.{self.m}(").replace("; F", f"; {field}"),
            repr(value),
        ]

    def fails(self, expression: str) -> Test:
        """Expect the method's error."""
        return [expression.replace("M(", f"c.{self.m}("), f"raises {self.err}"]


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of method.

    Attributes:
        types: The field types that it works on; empty if it works on no single field.
        name: Its name unless the user asks for another one.
        params: Names and types of its parameters.
        returns: The type that it returns.
        text: What it does, as one sentence.
        body: Its lines.
        asks: How a user may ask for it, each to be read after "to".
        hint: A thought that leads to the body.
        tests: Makes the tests of one method of this kind.
        checked: The kind that does the same after one more check.
        as_set: The kind that does the same if the list becomes a set.
    """

    types: tuple[str, ...]
    name: str
    params: tuple[tuple[str, str], ...]
    returns: str
    text: str
    body: tuple[str, ...]
    asks: tuple[str, ...]
    hint: str
    tests: Callable[[Case], list[Test]]
    checked: str = ""
    as_set: str = ""


def slots(spec: ClassSpec, method: Method) -> dict[str, str]:
    """Return what the slots stand for in one method of a class.

    Args:
        spec: The class.
        method: One of its methods.

    Returns:
        The text of each slot by its name.
    """
    if not method.keys:
        return _whole_slots(spec)
    field = spec.field(method.keys[0])
    filled = {
        "err": method.error,
        "f": field.name,
        "s": field.stem,
        "t": field.type,
        "e": field.element,
        "d": field.default or "",
        "zero": "0.0" if field.element == "float" else "0",
    }
    if len(method.keys) > 1:
        filled["g"] = spec.field(method.keys[1]).name
    return filled


def _whole_slots(spec: ClassSpec) -> dict[str, str]:
    names = [field.name for field in spec.fields]
    return {
        "C": spec.name,
        "items": ", ".join(f'"{name}": self.{name}' for name in names),
        "args": ", ".join(f'data["{name}"]' for name in names),
        "pairs": ", ".join(f"{name}={{self.{name}!r}}" for name in names),
        "same": " and ".join(f"self.{name} == other.{name}" for name in names),
    }


def fill(template: str, filled: dict[str, str]) -> str:
    """Put texts into the slots of a template."""
    return _SLOT.sub(lambda match: filled[match.group(1)], template)


def python_value(source: str | None) -> Any:
    """Return the value of a default; None if there is none or it is a container."""
    return None if source in {None, "empty"} else ast.literal_eval(str(source))
