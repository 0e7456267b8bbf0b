"""The comparison with suffix decoding, with chat models made up."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from benchmarks import compare_suffix
from benchmarks.classeval import read_tasks
from benchmarks.common import BenchmarkError
from benchmarks.compare_suffix import main, row_of
from langchain_ssr.errors import ContextLengthError

TASKS = [
    {"task_id": f"ClassEval_{i}", "class_name": f"C{i}", "skeleton": f"class C{i}:\n"}
    for i in range(3)
]


def message(engine, tokens=100):
    block = {"num_accepted_draft_tokens": 60} if engine == "suffix" else None
    steps = tokens - 2 if engine == "plain" else 30
    return SimpleNamespace(
        usage_metadata={"output_tokens": tokens},
        response_metadata={
            "speculation": {
                "mode": "ssr" if engine == "ssr" else "off",
                "reason": None,
                "num_reasoning_steps": 2,
                "num_answer_steps": steps,
                "speculative_decoding": block,
            }
        },
    )


class FakeChat:
    """Answers anything but the second task; dies at the task that is named."""

    asked: ClassVar[list] = []
    dies_at = None

    def __init__(self, engine):
        self.engine = engine

    def __enter__(self):
        return self

    def __exit__(self, *of):
        pass

    def warmup(self):
        return self

    def invoke(self, prompt, **of):
        if of:
            return None
        self.asked.append((self.engine, prompt))
        if "C1" in prompt:
            raise ContextLengthError("too long")
        if FakeChat.dies_at == (self.engine, len(self.asked)):
            raise KeyboardInterrupt
        return message(self.engine)


@pytest.fixture
def command(tmp_path, monkeypatch):
    tasks = tmp_path / "tasks.json.gz"
    tasks.write_bytes(gzip.compress(json.dumps(TASKS).encode()))
    monkeypatch.setattr(FakeChat, "asked", [])
    monkeypatch.setattr(FakeChat, "dies_at", None)
    monkeypatch.setattr(compare_suffix, "_chat_model", lambda e, _: FakeChat(e))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    out = str(tmp_path / "out.json")
    return ["--tasks", str(tasks), "--num", "3", "--json", out, "--check"]


def read(command):
    return json.loads(Path(command[5]).read_text(encoding="utf-8"))


def test_totals_and_a_skipped_task(command, capsys):
    assert main(command) == 0
    sums = read(command)["totals"]
    assert {name: row["steps"] for name, row in sums.items()} == {
        "ssr": 64,
        "suffix": 80,
        "plain": 200,
    }
    assert sums["ssr"]["tasks"] == 2
    assert sums["suffix"]["reasoning"] is None
    for row in sums.values():
        assert row["tokens_per_step"] == row["tokens"] / row["steps"]
        assert row["ms_per_token"] == pytest.approx(1e3 * row["seconds"] / 200)
    out = capsys.readouterr().out
    assert "skipped" in out
    assert "total" in out


def test_rates_are_printed():
    row = {**row_of("suffix", message("suffix"), 0.5), "tasks": 1}
    line = compare_suffix._line("total", "suffix", row)
    assert line.split() == [
        "total",
        "suffix",
        "100",
        "40",
        *"--",
        "0.5",
        "2.50",
        "5.00",
    ]
    assert compare_suffix._HEADER.split()[-3:] == ["per", "step", "ms/token"]
    empty = {**row, "tokens": 0, "steps": 0, "seconds": 0}
    assert compare_suffix._line("total", "suffix", empty).split()[-2:] == ["-", "-"]


def test_goes_on_where_it_was_stopped(command, monkeypatch):
    monkeypatch.setattr(FakeChat, "dies_at", ("suffix", 6))
    with pytest.raises(KeyboardInterrupt):
        main(command)
    assert len(read(command)["rows"]["suffix"]) == 2
    FakeChat.asked.clear()
    monkeypatch.setattr(FakeChat, "dies_at", None)
    assert main(command) == 0
    assert [engine for engine, _ in FakeChat.asked] == ["suffix"] + ["plain"] * 3
    FakeChat.asked.clear()
    assert main(command) == 0
    assert not FakeChat.asked


def test_check_fails_if_suffix_is_better(command, monkeypatch):
    monkeypatch.setattr(
        compare_suffix, "row_of", lambda e, *_: row_of(e, message(e), 1)
    )
    assert main(command) == 0
    worse = {"suffix": 20, "ssr": 30, "plain": 100}
    monkeypatch.setattr(
        compare_suffix,
        "row_of",
        lambda e, m, s: {**row_of(e, m, s), "steps": worse[e]},
    )
    command[5] += "2"
    assert main(command) == 1
    assert main(command[:-1]) == 0


def test_refuses_a_report_of_another_run(command, capsys):
    assert main(command) == 0
    assert main([*command, "--max-tokens", "5"]) == 2
    assert "was made with" in capsys.readouterr().err


def test_names_the_package_that_is_missing(command, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(command) == 2
    assert "pip install arctic-inference" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "has 0 tasks"),
        ("{", "is not JSON"),
        ("[1]", "not ClassEval"),
        ("{}", "not ClassEval: it is not a list"),
    ],
)
def test_bad_tasks(tmp_path, text, problem):
    path = tmp_path / "tasks.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchmarkError, match=problem):
        read_tasks(path, 1)
    with pytest.raises(BenchmarkError, match="does not exist"):
        read_tasks(tmp_path / "none.json", 1)


def test_rows_that_cannot_be_counted():
    with pytest.raises(BenchmarkError, match="SpeculationStats"):
        row_of("suffix", message("plain"), 1.0)
    with pytest.raises(BenchmarkError, match="not speculated"):
        row_of("ssr", message("plain"), 1.0)
