"""What a class is tested for, as plain JSON for the judge."""

from __future__ import annotations

from typing import Any

from langchain_ssr.demo.corpus.class_kinds import Case, Test, python_value
from langchain_ssr.demo.corpus.class_source import KINDS, method_name, signature
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Field, Method

# Values are short and dyadic: their sums and quotients print the same everywhere.
_SAMPLES: dict[str, Any] = {
    "int": 7,
    "float": 6.5,
    "str": "Abc de",
    "bool": True,
    "list[str]": ["p", "a", "k"],
    "list[int]": [4, 9, 1, 6],
    "list[float]": [2.5, 8.0, 0.25],
    "dict[str, int]": {"a": 2, "k": 11, "b": 5},
    "dict[str, float]": {"a": 1.5, "k": 4.0, "b": 0.5},
}
_NEW = {"int": 12, "float": 7.25, "str": "zz", "bool": False}
_EMPTY = {"list": "[]", "dict": "{}"}


def _case(spec: ClassSpec, method: Method, values: dict[str, Any]) -> Case:
    field = spec.field(method.keys[0]) if method.keys else spec.fields[0]
    new = "zz" if field.base == "dict" else _NEW[field.element]
    if len(method.keys) > 1:
        new = values[spec.field(method.keys[1]).name]
    return Case(
        m=method_name(spec, method),
        cls=spec.name,
        f=field.name,
        v=values[field.name],
        x=new,
        d=python_value(field.default),
        err=KINDS[method.kind].error,
        values=values,
    )


def _field_tests(spec: ClassSpec, field: Field, required: str) -> list[Test]:
    default = field.default
    if default is None:
        return []
    made = f"{spec.name}({required}).{field.name}"
    if default == "empty":
        return [
            [made, _EMPTY[field.base]],
            # A default that all instances share is the classic mistake.
            [f"{made} is {made}", "False"],
        ]
    value = python_value(default)
    return [[made, repr(value)]]


def _style_tests(spec: ClassSpec) -> list[Test]:
    names = [method_name(spec, method) for method in spec.methods]
    fields = [field.name for field in spec.fields]
    tests = [
        [f"hasattr({spec.name}, '__dataclass_fields__')", str(spec.dataclass)],
        [f"[n for n in vars({spec.name}) if n in {names!r}]", repr(names)],
        [
            f"{{bool(getattr({spec.name}, n).__doc__) for n in {names!r}}}",
            repr({spec.docstrings}),
        ],
    ]
    hints = f"{spec.name}.__init__.__annotations__"
    if spec.hints:
        # A container that starts empty may be `list[str] | None`.
        types = [
            field.type if "[" in field.type else f"<class '{field.type}'>"
            for field in spec.fields
        ]
        shown = f"[str({hints}[n]).split(' |')[0] for n in {fields!r}]"
        tests.append([shown, repr(types)])
    else:
        tests.append([f"len({hints})", "0"])
    return tests


def expected(spec: ClassSpec) -> dict[str, Any]:
    """Return what the judge needs to test a class.

    Args:
        spec: The class.

    Returns:
        `class` (its name), `new` (source of the instance `c` that each test gets
        afresh), `tests` (an expression and the `repr` of its value or `raises X`, each)
        and `signatures` (of all methods).
    """
    values = {field.name: _SAMPLES[field.type] for field in spec.fields}
    required = ", ".join(
        repr(values[field.name]) for field in spec.fields if field.default is None
    )
    new = f"{spec.name}({', '.join(map(repr, values.values()))})"
    tests: list[Test] = []
    for field in spec.fields:
        wanted = repr(values[field.name])
        tests.append([f"c.{field.name} == {wanted}", "True"])
        tests += _field_tests(spec, field, required)
    for method in spec.methods:
        tests += KINDS[method.kind].tests(_case(spec, method, values))
    return {
        "class": spec.name,
        "new": new,
        "tests": tests + _style_tests(spec),
        "signatures": [signature(spec, method) for method in spec.methods],
    }
