"""A class to be written: its fields, its methods, its style.

Everything else of the skill "code" (request, reasoning, source, tests) is computed from
a `ClassSpec`, so they cannot disagree.
"""

from __future__ import annotations

import builtins
import dataclasses
import keyword

NUMBERS = ("int", "float")
NUMERIC_LISTS = ("list[int]", "list[float]")
LISTS = ("list[str]", *NUMERIC_LISTS)
DICTS = ("dict[str, int]", "dict[str, float]")
CONTAINERS = LISTS + DICTS
SCALARS = (*NUMBERS, "str", "bool")

_USED_IN_SOURCES = {"self", "cls", "data", "other", "field", "dataclass", "amount"}
_USED_IN_SOURCES |= {"value"}
RESERVED = frozenset(
    {*keyword.kwlist, *dir(builtins), *_USED_IN_SOURCES, "c", "property"}
)
"""Names that would break a class or its tests."""


@dataclasses.dataclass(frozen=True)
class Field:
    """One field.

    Attributes:
        key: Its number; methods refer to it, so that it may be renamed or moved.
        name: Its name. For a container `<stem>_<suffix>`.
        stem: What one element is called; the same as `name` for a scalar.
        type: Its type as Python writes it.
        default: Its default as Python source, `"empty"` for a container that starts
            empty, None if the caller must give it.
    """

    key: int
    name: str
    stem: str
    type: str
    default: str | None

    @property
    def base(self) -> str:
        """The type without its elements, for example `"list"`."""
        return self.type.split("[")[0]

    @property
    def element(self) -> str:
        """The type of one element, or of a dict's values."""
        if "[" not in self.type:
            return self.type
        return self.type.split("[")[1].rstrip("]").split(", ")[-1]

    @property
    def line(self) -> str:
        """The decision that the reasoning states about it."""
        if self.default is None:
            state = "required"
        elif self.default == "empty":
            state = "default empty"
        else:
            state = f"default `{self.default}`"
        return f"`{self.name}`: `{self.type}`, {state}"


@dataclasses.dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        kind: Its key in `class_source.KINDS`.
        keys: The fields that it works on; empty for one that works on all.
        name: A name that the user asked for; empty if the name follows from the kind.
    """

    kind: str
    keys: tuple[int, ...]
    name: str = ""


@dataclasses.dataclass(frozen=True)
class ClassSpec:
    """One class.

    Attributes:
        name: Its name.
        dataclass: Whether it is a dataclass; else it has an `__init__`.
        hints: Whether a plain class has type hints; a dataclass always has.
        docstrings: Whether class and methods have docstrings.
        fields: Its fields, in the order of the constructor.
        methods: Its methods, in the order of the source.
    """

    name: str
    dataclass: bool
    hints: bool
    docstrings: bool
    fields: tuple[Field, ...]
    methods: tuple[Method, ...]

    @property
    def line(self) -> str:
        """The decision that the reasoning states about the class as a whole."""
        if self.dataclass:
            style = "dataclass"
        else:
            style = f"plain class, {'' if self.hints else 'no '}type hints"
        return (
            f"- class `{self.name}`: {style}, "
            f"{'' if self.docstrings else 'no '}docstrings"
        )

    def field(self, key: int) -> Field:
        """Return the field with this key."""
        return next(field for field in self.fields if field.key == key)

    def with_field(self, new: Field) -> ClassSpec:
        """Return a copy in which `new` is in the place of the field with its key."""
        fields = tuple(new if old.key == new.key else old for old in self.fields)
        return dataclasses.replace(self, fields=fields)

    def with_method(self, index: int, **changes: str) -> ClassSpec:
        """Return a copy in which one method has these other attributes."""
        methods = list(self.methods)
        methods[index] = dataclasses.replace(methods[index], **changes)  # type: ignore[arg-type]
        return dataclasses.replace(self, methods=tuple(methods))
