"""The docstrings of the public names, as pages whose code can be run.

docs/api.md says what is public: the names of its `:::` directives that `langchain_ssr`
itself has, with their methods. `scripts/snippets.py` runs the code of these pages as it
does that of the others.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
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
    """Return what the package itself offers, each with its public methods.

    Args:
        page: The text of docs/api.md.
    """
    package = importlib.import_module(PACKAGE)
    names = {}
    for path, options in directives(page).items():
        module, _, name = path.rpartition(".")
        thing = getattr(package, name, None) if module == PACKAGE else None
        if thing is not None and not inspect.ismodule(thing):
            names[name] = list(_methods(thing, options))
    return names


def _methods(thing: Any, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the methods that a directive shows: those it lists, or the class's own."""
    own = vars(thing) if inspect.isclass(thing) else ()
    shown = options.get("members", own)
    hidden = [each.removeprefix("!") for each in options.get("filters", ["!^_"])]
    for name in shown or ():
        if any(re.search(pattern, name) for pattern in hidden):
            continue
        if callable(getattr(thing, name)):
            yield name


def docstrings(name: str, methods: list[str]) -> dict[str, str]:
    """Return the docstrings of a name and of its methods, by their full names."""
    thing = getattr(importlib.import_module(PACKAGE), name)
    found = {name: inspect.getdoc(thing) or ""}
    for method in methods:
        found[f"{name}.{method}"] = inspect.getdoc(getattr(thing, method)) or ""
    return found


def page_of(name: str, methods: list[str]) -> str:
    """Write a page of a name's docstrings, in the order of its directive."""
    parts = [f"# {full}\n\n{text}" for full, text in docstrings(name, methods).items()]
    return _SHELL.sub(_NOT_RUN, "\n\n".join([SETUP, *parts, ""]))


@contextlib.contextmanager
def pages() -> Iterator[list[Path]]:
    """Write the pages of all public names to a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="docstrings-") as folder:
        written = []
        for name, methods in public_names(API.read_text(encoding="utf-8")).items():
            written.append(Path(folder) / f"{name}.md")
            written[-1].write_text(page_of(name, methods), encoding="utf-8")
        yield written
