"""Runs the cells of a notebook as a kernel does: in turn, on a running event loop.

    python -m tests.notebooks [NOTEBOOK] [--model MODEL]

What the cells print goes to stderr, and at the end the number of cells run to stdout,
as JSON. A cell that fails ends it with exit code 1; the traceback names the cell.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import inspect
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOUR = Path(__file__).parents[1] / "examples" / "tour.ipynb"
MODEL_CELL = "model"
"""Id of the cell that says which model is asked."""


def code_cells(notebook: Path) -> dict[str, str]:
    """Return the code of a notebook's cells, by their ids."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return {
        cell["id"]: "".join(cell["source"])
        for cell in cells
        if cell["cell_type"] == "code"
    }


def run_cells(notebook: Path, model: str | None = None) -> dict[str, Any]:
    """Run the cells.

    Args:
        notebook: The file.
        model: Asked instead of the notebook's own model.

    Returns:
        The names that they have defined, and in `_values` what the last line of each
        cell gives, by the cell's id.

    Raises:
        LookupError: If another model is wanted, and no cell says which is asked.
    """
    cells = code_cells(notebook)
    if model is not None:
        if MODEL_CELL not in cells:
            raise LookupError(f"{notebook} has no cell with the id {MODEL_CELL!r}")
        cells[MODEL_CELL] = f"MODEL = {model!r}"
    namespace: dict[str, Any] = {"__name__": "__main__", "_values": {}}

    async def run() -> None:
        for name, code in cells.items():
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


def main(argv: Sequence[str] | None = None) -> None:
    """Run a notebook and print how many cells were run."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.notebooks", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("notebook", nargs="?", type=Path, default=TOUR)
    parser.add_argument("--model", help="instead of the notebook's own")
    arguments = parser.parse_args(argv)
    with contextlib.redirect_stdout(sys.stderr):
        told = run_cells(arguments.notebook, arguments.model)
    print(json.dumps({"cells": len(told["_values"])}))  # noqa: T201


if __name__ == "__main__":
    main()
