"""Tool calls in Hermes' format, the same in a stream and in one piece.

vLLM reads them with a JSON parser when it has the whole answer and with regular
expressions in a stream, and the two disagree: a call that was cut is raw text in the
content for the one and a call for the other; one whose arguments come before its name
is a call for the one and nonsense for the other; and one with "parameters" is text for
the one and, for the other, a call *without arguments*, which an agent would run. Here
there is one way of reading, that of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
)
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers.hermes_tool_parser import Hermes2ProToolParser
from vllm.tool_parsers.utils import partial_tag_overlap

from langchain_ssr.engine.call_text import BEGIN, END, CallText


class HermesCalls(Hermes2ProToolParser):
    """Reads an answer piece by piece; as in vLLM, text after a call is no content.

    What stands between the marks and is no call becomes an invalid call: neither
    content nor nothing.

    A call ends the reasoning. A model that then goes on thinking, closes its reasoning
    and makes the same call again means one: the second is left out.
    """

    engine_based_streaming = True  # so that vLLM calls `finish_streaming`

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        """Create a parser of one answer."""
        super().__init__(tokenizer, tools)
        self._unread = ""
        self._call: CallText | None = None
        self._num_calls = 0
        self._closed_again = False
        self._made: list[_Call] = []

    def extract_tool_calls_streaming(  # noqa: PLR0917
        self,
        previous_text: str,  # noqa: ARG002 - the signature is vLLM's
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],  # noqa: ARG002
        request: Any,
    ) -> DeltaMessage | None:
        """Read on; where no tool may be called, everything is content."""
        if request.tool_choice == "none":
            return DeltaMessage(content=delta_text) if delta_text else None
        return self._read(delta_text, finished=False)

    def close_reasoning(self) -> None:
        """Hear that the model closes its reasoning, which a call had ended before."""
        self._closed_again = self._num_calls > 0

    def finish_streaming(self) -> DeltaMessage | None:
        """Give what was held back, and end a call that was cut."""
        return self._read("", finished=True)

    def _read(self, text: str, *, finished: bool) -> DeltaMessage | None:
        self._unread += text
        content, calls, found = "", [], BEGIN
        while found:
            mark = END if self._call else BEGIN
            before, found, after = self._unread.partition(mark)
            if not found and (held := partial_tag_overlap(before, mark)):
                before, after = before[:-held], before[-held:]
            self._unread = after
            if self._call is None:
                if self._num_calls == 0:
                    content += before
                if found:
                    self._call, self._num_calls = CallText(), self._num_calls + 1
                    self._made.append(_Call(held=self._closed_again))
                continue
            calls += self._piece(self._call.read(before))
            if found or finished:
                calls += self._piece(self._call.close())
                calls += self._release()
                self._call = None
        if finished and self._num_calls == 0:
            content += self._unread  # the beginning of a mark, and no more
        if not (content or calls):
            return None
        return DeltaMessage(content=content or None, tool_calls=calls)

    def _piece(self, new: tuple[str | None, str]) -> list[DeltaToolCall]:
        name, arguments = new
        call = self._made[-1]
        call.arguments += arguments
        if name is not None:
            call.name = name
        return [] if call.held else self._delta(name, arguments)

    def _release(self) -> list[DeltaToolCall]:
        """Give the call that has ended, if it was held back and not made before."""
        *before, call = self._made
        if not call.held:
            return []
        if call.said in [one.said for one in before]:
            self._made.pop()
            self._num_calls -= 1
            return []
        return self._delta(call.name, call.arguments)

    def _delta(self, name: str | None, arguments: str) -> list[DeltaToolCall]:
        index = self._num_calls - 1
        if name is not None:
            return [
                DeltaToolCall(
                    index=index,
                    id=make_tool_call_id(),
                    type="function",
                    function=DeltaFunctionCall(name=name, arguments=arguments),
                )
            ]
        if not arguments:
            return []
        function = DeltaFunctionCall(arguments=arguments)
        return [DeltaToolCall(index=index, function=function)]


@dataclass
class _Call:
    """A call, as far as it was read."""

    held: bool
    name: str | None = None
    arguments: str = ""

    @property
    def said(self) -> tuple[str | None, object]:
        """What makes calls equal, however their arguments are written."""
        try:
            return self.name, json.loads(self.arguments)
        except ValueError:
            return self.name, self.arguments
