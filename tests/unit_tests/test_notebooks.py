"""Notebooks are run as tests/notebooks.py says, by a Jupyter kernel and without one."""

from __future__ import annotations

import json

import pytest

from tests.notebooks import Output, execute, main, run_cells


@pytest.fixture
def notebook(tmp_path):
    def write(**cells: str):
        told = [
            {"cell_type": "code", "id": name, "source": [code]}
            for name, code in cells.items()
        ]
        file = tmp_path / "n.ipynb"
        file.write_text(json.dumps({"cells": told}))
        return file

    return write


def test_values_are_told_without_a_kernel(notebook):
    told = run_cells(
        notebook(one="a = 1", two="import asyncio\nawait asyncio.sleep(0, a)")
    )
    assert (told["a"], told["_values"]) == (1, {"one": None, "two": 1})


@pytest.mark.parametrize("run", [run_cells, execute])
def test_a_model_needs_its_cell(notebook, run):
    with pytest.raises(LookupError, match="no cell with the id 'model'"):
        run(notebook(ask="1"), "demo")


@pytest.mark.enable_socket  # of this machine: so a kernel is talked to
class TestKernel:
    @pytest.fixture(autouse=True)
    def kernel(self):
        pytest.importorskip("nbclient")
        pytest.importorskip("ipykernel")

    def test_cells_run_in_a_kernel(self, notebook):
        file = notebook(
            model="MODEL = 'demo'",
            ask="print('asked', MODEL)\n[1, 2]",
            wait="import asyncio\nawait asyncio.sleep(0, 'done')",
            kernel="get_ipython().kernel is not None",
        )
        told = execute(file, "folder/model", "assert MODEL == 'folder/model'")
        assert told == {
            "model": Output("", {}),
            "ask": Output("asked folder/model\n", {"text/plain": "[1, 2]"}),
            "wait": Output("", {"text/plain": "'done'"}),
            "kernel": Output("", {"text/plain": "True"}),
        }

    def test_the_number_of_cells_is_told(self, notebook, capsys):
        main([str(notebook(model="MODEL = 'demo'", ask="print('asked', MODEL)"))])
        out, err = capsys.readouterr()
        assert json.loads(out) == {"cells": 2}
        assert err.endswith("asked demo\n")

    @pytest.mark.parametrize("then", ["", "assert a == 2"])
    def test_what_fails_is_shown(self, notebook, then):
        from nbclient.exceptions import CellExecutionError

        file = notebook(fine="a = 1", wrong="a" if then else "a / 0")
        error = "AssertionError" if then else "ZeroDivisionError"
        with pytest.raises(CellExecutionError, match=error) as failed:
            execute(file, then=then)
        assert (then or "a / 0") in str(failed.value)
