"""Examples in Markdown documents, taken out so that tests can run them."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTED = "localhost:8000"
"""Where the documents have their server."""


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page that name a language, in order."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [code for name, code in found if name == language]


def requests_of(page: Path) -> list[str]:
    """Return the page's shell examples that ask a server."""
    return [code for code in blocks(page, "bash") if code.startswith("curl ")]


def at(address: str, code: str) -> str:
    """Let an example ask another server.

    Args:
        address: Host and port.
        code: The example.
    """
    return code.replace(DOCUMENTED, address)
