"""The docstrings of the public names, as pages whose code can be run.

docs/api.md says what is public: the names of its `:::` directives, with the methods and
properties of a class and the classes and functions of a module that they show.
`scripts/snippets.py` runs the code of these pages as it does that of the others.
"""

from __future__ import annotations

import contextlib
import inspect
import pkgutil
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "langchain_ssr"
API = ROOT / "docs" / "api.md"
SETUP = """\
<!-- setup
from langchain_ssr import *

llm = ChatSSR(model="demo", thinking_budget=256, max_tokens=1000)
-->
"""
"""What the docstrings take for granted; `ChatSSR`'s own begins with its import."""
_SHELL = re.compile(r"^(?= *```(?:bash|sh)$)", re.MULTILINE)
_NOT_RUN = "<!-- not run: it installs the package -->\n"
_DIRECTIVE = re.compile(
    r"^::: (?P<name>\S+)\n(?P<body>(?: .*\n|\n(?= ))*)", re.MULTILINE
)


def directives(page: str) -> dict[str, Mapping[str, Any]]:
    """Return the options of each directive of mkdocstrings on a page, by its name."""
    return {
        found["name"]: (yaml.safe_load(found["body"]) or {}).get("options", {})
        for found in _DIRECTIVE.finditer(page)
    }


def public_names(page: str) -> dict[str, list[str]]:
    """Return what directives name, from the package on, with the members they show.

    Args:
        page: The text of docs/api.md.

    Raises:
        AttributeError: If there is no such name.
    """
    names = {}
    for path, options in directives(page).items():
        thing = pkgutil.resolve_name(path)
        names[path.removeprefix(f"{PACKAGE}.")] = list(_members(thing, options))
    return names


def _members(thing: Any, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the members that a directive shows: those it lists, or the thing's own.

    Fields and constants are not among them: what they say needs no example.
    """
    own = vars(thing) if inspect.isclass(thing) or inspect.ismodule(thing) else ()
    shown = options.get("members", own)
    hidden = [each.removeprefix("!") for each in options.get("filters", ["!^_"])]
    for name in shown or ():
        if any(re.search(pattern, name) for pattern in hidden):
            continue
        member = getattr(thing, name, None)
        home = getattr(member, "__module__", None)
        if inspect.ismodule(thing) and home != thing.__name__:
            continue  # it is imported
        if callable(member) or isinstance(member, property):
            yield name


def docstrings(name: str, members: list[str]) -> dict[str, str]:
    """Return the docstrings of a name and of its members, by their full names."""
    thing = pkgutil.resolve_name(f"{PACKAGE}.{name}")
    found = {name: inspect.getdoc(thing) or ""}
    for member in members:
        found[f"{name}.{member}"] = inspect.getdoc(getattr(thing, member)) or ""
    return found


def page_of(name: str, members: list[str]) -> str:
    """Write a page of a name's docstrings, in the order of its directive."""
    parts = [f"# {full}\n\n{text}" for full, text in docstrings(name, members).items()]
    return _SHELL.sub(_NOT_RUN, "\n\n".join([SETUP, *parts, ""]))


@contextlib.contextmanager
def pages() -> Iterator[list[Path]]:
    """Write the pages of all public names to a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="docstrings-") as folder:
        written = []
        for name, members in public_names(API.read_text(encoding="utf-8")).items():
            written.append(Path(folder) / f"{name}.md")
            written[-1].write_text(page_of(name, members), encoding="utf-8")
        yield written
