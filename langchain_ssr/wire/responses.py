"""Chat-completions JSON -> LangChain messages, whole or streamed.

Reasoning may come as `reasoning` (vLLM) or `reasoning_content` (older servers).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    InvalidToolCall,
    ToolCall,
)
from langchain_core.messages.ai import (
    InputTokenDetails,
    OutputTokenDetails,
    UsageMetadata,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from langchain_ssr.callbacks import DraftText
from langchain_ssr.content_blocks import PROVIDER, REASONING_KEY
from langchain_ssr.stats import SpeculationStats
from langchain_ssr.wire.streamed_calls import StreamedCalls, ending_of, new_call_id

__all__ = [
    "PROVIDER",
    "StreamReader",
    "response_metadata",
    "result_from_wire",
    "stats_from_wire",
    "usage_from_wire",
]


def usage_from_wire(usage: Mapping[str, Any] | None) -> UsageMetadata | None:
    """Convert a response's `usage`, with cached and reasoning tokens."""
    if not usage:
        return None
    prompt = int(usage.get("prompt_tokens") or 0)
    completion = int(usage.get("completion_tokens") or 0)
    metadata = UsageMetadata(
        input_tokens=prompt,
        output_tokens=completion,
        total_tokens=int(usage.get("total_tokens") or prompt + completion),
    )
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    if cached is not None:
        metadata["input_token_details"] = InputTokenDetails(cache_read=cached)
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    if reasoning is not None:
        metadata["output_token_details"] = OutputTokenDetails(reasoning=reasoning)
    return metadata


def stats_from_wire(response: Mapping[str, Any]) -> SpeculationStats:
    """Read the speculation statistics of a response or of a stream's usage chunk."""
    usage, metrics = response.get("usage") or {}, response.get("metrics") or {}
    if report := metrics.get("ssr"):
        return SpeculationStats.from_report(report, usage, metrics)
    return SpeculationStats.off("disabled", usage, metrics)


def response_metadata(
    response: Mapping[str, Any], choice: Mapping[str, Any] | None, *, stats: bool = True
) -> dict[str, Any]:
    """Collect what describes an answer as a whole.

    In a stream this belongs on the last chunk only: merging chunks concatenates
    strings and adds numbers.

    Args:
        response: The response, or the stream's usage chunk.
        choice: The choice with its `finish_reason`.
        stats: Whether speculation statistics belong to it. Where nobody asked the
            engine for them, nothing is known, and nothing is said.
    """
    choice = choice or {}
    metadata = {
        "id": response.get("id"),
        "finish_reason": choice.get("finish_reason"),
        "stop_reason": choice.get("stop_reason"),
        "model_name": response.get("model"),
        "model_provider": PROVIDER,
        "system_fingerprint": response.get("system_fingerprint"),
        "token_usage": response.get("usage"),
        "speculation": stats_from_wire(response).to_dict() if stats else None,
    }
    optional = ("id", "stop_reason", "system_fingerprint", "speculation")
    return {
        name: value
        for name, value in metadata.items()
        if value is not None or name not in optional
    }


def result_from_wire(response: Mapping[str, Any], *, stats: bool = True) -> ChatResult:
    """Convert a whole response, one generation for each choice.

    Args:
        response: The response.
        stats: Whether the request asked for speculation statistics.
    """
    usage = usage_from_wire(response.get("usage"))
    generations: list[ChatGeneration] = []
    for choice in response.get("choices") or []:
        logprobs = _logprobs(choice)
        cut = choice.get("finish_reason") == "length"
        message = _ai_from_wire(choice.get("message") or {}, cut=cut)
        message.id = response.get("id")
        message.response_metadata = {
            **response_metadata(response, choice, stats=stats),
            **logprobs,
        }
        message.usage_metadata = usage if not generations else None
        info = {"finish_reason": choice.get("finish_reason"), **logprobs}
        generations.append(ChatGeneration(message=message, generation_info=info))
    output = {
        "model_name": response.get("model"),
        "token_usage": response.get("usage"),
        "id": response.get("id"),
    }
    return ChatResult(generations=generations, llm_output=output)


def _logprobs(choice: Mapping[str, Any]) -> dict[str, Any]:
    logprobs = choice.get("logprobs")
    return {"logprobs": logprobs} if logprobs else {}


