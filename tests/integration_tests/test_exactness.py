"""The equality matrix itself: its requests, its kinds of end, its verdict."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

from langchain_ssr import ChatSSR
from langchain_ssr.errors import ModelLoadError
from tests.exactness import __main__ as program
from tests.exactness.asking import Case, Choice, build_request
from tests.exactness.cases import SPECULATION, cases_for
from tests.exactness.cell import Cell
from tests.exactness.ends import WANTED, how_it_ended
from tests.exactness.engines import ENGINES, GRID
from tests.exactness.grid import choose
from tests.exactness.material import MAX_MODEL_LEN
from tests.exactness.report import gaps, row, summary
from tests.integration_tests import tiny_models as tiny

CHATML = tiny.THINK_END, tiny.TOOL_CALL
TEXT = tiny.TEXT


@pytest.mark.parametrize("shape", ["qwen3", "gemma4", "demo"])
def test_vllm_takes_every_request(shape: str) -> None:
    llm = ChatSSR(model="m/m", temperature=0, max_tokens=None, enable_thinking=True)
    for case in cases_for(shape):
        request = build_request(llm, case, speculate=True)
        ChatCompletionRequest(**request).to_sampling_params(MAX_MODEL_LEN, {})


def test_settings_reach_the_request() -> None:
    case = Case(
        "hello",
        {"max_tokens": 5, "extra_body": {"min_tokens": 3}, "tool_choice": "required"},
        {"draft_budget": 7, "extra_body": {"logprobs": False}},
        adapter="adapter",
    )
    llm = ChatSSR(model="m/m")
    plain = build_request(llm, case, speculate=False)
    assert (plain["logprobs"], plain["top_logprobs"]) == (True, 5)
    assert "draft_budget" not in json.loads(plain["vllm_xargs"]["ssr"])
    request = build_request(llm, case, speculate=True)
    assert (request["logprobs"], "top_logprobs" in request) == (False, False)
    assert (request["min_tokens"], request["model"]) == (3, "adapter")
    assert json.loads(request["vllm_xargs"]["ssr"])["draft_budget"] == 7


@pytest.mark.parametrize("shape", ["qwen3", "gemma4"])
def test_any_two_settings_meet_in_every_other_case(shape: str) -> None:
    cases = cases_for(shape)
    pairs = {
        pair
        for case in cases[::2]
        for pair in itertools.combinations(case.label.split(", "), 2)
    }
    for axis, values in SPECULATION.items():
        for value in values:
            for end in ("budget", "itself", "call", "context", "zero"):
                assert (f"end {end}", f"{axis} {value}") in pairs
    for one, other in zip(cases[::2], cases[1::2], strict=True):
        assert one.plain_key == other.plain_key


def test_the_grid_is_big_enough() -> None:
    numbers = {
        (shape, name): len(choose(shape, ENGINES[name]))
        for shape, names in GRID.items()
        for name in names
        if shape != "demo"
    }
    assert sum(numbers.values()) >= 2000
    assert min(numbers.values()) >= 20
    assert set(itertools.chain(*GRID.values())) == set(ENGINES)


def test_a_limit_spreads_over_all_cases() -> None:
    every = cases_for("qwen3")
    half = choose("qwen3", ENGINES["roomy"], len(every) // 2)
    assert half == list(every[::2])
    assert len(choose("qwen3", ENGINES["roomy"], 7)) == 7


def test_every_other_request_uses_the_adapter() -> None:
    adapters = [case.adapter for case in choose("qwen3", ENGINES["LoRA"])]
    assert adapters[::2] == ["adapter"] * len(adapters[::2])
    assert set(adapters[1::2]) == {None}


@pytest.mark.parametrize(
    ("settings", "token_ids", "finish", "stop", "end"),
    [
        ({"thinking_budget": 9}, [TEXT] * 9, "length", None, "thinking, length"),
        (
            {"thinking_budget": 4},
            [TEXT] * 3 + [tiny.THINK_END, TEXT],
            "length",
            None,
            "budget, length",
        ),
        (
            {"thinking_budget": 9},
            [TEXT] * 3 + [tiny.THINK_END, TEXT],
            "stop",
            None,
            "itself, end",
        ),
        ({}, [tiny.THINK_END, TEXT], "stop", "a", "itself, stop string"),
        ({}, [TEXT, TEXT], "stop", TEXT, "thinking, stop token"),
        ({}, [tiny.TOOL_CALL, tiny.THINK_END], "length", None, "call, length"),
        ({"enable_thinking": False}, [TEXT], "stop", None, "none, end"),
        ({"max_tokens": None}, [TEXT], "length", None, "thinking, context"),
        ({}, [tiny.THINK_END], "tool_calls", None, "itself, tool_calls"),
    ],
)
def test_how_an_answer_ended(
    settings: dict[str, Any], token_ids: list[int], finish: str, stop: Any, end: str
) -> None:
    case = Case("hello", {"max_tokens": 9, **settings})
    choice = Choice(token_ids, finish, stop, None, None, [], [])
    assert how_it_ended(CHATML, case, choice) == end


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


def test_each_short_or_crowded_engine_has_a_twin_with_room_for_drafts() -> None:
    crowded = {n: e for n, e in ENGINES.items() if not e.has_seats}
    assert set(crowded) == {
        "no prefix cache, K=1",
        "few blocks",
        "few blocks, no prefix cache",
        "tiny chunks",
        "few blocks, tiny chunks",
    }
    for name, engine in crowded.items():
        [twin] = [n for n in ENGINES if n in (f"{name}, alone", f"{name}, three")]
        assert ENGINES[twin].has_seats
        assert ENGINES[twin].engine_kwargs == engine.engine_kwargs
        # One after the other, so that one engine serves both.
        for names in GRID.values():
            if name in names:
                assert names[names.index(name) + 1] == twin


@pytest.mark.parametrize("shape", ["qwen3", "gemma4"])
def test_most_requests_can_be_speculated_and_are_greedy(shape: str) -> None:
    cases = cases_for(shape)
    speculated = [
        case
        for case in cases
        if case.ssr.get("speculation", True) and case.settings.get("n", 1) == 1
    ]
    greedy = [case for case in speculated if "temperature" not in case.settings]
    assert len(speculated) > 0.65 * len(cases)
    assert len(greedy) > 0.55 * len(speculated)


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
