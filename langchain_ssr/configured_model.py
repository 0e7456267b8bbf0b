"""A chat model's settings: checked, merged with a call's, traced and serialized."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from collections.abc import Mapping
from functools import reduce
from typing import Any, Self, cast

from langchain_core.language_models import (
    BaseChatModel,
    LangSmithParams,
    ModelProfile,
)
from langchain_core.messages import BaseMessage
from pydantic import ConfigDict, StrictBool, model_validator

from langchain_ssr.backends.base import JSON
from langchain_ssr.callbacks import drafts_are_watched
from langchain_ssr.calls import split_call
from langchain_ssr.connection import ConnectionSettings
from langchain_ssr.content_blocks import PROVIDER
from langchain_ssr.errors import SettingsError
from langchain_ssr.models import thinking_default
from langchain_ssr.profile import model_profile, takes_media
from langchain_ssr.settings import (
    CallSettings,
    SpeculationSettings,
    check_names,
    merge_call_settings,
)
from langchain_ssr.tracing import settings_metadata
from langchain_ssr.wire.requests import build_request, speculation_to_wire

_SHARED = ("rate_limiter", "callbacks", "cache", "http_client", "http_async_client")
"""Fields that a deep copy shares."""
DISABLE_VARIABLE = "SSR_DISABLE"
"""Environment variable that turns speculation off everywhere: `SSR_DISABLE=1`."""


class _DerivedProfile(dict[str, Any]):
    """A profile that follows from the model, and not one that the user gave."""


class ConfiguredModel(ConnectionSettings, CallSettings, BaseChatModel):
    """A chat model that knows its settings, and makes requests of them."""

    model_config = ConfigDict(
        extra="ignore",
        populate_by_name=True,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,  # it may hold a key
    )

    stream_drafts: StrictBool | None = None  # type: ignore[assignment]
    """Deliver the text of drafts while the model still thinks. `None`: where a hook for
    drafts watches. (A copy cannot tell a `False` of the user's from a default.)"""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        check_names(data, cls.canonical_names(), cls.__name__)
        cls._refuse_contradictions(data)
        if isinstance(data.get("profile"), _DerivedProfile):
            # `configurable_fields` passes all fields on, perhaps to another model.
            return {name: data[name] for name in data if name != "profile"}
        return data

    def _resolve_model_profile(self) -> ModelProfile | None:
        profile = model_profile(
            self.model, self.engine_kwargs, is_remote=bool(self.base_url)
        )
        return cast("ModelProfile", _DerivedProfile(profile))

    @property
    def model_name(self) -> str:
        """The model, by the name that langchain-openai has for it."""
        return self.model

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy the model. A profile that follows from the settings follows the new.

        Args:
            update: Settings to replace, by name or alias; they are not checked.
            deep: Whether to copy what the settings hold, too.
        """
        names = self.canonical_names()
        given = {names.get(name, name): value for name, value in (update or {}).items()}
        copied = super().model_copy(update=given, deep=deep)
        if given and isinstance(copied.profile, _DerivedProfile | None):
            copied.profile = None
            with contextlib.suppress(Exception):  # as when a model is made
                copied.profile = copied._resolve_model_profile()  # noqa: SLF001
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        """Return what is pickled.

        Raises:
            SettingsError: If a setting works in this process only; the message names
                it.
        """
        for name in _SHARED:
            try:
                pickle.dumps(getattr(self, name))
            except (pickle.PicklingError, AttributeError):
                continue  # a lambda, for example: cloudpickle takes it
            except TypeError as error:  # a lock, a connection
                raise SettingsError(
                    f"{name}: {error}. Pickle llm.model_copy(update={{{name!r}: None}})"
                    ", and set it anew where the model is loaded."
                ) from error
        return super().__getstate__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy all but what cannot be copied, or works only if it is shared."""
        memo = {} if memo is None else memo
        for name in _SHARED:
            if (shared := getattr(self, name)) is not None:
                memo[id(shared)] = shared
        return super().__deepcopy__(memo)

    # --- requests -----------------------------------------------------------------

    def _settings(self, call: Mapping[str, Any]) -> CallSettings:
        """Merge constructor, `model_kwargs` and call; later ones win.

        `speculation` is off in the result if the engine has none.
        """
        self._refuse_fixed(call)
        own = {
            name: getattr(self, name)
            for name in self.model_fields_set & set(CallSettings.model_fields)
        }
        merged = merge_call_settings(own, self.model_kwargs, call)
        if merged.enable_thinking == "auto" and merged.reasoning_effort is None:
            merged.enable_thinking = thinking_default(self.model)
        if not self._speculates:
            merged.speculation = False
        return merged

    @property
    def _speculates(self) -> bool:
        """Whether the engine has SSR in it; a call can only turn it off."""
        return self.speculation and os.environ.get(DISABLE_VARIABLE, "0") in ("", "0")

    def _request(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        call: Mapping[str, Any],
        *,
        stream: bool,
    ) -> JSON:
        fields, settings = split_call(call, stop)
        merged = self._settings(settings)
        if drafts_are_watched() and "stream_drafts" not in merged.model_fields_set:
            merged.stream_drafts = True
        if stream and merged.n > 1:
            raise SettingsError("n: a stream carries one answer, so n must be 1")
        # A server's engine speculates unless it is told.
        if self._speculates or self.base_url:
            fields["vllm_xargs"] = speculation_to_wire(merged)
        media = bool(self.base_url) or takes_media(self.engine_kwargs)
        return build_request(
            self.model, messages, merged, stream=stream, media=media, **fields
        )

    # --- what LangChain asks of a model's settings ----------------------------------

    @property
    def _llm_type(self) -> str:
        return "chat-ssr"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        settings = self._settings({}).model_dump(exclude_defaults=True)
        return {"model": self.model, "base_url": self.base_url, **settings}

    def _get_ls_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop, **kwargs)
        params["ls_provider"] = PROVIDER
        kwargs.pop("model", None)
        with contextlib.suppress(SettingsError):  # the call itself will report it
            settings = self._settings(split_call(kwargs, stop)[1])
            if settings.temperature is not None:
                params["ls_temperature"] = settings.temperature
            if settings.max_tokens is not None:
                params["ls_max_tokens"] = settings.max_tokens
            if settings.stop:
                params["ls_stop"] = settings.stop
            return cast("LangSmithParams", {**params, **settings_metadata(settings)})
        return params

    def _combine_llm_outputs(
        self, llm_outputs: list[dict[str, Any] | None], /
    ) -> dict[str, Any]:
        """Add up the usage of several prompts; streams tell none here."""
        usages = [(output or {}).get("token_usage") for output in llm_outputs]
        return {"model_name": self.model, "token_usage": reduce(_added, usages, {})}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        """Return the cache's key: all that an answer's text depends on.

        Speculation does not change answers, so its settings are not in it. Settings
        that say the same in the constructor and in a call give the same key.
        """
        fields, call = split_call(kwargs, stop)
        settings = self._settings(call).model_dump(
            exclude=set(SpeculationSettings.model_fields), exclude_defaults=True
        )
        key = {
            "id": self.lc_id(),
            "model": self.model,
            "base_url": self.base_url,
            "engine_kwargs": self.engine_kwargs,
            "output_version": self.output_version,
            "settings": settings,
            "fields": fields,
        }
        return json.dumps(key, sort_keys=True, default=repr)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Whether LangChain can serialize the model's settings."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return the namespace of serialized models."""
        return ["langchain_ssr", "chat_model"]

    @property
    def lc_secrets(self) -> dict[str, str]:
        """Name the environment variables that stand for secrets."""
        return {"api_key": "SSR_API_KEY"}


def _added(one: Any, other: Any) -> Any:
    """Add up numbers, also those in dictionaries; what is `None` counts nothing."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, Mapping):
        return {n: _added(one.get(n), other.get(n)) for n in {**one, **other}}
    return one + other
