"""One way of reading a model's output, whole or in bursts of any size.

vLLM reads a whole answer in one way and a stream in another, and a stream's result
depends on where its chunks end: a second `</think>` is dropped if it comes in the same
chunk as the first and is content otherwise; blanks before a tool call come or go. With
speculation the chunks are bursts of any size. So here a parser gets one token after the
other, in a stream as for a whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    FunctionCall,
)
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.engine.adapters import (
    ParserEngineReasoningAdapter,
    ParserEngineToolAdapter,
)
from vllm.reasoning.deepseek_r1_reasoning_parser import DeepSeekR1ReasoningParser
from vllm.sampling_params import SamplingParams
from vllm.tool_parsers.hermes_tool_parser import Hermes2ProToolParser
from vllm.v1.engine.detokenizer import IncrementalDetokenizer

from langchain_ssr.engine.hermes_calls import HermesCalls


def steady(parser: Any) -> Any:
    """Return a class that reads as `parser` reads single tokens.

    Args:
        parser: The class of a parser, or None. One that is not known to read a stream
            as well as a whole answer is left as it is: some of vLLM's give nothing
            in a stream, or fail where a chunk is empty.
    """
    if (
        parser is None
        or parser.parse is not DelegatingParser.parse
        or parser.parse_delta is not DelegatingParser.parse_delta
        or not _streams_reasoning(parser.reasoning_parser_cls)
        or not _streams_calls(parser.tool_parser_cls)
    ):
        return parser
    tools = parser.tool_parser_cls
    if tools is Hermes2ProToolParser:
        tools = HermesCalls
    return type("SteadyParser", (_SteadyParser, parser), {"tool_parser_cls": tools})


def _streams_reasoning(parser: Any) -> bool:
    return (
        parser is None
        or parser is DeepSeekR1ReasoningParser
        or issubclass(parser, ParserEngineReasoningAdapter)
    )


def _streams_calls(parser: Any) -> bool:
    if parser is None:
        return True
    # Otherwise vLLM reads a forced call itself, from all the text that there was.
    reads_all_calls = not parser.supports_required_and_named
    return reads_all_calls and (
        parser is Hermes2ProToolParser or issubclass(parser, ParserEngineToolAdapter)
    )


class _SteadyParser(DelegatingParser):
    """Gives single tokens to the parser that it is mixed into."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # No parser here looks back: vLLM need not copy all the text for each token.
        self._stream_state.engine_based = True
        self._prompt: list[int] = []
        self._tokens: _Tokens | None = None
        parser = self.reasoning_parser
        vocabulary = self.model_tokenizer.get_vocab() if parser else {}
        self._start = vocabulary.get(parser and parser.reasoning_start_str)
        self._end = vocabulary.get(parser and parser.reasoning_end_str)
        self._reopened = False

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Remember the prompt: it says whether reasoning is open."""
        super().set_prompt_token_ids(prompt_token_ids)
        self._prompt = list(prompt_token_ids)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """Count as vLLM does; R1's reasoning begins in the prompt, which it leaves out.

        Args:
            token_ids: The answer's tokens.
        """
        start = self._start
        is_r1 = isinstance(self.reasoning_parser, DeepSeekR1ReasoningParser)
        if is_r1 and start is not None and start not in token_ids:
            token_ids = [start, *token_ids]
        return super().count_reasoning_tokens(token_ids)

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> tuple[str | None, str | None, list[FunctionCall] | None]:
        """Read a whole answer as a stream of one chunk."""
        tokens = list(model_output_token_ids)
        if not tokens:
            return super().parse(model_output, request, enable_auto_tools)
        whole = self.parse_delta(
            model_output, tokens, request, self._prompt, finished=True
        )
        if whole is None:
            return None, None, None
        calls = [
            FunctionCall(
                id=call.id,
                name=call.function.name or "",
                arguments=call.function.arguments or "",
            )
            for call in whole.tool_calls
            if call.function is not None
        ]
        return whole.reasoning or None, whole.content or None, calls or None

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        """Read a chunk, token by token; at the end, what is left of it."""
        deltas = []
        if self._tokens is None:
            prompt = prompt_token_ids or []
            self._tokens = _Tokens(self.model_tokenizer, prompt, request)
            # From here on it is known whether the prompt has left reasoning open.
            deltas.append(super().parse_delta("", [], request, prompt, finished=False))
        for text, tokens in self._tokens.read(delta_text, delta_token_ids):
            if not self._is_stray_end(tokens):
                deltas.append(
                    super().parse_delta(text, tokens, request, finished=False)
                )
            elif isinstance(self.tool_parser, HermesCalls):
                self.tool_parser.close_reasoning()
        if finished:
            text, tokens = self._tokens.rest()
            deltas.append(super().parse_delta(text, tokens, request, finished=True))
        whole = _joined([delta for delta in deltas if delta is not None])
        if whole is not None and request.tool_choice == "none":
            whole.tool_calls = []  # vLLM lets the end of one slip through
        return whole

    def _is_stray_end(self, tokens: list[int]) -> bool:
        """Whether this is an end of reasoning where none is open: it is no text."""
        if not self._stream_state.reasoning_ended or len(tokens) != 1:
            return False
        if tokens[0] == self._start:
            self._reopened = True
        elif tokens[0] == self._end:
            stray, self._reopened = not self._reopened, False
            return stray
        return False


class _Tokens:
    """Takes chunks of text and token ids apart into single tokens.

    The text of a chunk may lag behind its tokens (held back for a stop string) and may
    end before them (cut at a stop). A token without a text of its own, as the first
    bytes of an emoji, comes with the one that completes it.
    """

    def __init__(self, tokenizer: Any, prompt: list[int], request: Any) -> None:
        params = SamplingParams(
            skip_special_tokens=request.skip_special_tokens,
            spaces_between_special_tokens=request.spaces_between_special_tokens,
        )
        self._detokenizer = IncrementalDetokenizer.from_new_request(
            tokenizer,
            SimpleNamespace(
                sampling_params=params,
                prompt_token_ids=prompt,
                prompt_embeds=None,
                request_id="",
            ),
        )
        self._text = ""
        self._waiting: list[tuple[str, list[int]]] = []
        self._silent: list[int] = []
        self._in_step = True

    def read(self, text: str, tokens: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
        """Yield the tokens whose text is there, each with it."""
        self._text += text
        for token in tokens:
            self._detokenizer.update([token], stop_terminated=False)
            own = self._detokenizer.get_next_output_text(finished=False, delta=True)
            self._silent.append(token)
            if own:
                self._waiting.append((own, self._silent))
                self._silent = []
        count = at = 0
        while count < len(self._waiting) and self._in_step:
            own, ids = self._waiting[count]
            if not self._text.startswith(own, at):
                self._in_step = own.startswith(self._text[at:])
                break
            count, at = count + 1, at + len(own)
            yield own, ids
        self._text = self._text[at:]
        del self._waiting[:count]
        if not self._in_step:  # not the text of these tokens: leave it to vLLM
            yield self.rest()

    def rest(self) -> tuple[str, list[int]]:
        """Return what has not been returned yet."""
        text, self._text = self._text, ""
        tokens = [token for _, ids in self._waiting for token in ids] + self._silent
        self._waiting, self._silent = [], []
        return text, tokens


def _joined(deltas: list[DeltaMessage]) -> DeltaMessage | None:
    """Add deltas up to one, with one piece for each call."""
    calls: dict[int, DeltaToolCall] = {}
    for call in (call for delta in deltas for call in delta.tool_calls):
        whole = calls.get(call.index)
        if whole is None:
            calls[call.index] = call
            continue
        if whole.function is None or call.function is None:
            whole.function = whole.function or call.function
            continue
        one, other = whole.function, call.function
        texts = [f.arguments for f in (one, other) if f.arguments is not None]
        fields = {"name": one.name or other.name, "arguments": "".join(texts)}
        whole.function = DeltaFunctionCall(
            **{k: v for k, v in fields.items() if v is not None}
        )
    reasoning = "".join(delta.reasoning or "" for delta in deltas)
    content = "".join(delta.content or "" for delta in deltas)
    if not (reasoning or content or calls):
        return None
    return DeltaMessage(
        **({"reasoning": reasoning} if reasoning else {}),
        **({"content": content} if content else {}),
        **({"tool_calls": list(calls.values())} if calls else {}),
    )
