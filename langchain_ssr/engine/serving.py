"""vLLM's chat serving with SSR: settings in, statistics out.

The same class serves the embedded engine and `vllm serve`; see `plugin.py`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from pydantic import ValidationError
from vllm.entrypoints.generate.base.protocol import PerRequestMetrics
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionRequest,
    ChatCompletionResponse,
)
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.serve.engine.protocol import ErrorResponse
from vllm.exceptions import VLLMValidationError
from vllm.outputs import RequestOutput

from langchain_ssr.engine.draft_text import DraftReader
from langchain_ssr.engine.plain_text import PlainText
from langchain_ssr.engine.span_text import span_texts
from langchain_ssr.engine.steady_parser import steady
from langchain_ssr.settings import SpeculationSettings, describe

logger = logging.getLogger(__name__)

KEY = "ssr"
_DATA = "data: "
_SEVERAL = {"speculation": False, "reason": "n"}
"""Several choices fill the batch by themselves, and their reports would be of one."""


class SSRServingChat(OpenAIServingChat):
    """Chat completions whose `vllm_xargs["ssr"]` holds speculation settings as JSON.

    A request without it is served as by vLLM itself, with the engine's defaults. An
    answer is read in one way, whole or streamed: see `steady_parser.py`.
    """

    parser_cls: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create vLLM's serving, with a parser that bursts do not matter to."""
        super().__init__(*args, **kwargs)
        self.parser_cls = steady(self.parser_cls)
        tokenizer = self.renderer.tokenizer
        template = self.chat_template or getattr(tokenizer, "chat_template", None)
        self._plain_text = tokenizer and PlainText(tokenizer, str(template or ""))

    async def render_chat_request(self, request: ChatCompletionRequest) -> Any:
        """Render as vLLM does; control text of users and tools stays text."""
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
        if KEY in xargs:
            xargs[KEY] = self._engine_settings(xargs[KEY], request)
        elif (request.n or 1) > 1:
            xargs[KEY] = json.dumps({**_SEVERAL, "asked": False})
        request.vllm_xargs = xargs or None
        return await super().create_chat_completion(request, raw_request)

    def _engine_settings(self, given: Any, request: ChatCompletionRequest) -> str:
        """Return what the scheduler gets: checked settings, and the prediction's ids.

        Raises:
            VLLMValidationError: If the settings are none, naming the field.
        """
        try:
            raw = json.loads(given)
            settings = SpeculationSettings.model_validate(raw)
        except ValidationError as error:
            raise VLLMValidationError(
                f"vllm_xargs.ssr: {describe(error)}", parameter=KEY
            ) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise VLLMValidationError(
                f"vllm_xargs.ssr must be a JSON object in a string: {error}",
                parameter=KEY,
            ) from None
        raw.pop("prediction", None)
        if isinstance(settings.prediction, str):
            tokenizer = self.renderer.tokenizer
            raw["prediction_token_ids"] = tokenizer.encode(
                settings.prediction, add_special_tokens=False
            )
        if (request.n or 1) > 1:
            raw |= _SEVERAL
        if request.stop:  # the front end may end the request at any step
            raw["report_each_step"] = True
        return json.dumps(raw)

    async def chat_completion_full_generator(
        self,
        request: ChatCompletionRequest,
        result_generator: AsyncIterator[RequestOutput],
        *args: Any,
        **kwargs: Any,
    ) -> ErrorResponse | ChatCompletionResponse:
        """Answer in one piece, with the report in `metrics.ssr`."""
        reports = _Reports(result_generator, self.renderer.tokenizer)
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
        return response

    async def chat_completion_stream_generator(
        self,
        request: ChatCompletionRequest,
        result_generator: AsyncIterator[RequestOutput],
        *args: Any,
        **kwargs: Any,
    ) -> AsyncGenerator[str, None]:
        """Answer in chunks, with the report in `metrics.ssr` of the usage chunk."""
        reports = _Reports(result_generator, self.renderer.tokenizer)
        events = super().chat_completion_stream_generator(
            request, reports.outputs(), *args, **kwargs
        )
        async for event in events:
            for draft in reports.take_drafts():
                yield _draft_event(event, draft)
            if reports.last is not None and '"choices":[]' in event:
                chunk = json.loads(event.removeprefix(_DATA))
                chunk.setdefault("metrics", {})[KEY] = reports.whole()
                yield f"{_DATA}{json.dumps(chunk)}\n\n"
            else:
                yield event


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


class _Reports:
    """Takes the scheduler's reports out of what the engine hands back."""

    def __init__(self, source: AsyncIterator[RequestOutput], tokenizer: Any) -> None:
        self._source = source
        self._tokenizer = tokenizer
        self._reader = DraftReader(tokenizer)
        self._token_ids: list[int] = []
        self._text = ""
        self._drafts: list[tuple[int, str]] = []
        self.last: dict[str, Any] | None = None
        self.finish_reasons: dict[int, str] = {}

    def take_drafts(self) -> list[tuple[int, str]]:
        """Return new draft text since the last call: number and text."""
        drafts, self._drafts = self._drafts, []
        return drafts

    def whole(self) -> dict[str, Any] | None:
        """Return the last report, its spans with their texts; None if none came."""
        if self.last is None or "spans" not in self.last or not self._tokenizer:
            return self.last
        try:
            texts = span_texts(
                self.last["spans"], self._token_ids, self._text, self._tokenizer
            )
        except Exception:
            logger.warning("the texts of spans are left out", exc_info=True)
            return self.last
        return {**self.last, "span_texts": texts}

    async def outputs(self) -> AsyncGenerator[RequestOutput, None]:
        """Yield the engine's outputs without reports; remember the last one."""
        async for output in self._source:
            for one in output.outputs:
                self._token_ids += one.token_ids  # of one choice: others have no spans
                self._text += one.text
                if one.finish_reason is not None:
                    self.finish_reasons[one.index] = one.finish_reason
            params = output.kv_transfer_params
            if params and KEY in params:
                report = params[KEY]
                if draft := report.pop("draft", None):
                    new = self._reader.read(draft)
                    self._drafts += [new] if new else []
                if report:
                    self.last = report
                rest = {k: v for k, v in params.items() if k != KEY}
                output.kv_transfer_params = rest or None
            yield output
