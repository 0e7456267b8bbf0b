"""Reads what the user says: a line, or several between triple quotes."""

from __future__ import annotations

from collections.abc import Callable

PROMPT, CONTINUED = "> ", ". "
QUOTES = '"""'

Read = Callable[[str], str]
"""Shows a prompt and returns a line; `EOFError` at the end, as `input` does."""


def read_message(read: Read) -> str:
    '''Read one message.

    A message that begins with `"""` goes on until a line that ends with it.

    Args:
        read: Reads a line.

    Raises:
        EOFError: At the end of the input.
        KeyboardInterrupt: On Ctrl-C.
    '''
    line = read(PROMPT)
    if not line.lstrip().startswith(QUOTES):
        return line.strip()
    text = line.lstrip().removeprefix(QUOTES)
    while not text.rstrip().endswith(QUOTES):
        text += "\n" + read(CONTINUED)
    return text.rstrip().removesuffix(QUOTES).strip("\n")
