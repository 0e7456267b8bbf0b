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
from langchain_ssr.bench.steps import DETAILS, StepLog, Steps, watch
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.errors import SettingsError


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


STEPS = Steps(5, 30)


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
    found = overhead.totals(rounds(ratios), [{"plain": STEPS, "ssr": STEPS}] * 20)
    assert found["ok"] is ok
    assert found["interval"] == [min(ratios), max(ratios)]
    assert found["interval_width"] == max(ratios) - min(ratios)
    assert found["same_steps"] is found["same_scheduled_tokens"] is True


@pytest.mark.parametrize(
    ("ssr", "same_steps", "same_tokens"),
    [(Steps(6, 30), False, True), (Steps(5, 31), True, False)],
)
def test_a_step_or_a_token_more_is_told(ssr, same_steps, same_tokens):
    steps = [{"plain": STEPS, "ssr": STEPS}, {"plain": STEPS, "ssr": ssr}]
    found = overhead.totals(rounds([1.0, 1.0]), steps)
    assert found["same_steps"] is same_steps
    assert found["same_scheduled_tokens"] is same_tokens


def test_an_engine_that_tells_of_no_step_proves_nothing():
    found = overhead.totals(rounds([1.0]), [{"plain": Steps(), "ssr": Steps()}])
    assert found["same_steps"] is found["same_scheduled_tokens"] is False


def details(ctx, generation, *, is_dummy=False):
    told = {"num_ctx_tokens": ctx, "num_generation_tokens": generation}
    return SimpleNamespace(iteration_details=SimpleNamespace(**told, is_dummy=is_dummy))


def test_steps_are_added_up():
    log = StepLog()
    log.record(details(20, 0), None)
    before = log.total
    log.record(details(0, 4), None, mm_cache_stats=None, engine_idx=0)
    log.record(details(0, 9, is_dummy=True), None)
    log.record(None, None)
    log.record(SimpleNamespace(iteration_details=None), None)
    log.record(details(0, 1), None)
    assert log.total == Steps(3, 25)
    assert log.total - before == Steps(2, 5)


@pytest.mark.parametrize(
    "settings", [{}, {"base_url": "http://localhost:1/v1", "engine_kwargs": None}]
)
def test_only_an_engine_that_tells_of_its_steps_is_watched(settings):
    with pytest.raises(SettingsError, match="enable_logging_iteration_details"):
        watch(ChatSSR(model="smollm2", **settings))


class FakeModel:
    """Says how it was asked, and takes no time."""

    asked: list[tuple[bool, int]]

    def __init__(self, *, speculation, engine_kwargs, **_):
        assert DETAILS.items() <= engine_kwargs.items()
        self.speculation = speculation
        self.log = StepLog()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def invoke(self, prompt, *, seed, **_):
        assert prompt
        self.asked.append((self.speculation, seed))
        for tokens in (20, 1, 1):
            self.log.record(details(0, tokens), None)


@pytest.fixture
def asked(monkeypatch):
    FakeModel.asked = []
    monkeypatch.setattr(overhead, "ChatSSR", FakeModel)
    monkeypatch.setattr(overhead, "watch", lambda model: model.log)
    monkeypatch.setattr(command, "OUT", Console(width=500))
    return FakeModel.asked


def test_both_engines_get_each_round_in_turns(asked, tmp_path):
    file = tmp_path / "o.json"
    command = ["bench", "--check", "overhead", "--rounds", "21", "--json", str(file)]
    result = CliRunner().invoke(cli.app, command)
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert len(figures["rounds"]) == 21
    assert [mode for mode, _ in asked] == ([True, False, False, True] * 12)[:46]
    seeds = [seed for _, seed in asked]
    assert seeds[::2] == seeds[1::2] == list(range(23))
    first = figures["rounds"][0]
    assert first["num_steps"] == {"plain": 3, "ssr": 3}
    assert first["num_scheduled_tokens"] == {"plain": 22, "ssr": 22}
    assert "95 % interval" in result.output
    assert "(width " in result.output
    assert result.exit_code == (0 if figures["totals"]["ok"] else 1)


def test_few_rounds_are_refused(asked):
    result = CliRunner().invoke(
        cli.app, ["bench", "--check", "overhead", "--rounds", "19"]
    )
    assert result.exit_code == 2
    assert not asked


def test_an_unknown_check_is_refused(asked):
    result = CliRunner().invoke(cli.app, ["bench", "--check", "speed"])
    assert result.exit_code == 2
    assert not asked
