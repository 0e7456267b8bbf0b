"""The messages of the package's errors, warnings and notes, read from its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "langchain_ssr"
NOT_FOR_USERS = {"demo", "engine/lifecycle.py", "__init__.py"}
"""The demo model's making, and what only a mistake of ours can raise."""
TELLS_PROBLEMS = {"bench/fitting.py", "bench/floors.py", "demo/measure.py"}
"""Files whose functions return, yield or list what is not as it must be; for users."""
NO_MESSAGE = re.compile(
    r"pip install .*"  # a command, named by the message before it
    r"|Ctrl-D ends the chat|.*(\n/.*)+\n.*"  # what the chat says of itself
    r"|.*: was there|.*tokens in.*steps.*"  # all is well
    r"|of this user|For further information"  # in place of a number; pydantic's
)
SHORTEST = 10
"""Characters; messages with less text of their own pass on what others say."""
LONG = 12
"""Characters; a piece of a message with fewer does not stand for all of it."""

CALLS = re.compile(
    r"(.*\.)?(\w*(Error|Exception)|exit|BadParameter|add_note|_note|_unknown|progress)"
    r"|logger\.(error|exception|warning|info)|super\(\)\.__init__"
)
"""Calls whose arguments are messages, or parts of one."""
NAMES = {"msg", "message", "_lost"}
"""Names that messages are kept under."""

Names = Mapping[str, Sequence[ast.expr]]
"""What a file's names are set to, and what its functions return."""


class Message(NamedTuple):
    """A message: where it is, and its text, as far as it never changes.

    That is the longest piece or, if none is long, all with `…` between the pieces.
    """

    where: str
    text: str


def messages() -> list[Message]:
    """Return what the package's errors, warnings and notes say."""
    found: dict[Message, None] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        tells = name in TELLS_PROBLEMS
        if not tells and {name, name.split("/")[0]} & NOT_FOR_USERS:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = _names(tree)
        for node in ast.walk(tree):
            for value in (*_said(node), *(_told(node) if tells else ())):
                for line, text in _texts(value, names):
                    found[Message(f"{name}:{line}", text)] = None
    return list(found)


def _said(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is a message: of `XError(...)`, in `msg = ...`, and the like."""
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        to_stderr = any(ast.unparse(part) == "err=True" for part in node.keywords)
        if CALLS.fullmatch(called) or (called.endswith("echo") and to_stderr):
            yield from node.args
        elif called == "_add":  # of the doctor: where to, what, and a command
            yield from node.args[:2]
        yield from (part.value for part in node.keywords if part.arg == "error")
    elif isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.unparse(target) in NAMES:
            yield node.value


def _told(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Return | ast.Yield) and node.value:
        yield node.value
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "found.append":
        yield from node.args


def _names(tree: ast.AST) -> Names:
    names: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.NamedExpr):
            names.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.FunctionDef):
            returned = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
            names[node.name] = [part.value for part in returned if part.value]
    return names


def _texts(value: ast.expr, names: Names) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each message that an expression may be.

    What one is put together from are messages as well, if they have words: either
    value of a condition, a constant, what a function of the file returns.
    """
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    text = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "%s" for part in parts
    )
    pieces = re.split(r"%[sg]", text)
    longest = max(pieces, key=len).strip()
    if len(longest) < LONG or " " not in longest:
        longest = "…".join(pieces).strip()
    words = longest.replace("…", "")
    if (
        len(words) >= SHORTEST
        and " " in words.strip()
        and not NO_MESSAGE.fullmatch(longest)
    ):
        yield value.lineno, longest
    own = value.id if isinstance(value, ast.Name) else None
    others = {name: values for name, values in names.items() if name != own}
    for part in _parts(value, names):
        yield from _texts(part, others)


def _parts(value: ast.expr, names: Names) -> Iterator[ast.expr]:
    """Yield the expressions that an expression takes its text from."""
    match value:
        case ast.Name(id=name):
            yield from names.get(name, ())
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from (one, other)
        case ast.JoinedStr(values=values):
            yield from (v for v in values if isinstance(v, ast.FormattedValue))
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            yield from values
        case ast.ListComp(elt=elt, generators=loops):
            yield from (elt, *(loop.iter for loop in loops))
        case ast.FormattedValue() | ast.Starred() | ast.Subscript():
            yield value.value
        case ast.Call(func=func, args=args):
            yield from (func, *args)
