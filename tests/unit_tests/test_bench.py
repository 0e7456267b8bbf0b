"""Benchmarks that a user runs: arithmetic and command."""

from __future__ import annotations

import json
import random
import statistics
from types import SimpleNamespace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from langchain_ssr import cli
from langchain_ssr.bench import command, overhead
from langchain_ssr.bench.intervals import interval


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [(1, 0, 0), (3, 0, 2), (5, 0, 4), (6, 0, 5), (9, 1, 7), (11, 1, 9), (20, 5, 14)],
)
def test_interval_takes_the_ranks_of_the_textbook(size, low, high):
    values = random.Random(0).sample(range(size), size)
    assert interval(values) == (low, high)


def test_interval_covers_the_median_as_often_as_it_says():
    rng = random.Random(0)
    samples = [[rng.gauss(0, 1) for _ in range(11)] for _ in range(2000)]
    bounds = [interval(sample) for sample in samples]
    assert statistics.fmean(low <= 0 <= high for low, high in bounds) > 0.95


def rounds(ratios: list[float]) -> list[dict[str, float]]:
    return [{"plain": ratio, "ssr": 1.0} for ratio in ratios]


@pytest.mark.parametrize(
    ("ratios", "ok"),
    [
        ([0.9, 1.1] * 10, True),  # the interval holds 1
        ([1.2, 1.3] * 10, True),  # faster
        ([0.98, 0.985] * 10, True),  # slower, and by little
        ([0.9, 0.95] * 10, False),
        ([0.96, 0.99] * 10, False),
    ],
)
def test_when_the_aim_is_reached(ratios, ok):
    found = overhead.totals(rounds(ratios), [{"plain": 5, "ssr": 5}] * 20)
    assert found["ok"] is ok
    assert found["interval"] == [min(ratios), max(ratios)]
    assert found["same_steps"]


def test_a_step_more_is_told():
    steps = [{"plain": 5, "ssr": 5}, {"plain": 5, "ssr": 6}]
    assert not overhead.totals(rounds([1.0, 1.0]), steps)["same_steps"]


class FakeModel:
    """Says how it was asked, and takes no time."""

    asked: list[tuple[bool, int]]
    steps = 7

    def __init__(self, *, speculation, **_):
        self.speculation = speculation

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def invoke(self, prompt, *, seed, **_):
        assert prompt
        self.asked.append((self.speculation, seed))
        told = {"num_reasoning_steps": 0, "num_answer_steps": self.steps}
        return SimpleNamespace(response_metadata={"speculation": told})


@pytest.fixture
def asked(monkeypatch):
    FakeModel.asked = []
    monkeypatch.setattr(overhead, "ChatSSR", FakeModel)
    monkeypatch.setattr(command, "OUT", Console(width=500))
    return FakeModel.asked


def test_both_engines_get_each_round_in_turns(asked, tmp_path):
    file = tmp_path / "o.json"
    command = ["bench", "--check", "overhead", "--rounds", "4", "--json", str(file)]
    result = CliRunner().invoke(cli.app, command)
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert len(figures["rounds"]) == 4
    assert [mode for mode, _ in asked] == [True, False, False, True] * 3
    seeds = [seed for _, seed in asked]
    assert seeds[::2] == seeds[1::2] == list(range(6))
    assert figures["rounds"][0]["steps"] == {"plain": 7, "ssr": 7}
    assert "95 % interval" in result.output
    assert result.exit_code == (0 if figures["totals"]["ok"] else 1)


def test_an_unknown_check_is_refused(asked):
    result = CliRunner().invoke(cli.app, ["bench", "--check", "speed"])
    assert result.exit_code == 2
    assert not asked
