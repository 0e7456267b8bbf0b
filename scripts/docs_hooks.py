"""A hook of MkDocs: pages that are a file of the repository, such as the README.

A page with `include: README.md` in its front matter becomes that file. Links into
docs/ then lead to the site's pages, and those to examples to the page about them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"\]\((?P<folder>docs|examples)/(?P<path>[^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of the file that a page includes, or the page's own."""
    name = page.meta.get("include")
    if name is None:
        return markdown
    return for_site((ROOT / name).read_text(encoding="utf-8"))


def for_site(text: str) -> str:
    """Turn links of a file at the repository's root into links of a page of docs/."""

    def target(link: re.Match[str]) -> str:
        return f"]({link['path'] if link['folder'] == 'docs' else 'examples.md'})"

    return _LINK.sub(target, text)
