"""The settings that are fixed when a chat model is built: which engine, and where."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.utils import secret_from_env
from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    StrictBool,
    StrictStr,
    field_validator,
)

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import NonNegativeInt, Settings, merge_call_settings

LONGEST_TIMEOUT = 1e9
"""Seconds; Python's locks cannot wait for ten times as long."""


class ConnectionSettings(Settings):
    """Where the engine is. Fixed when the chat model is built."""

    model: Annotated[StrictStr, Field(min_length=1)] = Field(
        validation_alias=AliasChoices("model", "model_name")
    )
    """A short name (`"smollm2"`, `"Qwen3.5-4B"`), a hub id, or a folder."""
    base_url: StrictStr | None = Field(
        default=None, validation_alias=AliasChoices("base_url", "openai_api_base")
    )
    """Root of a vLLM server's OpenAI API. `None`: an engine in this process."""
    api_key: SecretStr | None = Field(
        default_factory=secret_from_env(["SSR_API_KEY", "VLLM_API_KEY"], default=None),
        validation_alias=AliasChoices("api_key", "openai_api_key"),
    )
    """Key of a vLLM server. Default: `SSR_API_KEY` or `VLLM_API_KEY`."""
    timeout: Annotated[float, Field(gt=0, le=LONGEST_TIMEOUT)] | None = Field(
        default=None, validation_alias=AliasChoices("timeout", "request_timeout")
    )
    """Seconds to wait for an answer, or in a stream for its next part. The start of
    the engine is not counted."""
    max_retries: NonNegativeInt = 2
    default_headers: dict[str, str] | None = None
    http_client: Any = Field(default=None, exclude=True)
    http_async_client: Any = Field(default=None, exclude=True)
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of `vllm serve`, with underscores: `{"max_model_len": 4096}`."""
    streaming: StrictBool = False
    stream_usage: StrictBool = True
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Call settings in a dictionary, for code that passes settings on."""

    @field_validator("model_kwargs")
    @classmethod
    def _checked_model_kwargs(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            merge_call_settings(value)
        except SettingsError as error:
            raise ValueError(str(error)) from None
        return value
