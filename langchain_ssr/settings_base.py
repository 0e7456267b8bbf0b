"""What all settings have in common: `None` for the default, names that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)

LARGEST_INT = 2**63 - 1
"""The largest integer that reaches the engine: its messages hold 64 bits."""
PositiveInt = Annotated[StrictInt, Field(ge=1, le=LARGEST_INT)]
NonNegativeInt = Annotated[StrictInt, Field(ge=0, le=LARGEST_INT)]

NONE_IS_A_VALUE = frozenset({"enable_thinking"})
"""Settings whose `None` says something else than "not set"."""


def drop_none(data: Any) -> Any:
    """Leave out what is `None`, so that the field's default applies."""
    if not isinstance(data, Mapping):
        return data
    return {
        name: value
        for name, value in data.items()
        if value is not None or name in NONE_IS_A_VALUE
    }


class Settings(BaseModel):
    """Common behaviour: aliases or names, `None` for the default, no extras."""

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, protected_namespaces=()
    )

    @model_validator(mode="before")
    @classmethod
    def _none_means_default(cls, data: Any) -> Any:
        return drop_none(data)

    @classmethod
    def canonical_names(cls) -> dict[str, str]:
        """Map every accepted name, aliases included, to the field's name."""
        names: dict[str, str] = {}
        for field, info in cls.model_fields.items():
            names[field] = field
            alias = info.validation_alias
            if isinstance(alias, AliasChoices):
                names.update({str(choice): field for choice in alias.choices})
            elif alias is not None:
                names[str(alias)] = field
        return names
