"""docs/examples.md names every example, and the site shows their sources."""

from __future__ import annotations

import ast
import json
import re

from tests.unit_tests.loading import ROOT, load_script

EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
hooks = load_script("docs_hooks")


class Page:
    meta: dict[str, str] = {}  # noqa: RUF012 - as MkDocs has it


def test_every_example_is_listed_with_a_link_to_it():
    listed = dict(
        re.findall(r"^\| \[`(.+?)`\]\(\.\./examples/(.+?)\) \|", PAGE, re.MULTILINE)
    )
    there = {file.name for file in EXAMPLES.iterdir() if file.is_file()}
    assert listed.keys() == there - {"scaling_servers.py"}
    assert all(name == target for name, target in listed.items())


def test_each_is_shown_whole():
    shown = hooks.on_page_markdown(PAGE, page=Page())
    files = {file.name for file in EXAMPLES.glob("*.*")}
    assert files | {"deploy/Dockerfile", "data/questions.csv"} <= {*hooks.shown()}
    for name in hooks.shown():
        if not name.endswith(".ipynb"):
            source = (EXAMPLES / name).read_text().rstrip()
            assert f"\n{source}\n```" in shown, name


def test_each_is_folded_in_a_block_that_links_lead_to():
    text = hooks.sources()
    blocks = re.findall(
        r"^/// details \| `([^`]+)`\n    type: example\n    attrs: \{id: ([\w-]+)\}\n\n"
        r"(`{3,})(?:python|yaml|text|docker)\n.*?\n\3\n\n///$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    assert [name for name, _, _ in blocks] == hooks.shown()
    assert len({anchor for _, anchor, _ in blocks}) == len(blocks)


def test_the_notebook_is_shown_as_a_script():
    script = hooks.as_script((EXAMPLES / "tour.ipynb").read_text())
    assert script.startswith("# %% [markdown]\n# # A tour of langchain-ssr\n#\n# ")
    assert '\n\n# %%\nMODEL = "demo"\n\n# %% [markdown]\n# ## An answer\n' in script
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text())["cells"]
    assert script.count("# %%") == len(cells)
    compile(script, "tour", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
