"""Runs the cells of a notebook as a kernel does: in turn, on a running event loop."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from pathlib import Path
from typing import Any


def code_cells(notebook: Path) -> dict[str, str]:
    """Return the code of a notebook's cells, by their ids."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return {
        cell["id"]: "".join(cell["source"])
        for cell in cells
        if cell["cell_type"] == "code"
    }


def run_cells(notebook: Path, **replaced: str) -> dict[str, Any]:
    """Run the cells.

    Args:
        notebook: The file.
        **replaced: Code to run instead of a cell's, by its id.

    Returns:
        The names that they have defined, and in `_values` what the last line of each
        cell gives, by the cell's id.
    """
    cells = code_cells(notebook)
    if unknown := set(replaced) - set(cells):
        raise LookupError(unknown)
    namespace: dict[str, Any] = {"__name__": "__main__", "_values": {}}

    async def run() -> None:
        for name, code in {**cells, **replaced}.items():
            namespace["_values"][name] = await _run_cell(name, code, namespace)

    asyncio.run(run())
    return namespace


async def _run_cell(name: str, code: str, namespace: dict[str, Any]) -> Any:
    tree = ast.parse(code, name)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    await _evaluate(
        compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace
    )
    if last is None:
        return None
    value = ast.Expression(last.value)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return await _evaluate(compile(value, name, "eval", flags), namespace)


async def _evaluate(code: Any, namespace: dict[str, Any]) -> Any:
    value = eval(code, namespace)  # noqa: S307 - cells of our own notebook
    return await value if inspect.iscoroutine(value) else value
