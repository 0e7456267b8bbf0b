"""Hooks that see speculation while it happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class DraftText:
    """A piece of an early draft, as it is written.

    Attributes:
        index: The draft's number within its request.
        text: What was added since the last piece of this draft.
    """

    index: int
    text: str


DraftHook = Callable[[DraftText], None]

_draft_hook: ContextVar[DraftHook | None] = ContextVar("ssr_draft_hook", default=None)


@contextlib.contextmanager
def watch_drafts(hook: DraftHook) -> Iterator[None]:
    """Call `hook` with early drafts of streams that are read inside the context.

    It needs `stream_drafts=True`. A hook that raises is not called again in that
    context, and harms nothing else.

    Args:
        hook: Called in the reader's thread, between two chunks of the stream.

    Example:
        ```python
        with watch_drafts(lambda draft: print(draft.text, end="")):
            for chunk in llm.stream("...", stream_drafts=True):
                ...
        ```
    """
    token = _draft_hook.set(hook)
    try:
        yield
    finally:
        _draft_hook.reset(token)


def report_draft(draft: DraftText) -> None:
    """Hand a piece of a draft to the hook in force, if there is one."""
    hook = _draft_hook.get()
    if hook is None:
        return
    try:
        hook(draft)
    except Exception:  # noqa: BLE001 - the user's hook must not end the answer
        _draft_hook.set(None)
