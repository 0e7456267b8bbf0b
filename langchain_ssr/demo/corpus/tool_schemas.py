"""Tools as the corpus knows them, and their declarations in the usual dialects."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Literal

Type = Literal["string", "integer", "number", "boolean", "array"]
Dialect = Literal["openai", "pydantic"]
"""How a schema is spelled: as people write it by hand, or as pydantic generates it."""

A_TYPE = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a tool, or one property of a record.

    Attributes:
        name: Its key.
        type: Its JSON type.
        description: What it means; may be empty.
        items: The type of an array's elements.
        options: The values of an enumeration; empty if any string will do.
        required: Whether a call has to give it.
        default: What it is if a call leaves it out; None if the schema does not say.
        nullable: Whether null is a value; only for required ones.
        bounds: Further keywords, for example `{"minimum": 0}`.
    """

    name: str
    type: Type
    description: str = ""
    items: str = "string"
    options: tuple[str, ...] = ()
    required: bool = True
    default: Any = None
    nullable: bool = False
    bounds: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """The name in words, for sentences."""
        return self.name.replace("_", " ")

    def schema(self, dialect: Dialect) -> dict[str, Any]:
        """Return the JSON schema of the values."""
        schema: dict[str, Any] = {"type": self.type}
        if self.type == "array":
            schema["items"] = {"type": self.items}
        if self.options:
            schema["enum"] = list(self.options)
        schema.update(self.bounds)
        by_pydantic = dialect == "pydantic"
        bare = not self.required and self.default is None
        if self.nullable or (bare and by_pydantic):
            schema = {"anyOf": [schema, {"type": "null"}]}
        if bare and by_pydantic:
            schema["default"] = None
        if self.default is not None:
            schema["default"] = self.default
        if self.description:
            schema["description"] = self.description
        return dict(sorted(schema.items())) if by_pydantic else schema


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool, or a record to fill.

    Attributes:
        name: The function's name.
        description: What it does; may be empty.
        parameters: In the order of the declaration, which is also that of arguments:
            vLLM's grammars allow no other.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def quoted(self) -> str:
        """What the reasoning quotes, as the chat template writes it.

        From the description on, if there is one, to the name.
        """
        name = f'"name": {json.dumps(self.name)}'
        if not self.description:
            return name
        return f"{json.dumps(self.description, ensure_ascii=False)}, {name}"

    def schema(self, dialect: Dialect) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        properties = {p.name: p.schema(dialect) for p in self.parameters}
        required = [p.name for p in self.parameters if p.required]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return dict(sorted(schema.items())) if dialect == "pydantic" else schema

    def declaration(self, dialect: Dialect) -> dict[str, Any]:
        """Return the tool as a request declares it."""
        function: dict[str, Any] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        function["parameters"] = self.schema(dialect)
        return {"type": "function", "function": function}
