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
        called = expression.replace("M(", f"c.{self.m}(")
        return [called.replace("; F", f"; c.{self.f}"), repr(value)]

    def fails(self, expression: str) -> Test:
        """Expect the method's error."""
        return [expression.replace("M(", f"c.{self.m}("), f"raises {self.err}"]


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of method.

    Attributes:
        types: The field types that it works on; empty if it works on no single field.
        name: Its name if the user gives none.
        names: Other names that a user may give it.
        params: Names and types of its parameters.
        returns: The type that it returns.
        text: What it does, as one sentence.
        body: Its lines.
        asks: How a user may ask for it, each to be read after "to". The first words
            differ from those of all other kinds, for a tiny model to tell them apart.
        tests: Makes the tests of one method of this kind.
        error: What it raises if its check fails; empty if it has none.
        checked: The kind that does the same after a check.
    """

    types: tuple[str, ...]
    name: str
    names: tuple[str, ...]
    params: tuple[tuple[str, str], ...]
    returns: str
    text: str
    body: tuple[str, ...]
    asks: tuple[str, ...]
    tests: Callable[[Case], list[Test]]
    error: str = ""
    checked: str = ""


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
        "f": field.name,
        "s": field.stem,
        "t": field.type,
        "e": field.element,
        # A dict is asked for its keys, whatever its values are.
        "k": "str" if field.base == "dict" else field.element,
        "d": field.default or "",
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
    }


def fill(template: str, filled: dict[str, str]) -> str:
    """Put texts into the slots of a template."""
    return _SLOT.sub(lambda match: filled[match.group(1)], template)


def python_value(source: str | None) -> Any:
    """Return the value of a default; None if there is none or it is a container."""
    return None if source in {None, "empty"} else ast.literal_eval(str(source))
