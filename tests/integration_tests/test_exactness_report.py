"""The verdict of the equality matrix: gaps, totals, the program and its report."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from langchain_ssr.errors import ModelLoadError
from tests.exactness import __main__ as program
from tests.exactness.cell import Cell
from tests.exactness.ends import WANTED
from tests.exactness.engines import GRID
from tests.exactness.report import gaps, row, summary


def cell(engine: str = "roomy", **values: Any) -> Cell:
    fields = {
        "requests": 3,
        "equal": 3,
        "saved_steps": 5,
        "drafted": 1,
        "tokens": 9,
        "speculated": 3,
        "greedy": 2,
        "longest": 40,
        "resets": 1,
        "preemptions": 1,
        "adapted": 1,
    }
    return Cell("qwen3", engine, ends=dict.fromkeys(WANTED, 1), **fields | values)


def test_a_good_cell_has_no_gaps() -> None:
    assert gaps(cell(), whole=True) == []
    assert row(cell()).split()[2:6] == ["3", "3", "0", "0"]
    one = cell(different=1, equal=2)
    assert summary([cell(), one]) == {
        "requests": 6,
        "equal": 5,
        "ties": 0,
        "different": 1,
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"saved_steps": 0}, "no step was saved"),
        ({"drafted": 0}, "nothing was drafted"),
        ({"leaked": True}, "left behind"),
        ({"wrong_statistics": ["case 7"]}, "case 7"),
        ({"longest": 32}, "no more than 32 tokens"),
        ({"engine": "resets", "resets": 0}, "never emptied"),
        ({"engine": "few blocks", "preemptions": 0}, "no request was preempted"),
        ({"engine": "few blocks, alone", "drafted": 0}, "nothing was drafted"),
        ({"engine": "tiny chunks, three", "drafted": 0}, "nothing was drafted"),
        ({"engine": "LoRA", "adapted": 0}, "the adapter changed no answer"),
    ],
)
def test_a_gap_is_told(values: dict[str, Any], words: str) -> None:
    [gap] = gaps(cell(**values), whole=True)
    assert words in gap


@pytest.mark.parametrize(
    "values",
    [
        {"engine": "few blocks", "drafted": 0},  # all seats are taken
        {"engine": "few blocks", "preemptions": None},  # a server counts them
        {"engine": "few blocks, alone", "preemptions": 0},
        {"engine": "tiny chunks", "longest": 0, "ends": {}},
    ],
)
def test_no_engine_must_show_what_it_is_not_for(values: dict[str, Any]) -> None:
    ends = values.pop("ends", None)
    one = cell(**values)
    one.ends = one.ends if ends is None else ends
    assert gaps(one, whole=True) == []


def test_an_end_that_does_not_occur_is_a_gap() -> None:
    never = cell()
    del never.ends["budget, end"]
    assert "budget, end" in gaps(never, whole=True)[0]
    assert gaps(never, whole=False) == []


class FakeGrid:
    """Gives cells without an engine."""

    cells: dict[str, Cell]
    ran: list[tuple[str, str, int | None]]

    def __init__(self, *_: Any) -> None:
        pass

    def run(self, shape: str, engine: str, limit: int | None) -> Cell:
        self.ran.append((shape, engine, limit))
        return self.cells[shape, engine]


@pytest.fixture
def grid(monkeypatch: pytest.MonkeyPatch) -> type[FakeGrid]:
    made = type("Made", (FakeGrid,), {"cells": {}, "ran": []})
    for shape, names in GRID.items():
        for name in names:
            made.cells[shape, name] = cell()
            made.cells[shape, name].shape = shape
            made.cells[shape, name].engine = name
    monkeypatch.setattr(program, "Grid", made)
    monkeypatch.setattr(program, "resolve", lambda _: None)
    monkeypatch.setattr(program, "commit_of", lambda _: "1234abcd")
    return made


@pytest.fixture
def no_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str) -> None:
        if name == "demo":
            raise ModelLoadError("it is not finished")

    monkeypatch.setattr(program, "resolve", resolve)


def test_the_last_line_sums_up(
    grid: type[FakeGrid], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    assert program.main(["--json", str(report)]) == 0
    out = capsys.readouterr().out
    number = sum(map(len, GRID.values()))
    totals = {
        "requests": 3 * number,
        "equal": 3 * number,
        "ties": 0,
        "different": 0,
    }
    assert json.loads(out.splitlines()[-1]) == totals
    written = json.loads(report.read_text())
    assert {name: written[name] for name in totals} == totals
    assert len(written["cells"]) == number
    assert written["ends"]["budget, end"] == number
    assert (written["skipped"], written["gaps"]) == ({}, [])
    assert written["commit"] == "1234abcd"
    assert written["coverage"] == {
        "speculated": 3 * number,
        "greedy": 2 * number,
        "drafted": number,
        "resets": number,
        "preemptions": number,
        "longest": 40,
    }


@pytest.mark.usefixtures("grid", "no_demo")
def test_a_shape_without_a_model_fails_unless_it_is_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    assert program.main(["--json", str(report)]) == 2
    out = capsys.readouterr().out
    assert "demo: skipped. it is not finished" in out
    assert "gap: demo: there is no model of this shape" in out
    assert json.loads(report.read_text())["skipped"] == {"demo": "it is not finished"}
    assert program.main(["--shape", "qwen3", "--shape", "smollm2"]) == 0


def test_a_difference_is_shown_and_fails(
    grid: type[FakeGrid], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = grid.cells["llama", "resets"]
    bad.different, bad.different_cases = 1, ["prompt long, end budget"]
    assert program.main([]) == 1
    assert "different: llama, resets: prompt long" in capsys.readouterr().out


def test_a_gap_fails_otherwise(grid: type[FakeGrid]) -> None:
    grid.cells["llama", "roomy"].drafted = 0
    assert program.main([]) == 2


def test_a_part_is_run_and_resumed(grid: type[FakeGrid], tmp_path: Path) -> None:
    report = str(tmp_path / "report.json")
    part = ["--shape", "qwen2", "--json", report, "--resume"]
    assert program.main([*part, "--engine", "resets", "--limit", "5"]) == 0
    assert grid.ran == [("qwen2", "resets", 5)]
    assert program.main(part) == 0
    names = [name for name in GRID["qwen2"] if name != "resets"]
    assert grid.ran[1:] == [("qwen2", name, None) for name in names]
    assert len(json.loads(Path(report).read_text())["cells"]) == len(GRID["qwen2"])


@pytest.mark.parametrize(
    "commits", [("1234abcd", "5678ef"), (None, "5678ef"), (None, None)]
)
def test_cells_of_other_code_are_not_kept(
    grid: type[FakeGrid],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    commits: tuple[str | None, str | None],
) -> None:
    report = str(tmp_path / "report.json")
    part = ["--shape", "llama", "--json", report]
    before, now = commits
    monkeypatch.setattr(program, "commit_of", lambda _: before)
    assert program.main(part) == 0
    ran = len(grid.ran)
    monkeypatch.setattr(program, "commit_of", lambda _: now)
    assert program.main([*part, "--resume"]) == 2
    assert "name another file, or delete it" in capsys.readouterr().err
    assert len(grid.ran) == ran


def test_changed_code_has_no_commit(tmp_path: Path) -> None:
    assert program.commit_of(tmp_path) is None
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "file").write_text("one")
    for arguments in (
        ["init", "-q"],
        ["add", "file"],
        [*who, "commit", "-q", "--no-gpg-sign", "-m", "one"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    commit = program.commit_of(tmp_path)
    assert commit
    assert len(commit) == 40
    (tmp_path / "file").write_text("two")
    assert program.commit_of(tmp_path) is None


def test_resuming_needs_a_report(grid: type[FakeGrid]) -> None:
    with pytest.raises(SystemExit):
        program.main(["--resume"])
