"""A conversation in the terminal: reads, asks, shows, and remembers."""

from __future__ import annotations

import time
from pathlib import Path

from langchain_core.exceptions import LangChainException
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from rich.console import Console

from langchain_ssr.callbacks import get_speculation_callback
from langchain_ssr.chat.interrupts import Interrupts
from langchain_ssr.chat.reading import Read, read_message
from langchain_ssr.chat.view import View
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.stats import SpeculationStats
from langchain_ssr.wire.requests import REASONING_KEY

HELP = '''\
"""         begins and ends a message of several lines
/new        forget the conversation
/html FILE  write a page that shows where the last answer came from
/help       this
Ctrl-C stops an answer, Ctrl-D ends the chat.'''


class Conversation:
    """A chat with a model.

    Args:
        out: Where to print.
        llm: The model.
        system: What the model is told first, if anything.
    """

    def __init__(self, out: Console, llm: ChatSSR, system: str | None = None) -> None:
        """Begin without messages."""
        self._out = out
        self._llm = llm
        self._first: list[BaseMessage] = [SystemMessage(system)] if system else []
        self._stats: SpeculationStats | None = None
        self._interrupts = Interrupts()
        self.messages = list(self._first)

    def run(self, read: Read) -> None:
        """Talk until the input ends.

        Args:
            read: Reads a line, as `input` does.
        """
        with self._interrupts.handled():
            self._talk(read)

    def _talk(self, read: Read) -> None:
        while True:
            try:
                with self._interrupts.allowed():
                    text = read_message(read)
            except EOFError:
                self._out.print()
                return
            except KeyboardInterrupt:
                self._note("\nCtrl-D ends the chat")
                continue
            if text.startswith("/"):
                self._command(text)
            elif text:
                self._answer(text)

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        if name == "/new":
            self.messages, self._stats = list(self._first), None
            self._note("forgotten")
        elif name == "/html":
            self._write_html(argument.strip())
        else:
            self._note(HELP)

    def _write_html(self, file: str) -> None:
        if self._stats is None or not file:
            self._note(
                "there is no whole answer yet" if file else "/html needs a file name"
            )
            return
        try:
            self._stats.to_html(Path(file).expanduser())
        except OSError as error:
            self._note(f"not written: {error}")
        else:
            self._note(f"written: {file}")

    def _answer(self, text: str) -> None:
        """Ask; what was not answered at all is not remembered."""
        self.messages.append(HumanMessage(text))
        self._stats = None
        pieces: list[AIMessageChunk] = []
        start = time.perf_counter()
        try:
            self._stream(pieces)
        except KeyboardInterrupt:
            self._note("stopped")
        except LangChainException as error:
            self._note(f"error: {error}", "red")
        else:
            self._note(self._status(pieces[-1], time.perf_counter() - start))
        if said := "".join(piece.text for piece in pieces):
            self.messages.append(AIMessage(said))
        else:
            self.messages.pop()

    def _stream(self, pieces: list[AIMessageChunk]) -> None:
        """Show an answer as it comes; `pieces` gets what has come."""
        with (
            View(self._out) as view,
            get_speculation_callback(on_draft=view.draft),
            self._interrupts.allowed(),
        ):
            for chunk in self._llm.stream(self.messages):
                self._interrupts.check()
                pieces.append(chunk)
                view.think(chunk.additional_kwargs.get(REASONING_KEY, ""))
                view.answer(chunk.text)

    def _status(self, last: AIMessageChunk, seconds: float) -> str:
        """Return the status line: tokens, steps and savings."""
        stats = self._stats = SpeculationStats.from_message(last)
        tokens = stats.num_reasoning_tokens + stats.num_answer_tokens
        saved = f"{stats.num_saved_steps / tokens:.0%}" if tokens else "none"
        cut = last.response_metadata.get("finish_reason") == "length"
        return (
            f"{tokens} tokens ({stats.num_reasoning_tokens} thinking) in "
            f"{tokens - stats.num_saved_steps} steps, {saved} saved, "
            f"{len(stats.drafts)} drafts, {seconds:.1f} s"
            f"{', cut by max_tokens' if cut else ''}"
        )

    def _note(self, text: str, style: str = "dim") -> None:
        self._out.print(text, style=style, markup=False, highlight=False)
