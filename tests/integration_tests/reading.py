"""Reads an output with the parsers of our serving, whole and in bursts."""

from __future__ import annotations

from functools import reduce
from operator import add
from types import SimpleNamespace
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager
from vllm.sampling_params import SamplingParams
from vllm.tokenizers.hf import get_cached_tokenizer
from vllm.v1.engine.detokenizer import IncrementalDetokenizer

from langchain_ssr.engine.steady_parser import steady
from langchain_ssr.wire.responses import StreamReader, result_from_wire
from tests.integration_tests import tiny_models

SIZES = (1, 2, 3, 5, 8, 1000)
HERMES, CODER, GEMMA = ("qwen3", "hermes"), ("qwen3", "qwen3_coder"), ("gemma4",) * 2
R1 = ("deepseek_r1", None)
ADD = {
    "name": "add",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
}
TOKENIZERS = {
    special: get_cached_tokenizer(tiny_models._tokenizer(special))
    for special in (tiny_models.CHATML_TOKENS, tiny_models.GEMMA_TOKENS)
}


class Told(NamedTuple):
    """What a message says."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[Any, ...] = ()
    invalid: tuple[Any, ...] = ()


def told(message: AIMessage) -> Told:
    return Told(
        message.additional_kwargs.get("reasoning_content", ""),
        message.text,
        tuple((call["name"], call["args"]) for call in message.tool_calls),
        tuple((call["name"], call["args"]) for call in message.invalid_tool_calls),
    )


class Reading:
    """One output and the parser of it, as vLLM's serving puts them together."""

    def __init__(
        self,
        parsers: tuple[str | None, str | None],
        output: str,
        *,
        tools: bool = True,
        cut: bool = False,
        prompt: str = "x",
    ) -> None:
        special = tiny_models.GEMMA_TOKENS if parsers is GEMMA else None
        self.tokenizer = TOKENIZERS[special or tiny_models.CHATML_TOKENS]
        self.ids = self.tokenizer.encode(output, add_special_tokens=False)
        self.prompt = self.tokenizer.encode(prompt, add_special_tokens=False)
        self.finish = "length" if cut else "stop"
        fields = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        if tools:
            function = {"type": "function", "function": ADD}
            fields |= {"tools": [function], "tool_choice": "auto"}
        self.request = ChatCompletionRequest(**fields)
        self.kind = steady(
            ParserManager.get_parser(
                tool_parser_name=parsers[1],
                reasoning_parser_name=parsers[0],
                enable_auto_tools=True,
                model_name="m",
            )
        )

    def parser(self) -> Any:
        parser = self.kind(self.tokenizer, self.request.tools)
        self.request = parser.adjust_request(self.request)
        parser.set_prompt_token_ids(self.prompt)
        return parser

    def texts(self, size: int) -> list[tuple[str, list[int]]]:
        """Cut the output into bursts, with the text that vLLM gives for each."""
        params = SamplingParams(skip_special_tokens=False)
        detokenizer = IncrementalDetokenizer.from_new_request(
            self.tokenizer,
            SimpleNamespace(
                sampling_params=params, prompt_token_ids=self.prompt, request_id=""
            ),
        )
        bursts = []
        for start in range(0, len(self.ids), size):
            burst = self.ids[start : start + size]
            detokenizer.update(burst, stop_terminated=False)
            text = detokenizer.get_next_output_text(finished=False, delta=True)
            bursts.append((text, burst))
        return bursts

    def whole(self) -> Told:
        text = "".join(text for text, _ in self.texts(1))
        reasoning, content, calls = self.parser().parse(
            text, self.request, enable_auto_tools=True, model_output_token_ids=self.ids
        )
        message = {
            "reasoning": reasoning,
            "content": content,
            "tool_calls": [
                {"id": "c", "function": call.model_dump()} for call in calls or []
            ],
        }
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        [generation] = result_from_wire({"choices": [choice]}).generations
        return told(generation.message)

    def streamed(self, size: int) -> Told:
        parser, reader, parts = self.parser(), StreamReader(), []
        bursts = self.texts(size)
        for i, (text, ids) in enumerate(bursts):
            finished = i + 1 == len(bursts)
            delta = parser.parse_delta(
                text, ids, self.request, self.prompt, finished=finished
            )
            choice = {
                "index": 0,
                "delta": delta.model_dump(exclude_unset=True) if delta else {},
                "finish_reason": self.finish if finished else None,
            }
            parts.append(reader.read({"id": "r", "choices": [choice]}))
        messages = [part.message for part in parts if part]
        return told(reduce(add, [*messages, reader.finish().message]))

    def every(self) -> list[Told]:
        """Whole, and in bursts of every size."""
        return [self.whole(), *map(self.streamed, SIZES)]
