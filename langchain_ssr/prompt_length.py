"""How long a prompt is that does not fit, where the engine's error does not tell it.

vLLM refuses a very long prompt by its characters, and stops counting tokens just above
the limit. Who has to shorten a conversation needs to know by how much.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Sized

from langchain_ssr.errors import ContextLengthError


@contextlib.contextmanager
def telling_length(prompt_ids: Callable[[], Sized]) -> Generator[None]:
    """Have a `ContextLengthError` that comes through tell the prompt's length.

    Args:
        prompt_ids: Returns the ids of the prompt's tokens. It is called only where the
            engine has not counted them all, and what it raises is ignored.
    """
    try:
        yield
    except ContextLengthError as error:
        if not _is_counted(error):
            _count(error, prompt_ids)
        raise


@contextlib.asynccontextmanager
async def atelling_length(prompt_ids: Callable[[], Sized]) -> AsyncGenerator[None]:
    """Have a `ContextLengthError` tell the length; it is counted in a thread."""
    try:
        yield
    except ContextLengthError as error:
        if not _is_counted(error):
            await asyncio.to_thread(_count, error, prompt_ids)
        raise


def _is_counted(error: ContextLengthError) -> bool:
    return error.num_tokens is not None and not error.is_lower_bound


def _count(error: ContextLengthError, prompt_ids: Callable[[], Sized]) -> None:
    with contextlib.suppress(Exception):  # the error is what the caller must get
        length = len(prompt_ids())
        if length < (error.num_tokens or 0):  # images count for nothing here
            return
        # An error of the openai client's as well is pickled as the typed one alone.
        for told in (error, vars(error).get("alone")):
            if isinstance(told, ContextLengthError):
                told.num_tokens, told.is_lower_bound = length, False
                if told.max_tokens is None and told.room is not None:
                    told.max_tokens = length + told.room
                told.add_note(f"The prompt has {length} tokens.")
