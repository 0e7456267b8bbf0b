"""The notebook examples/tour.ipynb, with a backend that answers from memory."""

from __future__ import annotations

import json

from tests.notebooks import TOUR, code_cells, run_cells
from tests.unit_tests import ssr_backend
from tests.unit_tests.ssr_backend import answer

RESERVATION = {"city": "Lisbon", "guests": 4, "name": "Clara"}


def test_the_notebook_is_kept_without_outputs():
    notebook = json.loads(TOUR.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 8
    assert all(not cell["outputs"] for cell in code)
    assert {cell["execution_count"] for cell in code} == {None}


def test_the_demo_model_is_the_default():
    assert code_cells(TOUR)["model"] == 'MODEL = "demo"'


def test_every_cell_runs(monkeypatch, capsys):
    backend = ssr_backend.use(
        monkeypatch,
        *[answer("class Playlist: ...")] * 2,
        *[answer("Yes")] * 3,
        answer("", ("reserve_table", RESERVATION)),
        answer(json.dumps(RESERVATION)),
        answer("class Playlist: ..."),
    )
    told = run_cells(TOUR, "Qwen3-4B")
    values = told["_values"]
    assert "<table" in values["stats"]._repr_html_()
    assert values["call"][0]["args"] == RESERVATION
    assert values["structured"].model_dump() == RESERVATION
    assert values["plain"] is True
    assert backend.settings[-1]["speculation"] is False
    out = capsys.readouterr().out
    assert "draft 2 | 'Hello'" in out
    assert "What is the day after Saturday? Yes" in out
