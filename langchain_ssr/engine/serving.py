"""vLLM's chat serving with SSR: settings in, statistics out, all of it counted.

The same class serves the embedded engine and `vllm serve`; see `plugin.py`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from vllm.entrypoints.generate.base.protocol import PerRequestMetrics
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionRequest,
    ChatCompletionResponse,
)
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.serve.engine.protocol import (
    CompletionTokenUsageInfo,
    ErrorResponse,
)
from vllm.exceptions import VLLMValidationError
from vllm.outputs import RequestOutput

from langchain_ssr.engine.metrics import Metrics
from langchain_ssr.engine.plain_text import PlainText
from langchain_ssr.engine.reports import KEY, Reports, prediction_usage
from langchain_ssr.engine.request_settings import (
    PREDICTION,
    PREDICTION_TOKENS,
    read_prediction,
    read_settings,
)
from langchain_ssr.engine.steady_parser import steady

_DATA = "data: "
_SEVERAL = {"speculation": False, "reason": "n"}
"""Several choices fill the batch by themselves, and their reports would be of one."""


class SSRServingChat(OpenAIServingChat):
    """Chat completions whose `vllm_xargs["ssr"]` holds speculation settings as JSON.

    A request without it is served as by vLLM itself, with the engine's defaults. A
    request with a prediction, there or in OpenAI's field, is told in its usage what
    became of it. An answer is read in one way, whole or streamed: `steady_parser.py`.
    """

    parser_cls: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create vLLM's serving, with a parser that bursts do not matter to."""
        super().__init__(*args, **kwargs)
        self.parser_cls = steady(self.parser_cls)
        tokenizer = self.renderer.tokenizer
        template = self.chat_template or getattr(tokenizer, "chat_template", None)
        self._plain_text = tokenizer and PlainText(tokenizer, str(template or ""))
        self._metrics = Metrics(str(self.model_config.served_model_name))

    async def render_chat_request(self, request: ChatCompletionRequest) -> Any:
        """Render as vLLM does; control text of users, tools and calls stays text."""
        messages = request.messages
        hidden = self._plain_text and self._plain_text.hide(messages)
        if not hidden or request.truncate_prompt_tokens is not None:
            return await super().render_chat_request(request)
        request.messages = hidden.messages
        try:
            rendered = await super().render_chat_request(request)
        finally:
            request.messages = messages
        if isinstance(rendered, ErrorResponse):
            return rendered
        _, prompts = rendered
        special = bool(request.add_special_tokens)
        if all(
            self._plain_text.put_back(hidden, prompt, add_special_tokens=special)
            for prompt in prompts
        ):
            return rendered
        return await super().render_chat_request(request)

    async def create_chat_completion(
        self, request: ChatCompletionRequest, raw_request: Any = None
    ) -> AsyncGenerator[str, None] | ChatCompletionResponse | ErrorResponse:
        """Check the settings, then answer as vLLM does."""
        xargs = dict(request.vllm_xargs or {})
        named: dict[str, Any] = {"asked": False}
        if KEY in xargs:
            named = self._checked(xargs[KEY])
        given = (request.model_extra or {}).get(PREDICTION)  # as OpenAI's clients do
        if given is not None and PREDICTION_TOKENS not in named:
            named[PREDICTION_TOKENS] = self._predicted(given)
        if (request.n or 1) > 1:
            named |= _SEVERAL
        if request.stop:  # the front end may end the request at any step
            named["report_each_step"] = True
        request.vllm_xargs = {**xargs, KEY: json.dumps(named)}
        return await super().create_chat_completion(request, raw_request)

    def _checked(self, given: Any) -> dict[str, Any]:
        """Return a client's settings, with the prediction's tokens.

        Raises:
            VLLMValidationError: If the settings are none, naming the field.
        """
        try:
            named, settings = read_settings(given)
        except ValueError as error:
            raise VLLMValidationError(str(error), parameter=KEY) from None
        named.pop(PREDICTION, None)
        if isinstance(settings.prediction, str):
            named[PREDICTION_TOKENS] = self._encode(settings.prediction)
        return named

    def _predicted(self, given: Any) -> list[int]:
        """Return the tokens of a prediction that stands where OpenAI has it.

        Raises:
            VLLMValidationError: If it is none.
        """
        try:
            return self._encode(read_prediction(given))
        except ValueError as error:
            raise VLLMValidationError(str(error), parameter=PREDICTION) from None

    def _encode(self, text: str) -> list[int]:
        tokenizer = self.renderer.tokenizer
        token_ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
        return token_ids

    async def chat_completion_full_generator(
        self,
        request: ChatCompletionRequest,
        result_generator: AsyncIterator[RequestOutput],
        *args: Any,
        **kwargs: Any,
    ) -> ErrorResponse | ChatCompletionResponse:
        """Answer in one piece, with the report in `metrics.ssr`."""
        reports = Reports(
            result_generator, self._metrics.count, self.renderer.tokenizer
        )
        response = await super().chat_completion_full_generator(
            request, reports.outputs(), *args, **kwargs
        )
        if not isinstance(response, ChatCompletionResponse):
            return response
        for choice in response.choices:
            # vLLM says "tool_calls" also of a call that was cut, but not in a stream.
            ended = reports.finish_reasons.get(choice.index)
            if ended not in (None, "stop"):
                choice.finish_reason = ended
        if report := reports.whole():
            metrics = response.metrics or PerRequestMetrics()
            response.metrics = metrics.model_copy(update={KEY: report})
        if counts := _prediction_counts(request, reports):
            usage = response.usage
            details = usage.completion_tokens_details or CompletionTokenUsageInfo()
            usage.completion_tokens_details = details.model_copy(update=counts)
        return response

    async def chat_completion_stream_generator(
        self,
        request: ChatCompletionRequest,
        result_generator: AsyncIterator[RequestOutput],
        *args: Any,
        **kwargs: Any,
    ) -> AsyncGenerator[str, None]:
        """Answer in chunks, with the report in `metrics.ssr` of the usage chunk."""
        reports = Reports(
            result_generator, self._metrics.count, self.renderer.tokenizer
        )
        events = super().chat_completion_stream_generator(
            request, reports.outputs(), *args, **kwargs
        )
        async for event in events:
            for draft in reports.take_drafts():
                yield _draft_event(event, draft)
            if '"choices":[]' in event:
                yield _with_counts(event, request, reports)
            else:
                yield event


