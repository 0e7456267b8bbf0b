"""Shows an answer as it is written: thinking, the early draft, the answer."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from langchain_ssr.callbacks import DraftText

THINKING, DRAFT, ANSWER = "dim", "cyan", ""
_DRAFT_LINES = 8
"""Lines of a draft that are shown, its last ones."""
_CONTROLS = {
    code: None for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}
"""A model's text must not steer the terminal."""


class View:
    """Prints whole lines, and below them what still changes.

    On a terminal the line that has begun and the draft are redrawn in place; a draft
    disappears when the answer begins. Elsewhere there are whole lines only, and no
    drafts.

    Args:
        out: Where to print.
    """

    def __init__(self, out: Console) -> None:
        """Create a view; it shows from `__enter__` to `__exit__`."""
        self._out = out
        self._live = Live(console=out, transient=True, refresh_per_second=12)
        self._line, self._style = "", THINKING
        self._draft, self._index = "", 0

    def __enter__(self) -> Self:
        """Begin to show."""
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Print what has begun, also after Ctrl-C or an error."""
        self._draft = ""
        self._end_line()
        self._live.stop()

    def think(self, text: str) -> None:
        """Show more of the thinking."""
        self._write(text, THINKING)

    def draft(self, draft: DraftText) -> None:
        """Show more of a draft; a new one replaces the last."""
        if draft.index != self._index:
            self._draft, self._index = "", draft.index
        self._draft += draft.text
        self._show()

    def answer(self, text: str) -> None:
        """Show more of the answer."""
        if text:
            self._draft = ""
        self._write(text, ANSWER)

    def _write(self, text: str, style: str) -> None:
        if not text:
            return
        if style != self._style:
            self._end_line()
            self._style = style
        *whole, self._line = (self._line + text).split("\n")
        self._print(whole)

    def _end_line(self) -> None:
        whole, self._line = [self._line] if self._line else [], ""
        self._print(whole)

    def _print(self, lines: list[str]) -> None:
        """Print whole lines, once they are gone from below."""
        self._show()
        if lines:
            self._live.refresh()
        for line in lines:
            self._out.print(_text(line, self._style))

    def _show(self) -> None:
        parts: list[RenderableType] = []
        if self._line:
            parts.append(_text(self._line, self._style))
        if self._draft:
            last = "\n".join(self._draft.split("\n")[-_DRAFT_LINES:])
            title = f"draft {self._index + 1}"
            parts.append(Panel(_text(last, DRAFT), title=title, style=DRAFT))
        self._live.update(Group(*parts))


def _text(text: str, style: str) -> Text:
    return Text(text.translate(_CONTROLS), style=style)
