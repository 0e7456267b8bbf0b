"""Runs notebooks, by a Jupyter kernel or in this process.

    python -m tests.notebooks [NOTEBOOK] [--model MODEL]

runs one by a kernel, as Jupyter does. What the cells print goes to stderr, and at the
end the number of cells run to stdout, as JSON. A cell that fails ends it with exit code
1; the error shows the cell and its traceback.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOUR = Path(__file__).parents[1] / "examples" / "tour.ipynb"
MODEL_CELL = "model"
"""Id of the cell that says which model is asked."""
CELL_SECONDS = 300
"""Longest wait for a cell, one of which starts an engine, and for the kernel itself."""
OUTPUT_SECONDS = 60
"""Longest wait for what a finished cell has printed; without it outputs get lost."""


def code_cells(notebook: Path, model: str | None = None) -> dict[str, str]:
    """Return the code of a notebook's cells, by their ids.

    Args:
        notebook: The file.
        model: Asked instead of the notebook's own model.

    Raises:
        LookupError: If another model is wanted, and no cell says which is asked.
    """
    cells = {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    }
    if model is not None:
        if MODEL_CELL not in cells:
            raise LookupError(f"{notebook} has no cell with the id {MODEL_CELL!r}")
        cells[MODEL_CELL] = f"MODEL = {model!r}"
    return cells


@dataclass(frozen=True)
class Output:
    """What a cell shows in a notebook.

    Attributes:
        printed: What it wrote to stdout.
        value: The forms in which its last line's value is shown, by MIME type.
    """

    printed: str
    value: Mapping[str, str]


def execute(
    notebook: Path, model: str | None = None, then: str = ""
) -> dict[str, Output]:
    """Run the code cells by a kernel of this Python, in a process of its own.

    Args:
        notebook: The file.
        model: Asked instead of the notebook's own model.
        then: Code that is run in the kernel after them.

    Returns:
        What each cell shows, by the cell's id.

    Raises:
        LookupError: If another model is wanted, and no cell says which is asked.
        nbclient.exceptions.CellExecutionError: If a cell fails; with its traceback.
    """
    cells = code_cells(notebook, model)  # says what is wrong without a kernel, too
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(code, id=name)
            for name, code in [*cells.items(), *([("then", then)] if then else [])]
        ]
    )
    client = NotebookClient(
        book,
        timeout=CELL_SECONDS,
        startup_timeout=CELL_SECONDS,
        iopub_timeout=OUTPUT_SECONDS,
        raise_on_iopub_timeout=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    told: dict[str, Output] = {}
    with client.setup_kernel():
        for index, cell in enumerate(book.cells):
            client.execute_cell(cell, index)
            told[cell["id"]] = output = _output_of(cell)
            sys.stderr.write(output.printed)
    return {name: told[name] for name in cells}


def _output_of(cell: Mapping[str, Any]) -> Output:
    outputs = cell["outputs"]
    printed = [one["text"] for one in outputs if one.get("name") == "stdout"]
    values = [one for one in outputs if one["output_type"] == "execute_result"]
    return Output("".join(printed), values[-1]["data"] if values else {})


def run_cells(notebook: Path, model: str | None = None) -> dict[str, Any]:
    """Run the code cells in this process, on a running event loop.

    It is for tests that put something into this process, a backend for instance.

    Args:
        notebook: The file.
        model: Asked instead of the notebook's own model.

    Returns:
        The names that they have defined, and in `_values` what the last line of each
        cell gives, by the cell's id.

    Raises:
        LookupError: If another model is wanted, and no cell says which is asked.
    """
    namespace: dict[str, Any] = {"__name__": "__main__", "_values": {}}

    async def run() -> None:
        for name, code in code_cells(notebook, model).items():
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
    """Run a notebook by a kernel and print how many cells were run."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.notebooks", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("notebook", nargs="?", type=Path, default=TOUR)
    parser.add_argument("--model", help="instead of the notebook's own")
    arguments = parser.parse_args(argv)
    told = execute(arguments.notebook, arguments.model)
    print(json.dumps({"cells": len(told)}))  # noqa: T201


if __name__ == "__main__":
    main()
