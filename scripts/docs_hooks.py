"""A hook of MkDocs: the site shows files of the repository, and links stay right.

A page with `include: README.md` in its front matter becomes that file. Links that work
in the repository, into docs/ from outside and out of it from inside, lead to the site's
pages: those to examples that exist to the page about them. A link that leads nowhere
stays as it is, for MkDocs to find. Every page ends in `NOT_MEASURED`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_EXAMPLE = r"(?P<example>examples/[^)\s#]+)(?:#[^)\s]*)?"
_INTO_DOCS = re.compile(rf"\]\((?:docs/(?P<page>[^)\s]+)|{_EXAMPLE})\)")
_OUT_OF_DOCS = re.compile(
    rf"\]\(\.\./(?:(?P<page>README|CHANGELOG)\.md(?P<part>#[^)\s]+)?|{_EXAMPLE})\)"
)
_CARD = "](langchain_ssr/demo/model/README.md)"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
EXAMPLES = "](examples.md)"
NOT_MEASURED = "*Not measured on a GPU: the project's own figures are from CPUs.*"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the page's text, or that of the file that it includes, and the note."""
    name = page.meta.get("include")
    if name is None:
        text = within_site(markdown)
    else:
        text = from_root((ROOT / name).read_text(encoding="utf-8"))
    return f"{text.rstrip()}\n\n---\n\n{NOT_MEASURED}\n"


def from_root(text: str) -> str:
    """Make a page of a file of the repository: its links, and no front matter."""

    def target(link: re.Match[str]) -> str:
        return f"]({link['page']})" if link["page"] else _to_examples(link)

    text = _FRONT_MATTER.sub("", text).replace(_CARD, "](model-card.md)")
    return _INTO_DOCS.sub(target, text)


def within_site(text: str) -> str:
    """Turn links out of docs/ into links to the pages that show what is there."""

    def target(link: re.Match[str]) -> str:
        if not link["page"]:
            return _to_examples(link)
        return f"]({link['page'].lower()}.md{link['part'] or ''})"

    return _OUT_OF_DOCS.sub(target, text)


def _to_examples(link: re.Match[str]) -> str:
    return EXAMPLES if (ROOT / link["example"]).is_file() else link[0]
