"""Stop strings that count in the answer only.

vLLM looks for stop strings in all of the output, so one that occurs in the reasoning
ends the reply before there is an answer. Here the engine is not told of them; a second
one of vLLM's own detokenizers looks for them once the answer has begun. Text, tokens,
logprobs and usage end at the stop, also in the middle of a burst.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

from vllm.outputs import CompletionOutput, RequestOutput
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.engine.detokenizer import IncrementalDetokenizer

from langchain_ssr.engine.lifecycle import Lifecycle, Markers, Phase

_NEVER = 2**62
"""As many tokens must come first before a detokenizer looks for stops."""


class AnswerStopsClient:
    """An engine client that applies stop strings to answers.

    Args:
        client: vLLM's engine client; everything but `generate` passes through.
        markers: The model's reasoning markers; None leaves stops to vLLM.
    """

    def __init__(self, client: Any, markers: Markers | None) -> None:
        """Wrap a client."""
        self._client = client
        self._markers = markers

    def __getattr__(self, name: str) -> Any:
        """Return the client's own attribute."""
        return getattr(self._client, name)

    def generate(
        self,
        prompt: Any,
        sampling_params: SamplingParams,
        request_id: str,
        **kwargs: Any,
    ) -> AsyncGenerator[RequestOutput, None]:
        """Generate as vLLM does; with stop strings, end at the first in the answer."""
        markers = self._markers
        if not sampling_params.stop or markers is None:
            return self._client.generate(prompt, sampling_params, request_id, **kwargs)
        return self._stopping(prompt, sampling_params, request_id, markers, kwargs)

    async def _stopping(
        self,
        prompt: Any,
        params: SamplingParams,
        request_id: str,
        markers: Markers,
        kwargs: dict[str, Any],
    ) -> AsyncGenerator[RequestOutput, None]:
        unstopped = copy.copy(params)
        unstopped.stop = []
        unstopped.output_text_buffer_length = 0
        unstopped.output_kind = RequestOutputKind.DELTA
        readers: dict[int, _Reader] = {}
        whole: RequestOutput | None = None
        source = self._client.generate(prompt, unstopped, request_id, **kwargs)
        async with aclosing(source):  # leaving early ends the request
            async for result in source:
                for output in result.outputs:
                    reader = readers.get(output.index)
                    if reader is None:
                        reader = readers[output.index] = _Reader(
                            self._client.renderer.tokenizer,
                            params,
                            result.prompt_token_ids,
                            markers,
                        )
                    reader.read(output)
                ended = [reader.ended for reader in readers.values()]
                done = len(ended) == (params.n or 1) and all(ended)
                result.finished = result.finished or done
                if params.output_kind is RequestOutputKind.DELTA:
                    yield result
                elif whole is None:
                    whole = result
                else:
                    whole.add(result, aggregate=True)
                if done:
                    break
        if whole is not None:
            yield whole


class _Reader:
    """Follows one output sequence and cuts it at the first stop in its answer."""

    def __init__(
        self,
        tokenizer: Any,
        params: SamplingParams,
        prompt: list[int],
        markers: Markers,
    ) -> None:
        self._lifecycle = Lifecycle(markers, prompt)
        self._detokenizer = IncrementalDetokenizer.from_new_request(
            tokenizer,
            SimpleNamespace(
                sampling_params=params, prompt_token_ids=prompt, request_id=""
            ),
        )
        self._min_tokens = params.min_tokens
        self._detokenizer.min_tokens = _NEVER
        self._num_tokens = 0
        if self._lifecycle.phase is not Phase.REASONING:
            self._detokenizer.min_tokens = self._min_tokens
        self.ended = False
        self._stop: int | str | None = None

    def read(self, output: CompletionOutput) -> None:
        """Cut a delta in place; empty it once the sequence has stopped.

        The engine goes on with a sequence that has stopped beside others, and may end
        it in its own way: vLLM would take that for the reason.
        """
        if self.ended:
            output.text, output.token_ids = "", []
            output.finish_reason, output.stop_reason = "stop", self._stop
            if output.logprobs is not None:
                output.logprobs = output.logprobs[:0]
            return
        tokens = list(output.token_ids)
        for token in tokens:
            before = self._lifecycle.phase
            self._lifecycle.advance([token])
            after = self._lifecycle.phase
            implicit = after is Phase.ANSWER and self._lifecycle.num_answer_tokens == 1
            if after is Phase.REASONING:
                self._detokenizer.min_tokens = _NEVER
            elif before is Phase.REASONING:
                begins = self._num_tokens + (0 if implicit else 1)
                self._detokenizer.min_tokens = max(begins, self._min_tokens)
            self._num_tokens += 1
        prior = self._detokenizer.num_output_tokens()
        stop = self._detokenizer.update(tokens, output.finish_reason == "stop")
        if stop is not None:
            kept = self._detokenizer.num_output_tokens() - prior
            output.token_ids = tokens[:kept]
            if output.logprobs is not None:
                output.logprobs = output.logprobs[:kept]
            output.finish_reason, output.stop_reason = "stop", stop
            self._stop = stop
        self.ended = output.finish_reason is not None
        output.text = self._detokenizer.get_next_output_text(self.ended, delta=True)
