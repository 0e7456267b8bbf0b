"""The messages of the package's errors and warnings, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "langchain_ssr"
NOT_FOR_USERS = {"demo", "engine/lifecycle.py", "__init__.py"}
"""The demo model's making, and what only a mistake of ours can raise."""
SHORTEST = 12
"""Characters; messages with less text of their own pass on what others say."""


class Message(NamedTuple):
    """A message: where it is, and the longest piece of its text that never changes."""

    where: str
    text: str


def messages() -> list[Message]:
    """Return what the package's errors and warnings say."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        if name in NOT_FOR_USERS or name.split("/")[0] in NOT_FOR_USERS:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for value in _texts(node):
                text = max(_pieces(value), key=len, default="").strip()
                if len(text) >= SHORTEST:
                    found.append(Message(f"{name}:{value.lineno}", text))
    return found


def _texts(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is a message: of `XError(...)`, of a command's end, in `msg = ...`."""
    if isinstance(node, ast.Call) and node.args:
        name = ast.unparse(node.func).rsplit(".", 1)[-1]
        to_stderr = any(ast.unparse(part) == "err=True" for part in node.keywords)
        if (
            name.endswith("Error")
            or name in ("warning", "exit", "BadParameter")
            or (name == "echo" and to_stderr)
        ):
            yield node.args[0]
    elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "msg":
        yield node.value


def _pieces(value: ast.expr) -> Iterator[str]:
    for part in value.values if isinstance(value, ast.JoinedStr) else [value]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from part.value.split("%s")
