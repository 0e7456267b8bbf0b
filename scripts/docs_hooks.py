"""A hook of MkDocs: the site shows files of the repository, and links stay right.

A page with `include: README.md` in its front matter becomes that file. Where a page has
the line `SOURCES`, the files of examples/ follow, folded. Links that work in the
repository, into docs/ from outside and out of it from inside, lead to the site's pages:
those to an example to its source there. A link that leads nowhere stays as it is, for
MkDocs to find. Every page ends in `NOT_MEASURED`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples"
_EXAMPLE = r"examples/(?P<example>[^)\s#]+)(?:#[^)\s]*)?"
_INTO_DOCS = re.compile(rf"\]\((?:docs/(?P<page>[^)\s]+)|{_EXAMPLE})\)")
_OUT_OF_DOCS = re.compile(
    rf"\]\(\.\./(?:(?P<page>README|CHANGELOG)\.md(?P<part>#[^)\s]+)?|{_EXAMPLE})\)"
)
_CARD = "](langchain_ssr/demo/model/README.md)"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_LANGUAGES = {
    ".py": "python",
    ".ipynb": "python",
    ".yaml": "yaml",
    ".csv": "text",
    "": "docker",
}
"""By suffix, what is shown, and how it is coloured: a notebook as a script."""
SOURCES = "<!-- sources of the examples -->"
NOT_MEASURED = "*Not measured on a GPU: the project's own figures are from CPUs.*"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the page's text, or that of the file that it includes, and the note."""
    name = page.meta.get("include")
    if name is None:
        text = within_site(markdown).replace(SOURCES, sources())
    else:
        text = from_root((ROOT / name).read_text(encoding="utf-8"))
    return f"{text.rstrip()}\n\n---\n\n{NOT_MEASURED}\n"


def from_root(text: str) -> str:
    """Make a page of a file of the repository: its links, and no front matter."""

    def target(link: re.Match[str]) -> str:
        return f"]({link['page']})" if link["page"] else _to_example(link)

    text = _FRONT_MATTER.sub("", text).replace(_CARD, "](model-card.md)")
    return _INTO_DOCS.sub(target, text)


def within_site(text: str) -> str:
    """Turn links out of docs/ into links to the pages that show what is there."""

    def target(link: re.Match[str]) -> str:
        if not link["page"]:
            return _to_example(link)
        return f"]({link['page'].lower()}.md{link['part'] or ''})"

    return _OUT_OF_DOCS.sub(target, text)


def shown() -> list[str]:
    """Return the files of examples/ that the site shows, as named there."""
    files = [file for file in FOLDER.rglob("*") if file.is_file()]
    names = [file.relative_to(FOLDER).as_posix() for file in files]
    return sorted(name for name in names if Path(name).suffix in _LANGUAGES)


def sources() -> str:
    """Write each file as a folded block, which opens when a link leads to it."""
    return "\n\n".join(map(_folded, shown()))


def as_script(notebook: str) -> str:
    """Write a notebook as a script, its text in comments: the `percent` format."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            parts.append(f"# %%\n{text}")
        else:
            lines = [f"# {line}".rstrip() for line in text.splitlines()]
            parts.append("\n".join(["# %% [markdown]", *lines]))
    return "\n\n".join(parts)


def _folded(name: str) -> str:
    text = (FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        text = as_script(text)
    longest = max((len(marks) for marks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    head = (
        f"/// details | `{name}`\n    type: example\n    attrs: {{id: {_anchor(name)}}}"
    )
    language = _LANGUAGES[Path(name).suffix]
    return f"{head}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n\n///"


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _to_example(link: re.Match[str]) -> str:
    name = link["example"]
    if not (FOLDER / name).is_file():
        return link[0]
    return f"](examples.md#{_anchor(name)})" if name in shown() else "](examples.md)"
