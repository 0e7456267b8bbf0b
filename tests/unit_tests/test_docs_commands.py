"""docs/commands.md has every command, and no option that is not there."""

from __future__ import annotations

import re

import pytest
import typer.main

from langchain_ssr import cli
from tests.unit_tests.loading import ROOT

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(cli.app).commands
SECTIONS = dict(
    re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
)


def test_every_command_has_its_section_and_row():
    names = {*COMMANDS, "models get"} - {"models"}
    assert SECTIONS.keys() == names
    listed = set(re.findall(r"^\| \[`(.+?)`\]\(#", PAGE, re.MULTILINE))
    assert listed == names


@pytest.mark.parametrize("name", SECTIONS)
def test_options_exist(name):
    command, *rest = name.split(" ")
    found = COMMANDS[command]
    for part in rest:
        found = found.commands[part]
    known = {option for each in found.params for option in each.opts}
    if name == "serve":
        known |= {"--port"}  # vLLM's
    told = set(re.findall(r"--[a-z][a-z-]*", SECTIONS[name]))
    assert told <= known