def _beside_content(message: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the texts of a message or a delta that are no content."""
    texts = {
        REASONING_KEY: message.get("reasoning") or message.get("reasoning_content"),
        "refusal": message.get("refusal"),
    }
    return {name: str(text) for name, text in texts.items() if text}


def _ai_from_wire(message: Mapping[str, Any], *, cut: bool) -> AIMessage:
    valid, invalid = _calls_from_wire(message.get("tool_calls") or [], cut=cut)
    content = message.get("content") or ""
    return AIMessage(
        content="" if (valid or invalid) and not content.strip() else content,
        additional_kwargs=_beside_content(message),
        tool_calls=valid,
        invalid_tool_calls=invalid,
    )


def _calls_from_wire(
    calls: Sequence[Mapping[str, Any]], *, cut: bool
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Convert tool calls; those that are no JSON object end as they do in a stream.

    Args:
        calls: The message's `tool_calls`.
        cut: Whether the answer ended before the model did. Then a last call that has
            no arguments yet is not whole; otherwise it takes none.
    """
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for i, call in enumerate(calls):
        function, id_ = call.get("function") or {}, call.get("id") or new_call_id()
        name, given = function.get("name") or "", function.get("arguments") or ""
        text = given or ("{" if cut and i == len(calls) - 1 else "{}")
        try:
            arguments = json.loads(text, strict=False)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            valid.append(tool_call(name=name, args=arguments, id=id_))
            continue
        invalid.append(
            invalid_tool_call(
                name=name,
                args=given + ending_of(text),
                id=id_,
                error="the arguments are not a JSON object",
            )
        )
    return valid, invalid


class StreamReader:
    """Converts the chunks of one stream, in order.

    The API sends the finish reason on one chunk and the usage on a later one. What
    describes the whole answer is held back and goes onto one final chunk.
    """

    def __init__(self, *, usage: bool = True, stats: bool = True) -> None:
        """Create a reader.

        Args:
            usage: Whether the user wants usage metadata.
            stats: Whether the request asked for speculation statistics.
        """
        self._usage = usage
        self._stats = stats
        self._choice: dict[str, Any] = {}
        self._calls = StreamedCalls()
        self._blank: str | None = ""  # until the content is more than blanks
        self._refusal = ""  # langchain-core's event streams take no piece of one
        self._last: Mapping[str, Any] = {}

    def read(self, chunk: Mapping[str, Any]) -> ChatGenerationChunk | None:
        """Convert one chunk; `None` if it holds nothing for the user yet."""
        self._last = {**self._last, **{k: v for k, v in chunk.items() if v is not None}}
        choices = chunk.get("choices") or []
        if not choices:
            return None
        choice = choices[0]
        for name in ("finish_reason", "stop_reason"):
            if choice.get(name) is not None:
                self._choice[name] = choice[name]
        delta = choice.get("delta") or {}
        info, kwargs = _logprobs(choice), _beside_content(delta)
        self._refusal += kwargs.pop("refusal", "")
        calls = self._calls.read(delta.get("tool_calls") or [])
        content = self._without_blanks(delta.get("content") or "")
        if not (content or kwargs or calls or info):
            return None
        message = AIMessageChunk(
            content=content,
            id=chunk.get("id"),
            additional_kwargs=kwargs,
            tool_call_chunks=calls,
            response_metadata={"model_provider": PROVIDER, **info},
        )
        return ChatGenerationChunk(message=message, generation_info=info or None)

    @staticmethod
    def draft(chunk: Mapping[str, Any]) -> DraftText | None:
        """Return the piece of an early draft that a chunk holds, if it does."""
        for choice in chunk.get("choices") or []:
            if piece := (choice.get("delta") or {}).get("ssr_draft"):
                return DraftText(index=int(piece["index"]), text=str(piece["text"]))
        return None

    def _without_blanks(self, content: str) -> str:
        """Hold back blanks at the beginning: before a call they are no content."""
        if self._blank is None:
            return content
        content = self._blank + content
        self._blank = None if content.strip() else content
        return content if self._blank is None else ""

    def finish(self) -> ChatGenerationChunk:
        """Make the final chunk: usage and everything about the whole answer."""
        usage = usage_from_wire(self._last.get("usage")) if self._usage else None
        finish = self._choice.get("finish_reason")
        endings = self._calls.endings(cut=finish == "length")
        message = AIMessageChunk(
            content="" if self._calls else self._blank or "",
            additional_kwargs=_beside_content({"refusal": self._refusal}),
            id=self._last.get("id"),
            usage_metadata=usage,
            tool_call_chunks=endings,
            response_metadata=response_metadata(
                self._last, self._choice, stats=self._stats
            ),
            chunk_position="last",
        )
        info = {"finish_reason": finish}
        return ChatGenerationChunk(message=message, generation_info=info)
