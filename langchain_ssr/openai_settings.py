"""Settings of a `ChatOpenAI` -> settings of a `ChatSSR`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import CallSettings

_SAME = frozenset(
    {
        *("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed"),
        *("n", "logprobs", "top_logprobs", "max_tokens", "stop", "reasoning_effort"),
        *("streaming", "stream_usage", "max_retries", "extra_body"),
        *("http_client", "http_async_client"),
    }
)
"""Fields of both, with the same meaning."""
_RENAMED = {
    "model_name": "model",
    "openai_api_base": "base_url",
    "openai_api_key": "api_key",
    "request_timeout": "timeout",
}
_WITHOUT_MEANING = frozenset(
    {
        # Clients that ChatOpenAI made of its settings.
        *("client", "async_client", "root_client", "root_async_client"),
        # The model's own tokenizer counts; the engine's timeout watches streams.
        *("tiktoken_model_name", "stream_chunk_timeout"),
        # Made for OpenAI's models, and made anew for this one.
        "profile",
    }
)


_VARIABLES = {
    "openai_api_base": ("OPENAI_API_BASE",),
    "openai_api_key": ("OPENAI_API_KEY",),
    "openai_organization": ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION"),
    "openai_proxy": ("OPENAI_PROXY",),
}
"""Where ChatOpenAI finds what was not given to it."""


def settings_of(llm: Any) -> dict[str, Any]:
    """Read the settings that were given to a `ChatOpenAI`.

    Args:
        llm: A `ChatOpenAI` of langchain-openai, or a chat model like it.

    Returns:
        Arguments for `ChatSSR`. Fields of a request that are no setting of it are in
        `extra_body`.

    Raises:
        SettingsError: If it is none, or has a setting that vLLM or this package has
            no counterpart of.
    """
    if not isinstance(llm, BaseChatModel) or not hasattr(llm, "openai_api_base"):
        raise SettingsError(
            f"from_chat_openai takes a ChatOpenAI, not a {type(llm).__name__}. For one "
            "with tools or other things bound, pass the model and bind them again."
        )
    settings: dict[str, Any] = {}
    for name in sorted(llm.model_fields_set - _WITHOUT_MEANING):
        value = getattr(llm, name)
        if not _was_given(llm, name, value):
            continue
        if name == "metadata":  # without the versions that ChatOpenAI wrote there
            settings[name] = {k: v for k, v in value.items() if k != "lc_versions"}
        elif name == "default_headers":
            settings[name] = dict(value)
        elif name in _RENAMED:
            settings[_RENAMED[name]] = value
        elif name in _SAME or name in BaseChatModel.model_fields:
            settings[name] = value
        elif name != "model_kwargs":
            raise SettingsError(
                f"from_chat_openai: {name}={value!r} has no counterpart"
            )
    settings.setdefault("model", llm.model_name)  # type: ignore[attr-defined]
    _divide(llm.model_kwargs, settings)  # type: ignore[attr-defined]
    _check_timeout(settings.get("timeout"))
    _check_key(settings.get("api_key"))
    return settings


def _was_given(llm: BaseChatModel, name: str, value: Any) -> bool:
    default = type(llm).model_fields[name].get_default(call_default_factory=True)
    if value is None or value == default:
        return False
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return text not in map(os.environ.get, _VARIABLES.get(name, ()))


def _divide(model_kwargs: Mapping[str, Any], settings: dict[str, Any]) -> None:
    """Sort fields of OpenAI's request into settings and other fields of vLLM's."""
    known = CallSettings.canonical_names()
    mine = {name: value for name, value in model_kwargs.items() if name in known}
    others = {name: value for name, value in model_kwargs.items() if name not in known}
    if mine:
        settings["model_kwargs"] = mine
    if others:
        settings["extra_body"] = {**others, **settings.get("extra_body", {})}


def _check_timeout(timeout: Any) -> None:
    if timeout is not None and not isinstance(timeout, (int, float)):
        raise _unknown(f"timeout={timeout!r}", "pass timeout=SECONDS")


def _check_key(key: Any) -> None:
    if callable(key):
        raise _unknown("a function as api_key", 'pass api_key="..."')


def _unknown(what: str, remedy: str) -> SettingsError:
    return SettingsError(f"from_chat_openai: {what} has no counterpart; {remedy}")
