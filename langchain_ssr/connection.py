"""The settings that are fixed when a chat model is built: which engine, and where."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from langchain_core.utils import from_env, secret_from_env
from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    StrictBool,
    StrictStr,
    field_validator,
    model_validator,
)

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import CallSettings, merge_call_settings
from langchain_ssr.settings_base import NonNegativeInt, Settings, drop_none

BASE_URL_VARIABLE = "SSR_BASE_URL"
LONGEST_TIMEOUT = 1e9
"""Seconds; Python's locks cannot wait for ten times as long."""
_OF_OPENAI = {"extra_headers": "default_headers"}
"""Arguments of the openai client's calls, and the settings that do the same."""


class ConnectionSettings(Settings):
    """Where the engine is. Fixed when the chat model is built.

    Example:
        ```python
        from langchain_ssr.connection import ConnectionSettings

        there = ConnectionSettings(model="demo", base_url="http://localhost:8000/v1")
        ChatSSR(**there.model_dump(exclude_unset=True), max_tokens=200)
        ```
    """

    model: Annotated[StrictStr, Field(min_length=1)] = Field(
        validation_alias=AliasChoices("model", "model_name")
    )
    """A short name (`"smollm2"`, `"Qwen3.5-4B"`), a hub id, or a folder."""
    base_url: StrictStr | None = Field(
        default_factory=from_env(BASE_URL_VARIABLE, default=None),
        validation_alias=AliasChoices("base_url", "openai_api_base"),
        validate_default=True,
    )
    """Root of a server's OpenAI API, `"http://localhost:8000/v1"`. Default:
    `SSR_BASE_URL`, and without it an engine in this process; so has `""`."""
    api_key: SecretStr | None = Field(
        default_factory=secret_from_env(["SSR_API_KEY", "VLLM_API_KEY"], default=None),
        validation_alias=AliasChoices("api_key", "openai_api_key"),
    )
    """Key of a vLLM server. Default: `SSR_API_KEY` or `VLLM_API_KEY`."""
    timeout: Annotated[float, Field(gt=0, le=LONGEST_TIMEOUT)] | None = Field(
        default=None, validation_alias=AliasChoices("timeout", "request_timeout")
    )
    """Seconds to wait for an answer, or in a stream for its next part; `None`: as long
    as it takes. The start of the engine is not counted."""
    max_retries: NonNegativeInt = 2
    """How often a server is asked again that cannot be reached, is too busy (429) or
    fails (5xx). Never after a stream's first chunk, and never after `timeout`."""
    default_headers: dict[str, str] | None = Field(
        default=None, exclude=True, repr=False
    )
    """Headers of every request to a server. They may hold secrets, so they are neither
    shown nor serialized."""
    http_client: Any = Field(default=None, exclude=True, repr=False)
    """An `httpx.Client` for requests to a server, with a proxy or certificates of
    your own. It is yours to close; `timeout` counts, not its own."""
    http_async_client: Any = Field(default=None, exclude=True, repr=False)
    """The same for asynchronous calls: an `httpx.AsyncClient`."""
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of `vllm serve`, with underscores: `{"max_model_len": 4096}`."""
    streaming: StrictBool = False
    """Let `invoke` stream too, so that callbacks see each token as it comes."""
    stream_usage: StrictBool = True
    """Deliver `usage_metadata` with the last chunk of a stream."""
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Call settings in a dictionary, for code that passes settings on."""

    @classmethod
    def _refuse_contradictions(cls, given: Mapping[str, Any]) -> None:
        """Refuse two names of one setting that say different things.

        Raises:
            SettingsError: If there are any; the message has both names.
        """
        names, first = cls.canonical_names(), dict[str, str]()
        for name, value in drop_none(given).items():
            other = first.setdefault(names.get(name, name), name)
            if other != name and given[other] != value:
                raise SettingsError(
                    f"{other} and {name} are two names of one setting, and their "
                    "values differ"
                )

    @classmethod
    def _refuse_fixed(cls, call: Iterable[str]) -> None:
        """Refuse settings in a call that only the constructor takes.

        Raises:
            SettingsError: If there are any; the message says where they belong.
        """
        names = {**cls.canonical_names(), **_OF_OPENAI}
        for name in call:
            if name in names and name not in CallSettings.canonical_names():
                raise SettingsError(
                    f"{name} is no setting of a call, but of the constructor: "
                    f"{cls.__name__}({names[name]}=...)"
                )

    @field_validator("base_url")
    @classmethod
    def _checked_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("http://", "https://")):
            msg = f"a server's address begins with http:// or https://; got {value!r}"
            raise ValueError(msg)
        return value.rstrip("/") if value else None

    @field_validator("engine_kwargs")
    @classmethod
    def _checked_engine_kwargs(cls, value: dict[str, Any]) -> dict[str, Any]:
        given = {k: str(v) if isinstance(v, Path) else v for k, v in value.items()}
        for name, argument in given.items():
            try:
                json.dumps(argument)
            except (TypeError, ValueError):
                msg = f"{name!r} must be what JSON can say; got {argument!r}"
                raise ValueError(msg) from None
        return given

    @model_validator(mode="after")
    def _engine_is_here_or_there(self) -> Self:
        if self.base_url and self.engine_kwargs:
            msg = (
                "engine_kwargs are for an engine in this process, but base_url (or "
                f"{BASE_URL_VARIABLE}) says {self.base_url}: give them to the server"
            )
            raise ValueError(msg)
        return self

    @field_validator("model_kwargs")
    @classmethod
    def _checked_model_kwargs(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            cls._refuse_fixed(value)
            cls._refuse_contradictions(value)
            merge_call_settings(value)
        except SettingsError as error:
            raise ValueError(str(error)) from None
        return value