def _with_counts(event: str, request: ChatCompletionRequest, reports: Reports) -> str:
    """Put the report, and what became of a prediction, into a stream's usage chunk."""
    counts = _prediction_counts(request, reports)
    if reports.last is None and not counts:
        return event
    chunk = json.loads(event.removeprefix(_DATA))
    if reports.last is not None:
        chunk.setdefault("metrics", {})[KEY] = reports.whole()
    if counts:
        chunk["usage"].setdefault("completion_tokens_details", {}).update(counts)
    return f"{_DATA}{json.dumps(chunk)}\n\n"


def _prediction_counts(
    request: ChatCompletionRequest, reports: Reports
) -> dict[str, int]:
    """Return what became of the request's prediction; empty if it had none."""
    settings = json.loads((request.vllm_xargs or {}).get(KEY, "{}"))
    if PREDICTION_TOKENS not in settings or reports.counted is None:
        return {}
    return prediction_usage(reports.counted)


def _draft_event(event: str, draft: tuple[int, str]) -> str:
    """Make a stream event with draft text, in front of one of vLLM's."""
    data = event.removeprefix(_DATA).strip()
    like = json.loads(data) if data.startswith("{") else {}
    index, text = draft
    delta = {"ssr_draft": {"index": index, "text": text}}
    chunk = {
        **{name: like[name] for name in ("id", "object", "model") if name in like},
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
    }
    return f"{_DATA}{json.dumps(chunk)}\n\n"
