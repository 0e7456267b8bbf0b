"""What the operator of a server decides: defaults for clients, and limits on them.

It stands in vLLM's `additional_config` under "ssr": `{"max_drafts": 2, "limits":
{"num_speculative_tokens": 16}}`. The scheduler applies it, so it holds for every
endpoint of the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StrictInt, ValidationError

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import (
    REPLACED_BY_A_LIST,
    SpeculationSettings,
    check_names,
    describe,
)
from langchain_ssr.settings_base import NonNegativeInt, PositiveInt, Settings

KEY = "ssr"
"""The settings' place in `additional_config`."""
_LIMITS = "limits"


class Limits(Settings):
    """The most that a client may have; `None` for as much as it likes."""

    max_drafts: NonNegativeInt | None = None
    """Drafts for one request, also where a list of draft budgets names them."""
    max_draft_tokens: PositiveInt | None = None
    """Length of a draft, in tokens."""
    num_speculative_tokens: Annotated[StrictInt, Field(ge=1, le=128)] | None = None
    """Tokens proposed in a step. `langchain-ssr serve` starts the engine with it."""
    max_prediction_tokens: NonNegativeInt | None = None
    """Tokens of a `prediction` that are used."""
    stream_drafts: StrictBool = True
    """Whether drafts may be delivered early."""


class OperatorSettings:
    """Defaults and limits of a server, and what becomes of a client's wishes.

    Args:
        defaults: Speculation settings that hold where a client names none.
        limits: The most that a client may have.
    """

    def __init__(self, defaults: Mapping[str, Any], limits: Limits) -> None:
        """Keep checked settings; `read` checks them."""
        self.defaults = defaults
        self.limits = limits

    @classmethod
    def read(cls, options: Any) -> Self:
        """Read settings as they stand in `additional_config["ssr"]`.

        Args:
            options: Speculation settings by name, and under "limits" a `Limits`.

        Raises:
            SettingsError: If a name is unknown or a value is out of range. The message
                names the field.
        """
        if not isinstance(options, Mapping):
            raise SettingsError(f"{KEY}: must be a JSON object (got {options!r})")
        defaults = {k: v for k, v in options.items() if k != _LIMITS}
        _check(SpeculationSettings, defaults, f"{KEY} defaults")
        if defaults.get("prediction") is not None:
            raise SettingsError(
                f"{KEY} defaults: prediction: belongs to a request, not to a server"
            )
        given = options.get(_LIMITS)
        limits = _check(Limits, {} if given is None else given, f"{KEY} limits")
        return cls(defaults, limits)

    @classmethod
    def from_json(cls, defaults: str | None, limits: str | None) -> Self:
        """Read settings as they stand on a command line.

        Args:
            defaults: Speculation settings, as a JSON object.
            limits: The fields of `Limits`, as a JSON object.

        Raises:
            SettingsError: As `read` does, or if it is no JSON object.
        """
        options = _object(defaults, f"{KEY} defaults")
        if _LIMITS in options:
            raise SettingsError(f"{KEY} defaults: limits are an option of their own")
        return cls.read({**options, _LIMITS: _object(limits, f"{KEY} limits")})

    def to_config(self) -> dict[str, Any]:
        """Return what `read` takes; empty if nothing was set."""
        limits = self.limits.model_dump(exclude_defaults=True)
        return {**self.defaults, **({_LIMITS: limits} if limits else {})}

    def settle(
        self, asked: Mapping[str, Any], num_speculative_tokens: int = 0
    ) -> tuple[SpeculationSettings, dict[str, Any]]:
        """Merge a client's wishes with the defaults, and clamp them.

        Args:
            asked: What the client set.
            num_speculative_tokens: What the engine was started with; 0 if it does not
                speculate.

        Returns:
            The settings in force, and those among them that a client wanted more of,
            by name.

        Raises:
            ValidationError: If the client's settings are none.
        """
        settings = SpeculationSettings.model_validate(_merge(self.defaults, asked))
        most = self._most(settings, num_speculative_tokens)
        changed = {k: v for k, v in most.items() if getattr(settings, k) != v}
        clamped = {
            name: value
            for name, value in changed.items()
            if asked.get(name) is not None
        }
        return settings.model_copy(update=changed), clamped

    def _most(self, settings: SpeculationSettings, num_tokens: int) -> dict[str, Any]:
        """Return the limited settings, each as it is or at its limit."""
        limits = self.limits
        most: dict[str, Any] = {}
        for name in ("max_drafts", "max_draft_tokens", "num_speculative_tokens"):
            limit, value = getattr(limits, name), getattr(settings, name)
            most[name] = _least(value, limit)
        if num_tokens:
            most["num_speculative_tokens"] = min(
                most["num_speculative_tokens"], num_tokens
            )
        most["stream_drafts"] = settings.stream_drafts and limits.stream_drafts
        budgets = settings.draft_budget
        if isinstance(budgets, list):
            # A list stands for itself; `max_drafts` has no say beside it.
            del most["max_drafts"]
            most["draft_budget"] = budgets[: limits.max_drafts]
        return most

    def cut_prediction(
        self, token_ids: list[int] | None, clamped: dict[str, Any]
    ) -> list[int] | None:
        """Cut a prediction to its limit.

        Args:
            token_ids: The prediction's tokens, if there is one.
            clamped: Where it is noted, as the number of tokens that stay.
        """
        limit = self.limits.max_prediction_tokens
        if token_ids is None or limit is None or len(token_ids) <= limit:
            return token_ids
        clamped["prediction"] = limit
        return token_ids[:limit]


def _merge(defaults: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Put a client's settings over the defaults, which give way where they clash."""
    asked = {name: value for name, value in asked.items() if value is not None}
    merged = dict(defaults)
    if isinstance(asked.get("draft_budget"), list):
        for name in REPLACED_BY_A_LIST:
            merged.pop(name, None)
    elif isinstance(merged.get("draft_budget"), list) and (
        asked.keys() & REPLACED_BY_A_LIST
    ):
        del merged["draft_budget"]
    return merged | asked


def _least(value: int | None, limit: int | None) -> int | None:
    given = [number for number in (value, limit) if number is not None]
    return min(given, default=None)


def _object(text: str | None, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where}: must be a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: must be a JSON object (got {value!r})")
    return value


def _check(model: type[Settings], given: Any, where: str) -> Any:
    if isinstance(given, Mapping):
        check_names(given, model.canonical_names(), where)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise SettingsError(f"{where}: {describe(error)}") from None
