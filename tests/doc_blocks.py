"""Examples in Markdown documents, taken out so that tests can run them."""

from __future__ import annotations

from pathlib import Path

from tests.unit_tests.loading import load_script

_fences = load_script("fences")
DOCUMENTED = "localhost:8000"
"""Where the documents have their server."""


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page that name a language, in order.

    Those that are part of something else, a list for instance, are indented and left
    out.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    return [
        fence.code
        for fence in _fences.fences(lines)
        if fence.language == language and not fence.indent
    ]


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
