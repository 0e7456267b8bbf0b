"""The arithmetic of the benchmark, and the tables made of it."""

from __future__ import annotations

import platform
import random
import statistics
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.bench.figures import figures_of
from langchain_ssr.bench.floors import Floors, parse_answer_steps, problems
from langchain_ssr.bench.intervals import bootstrap
from langchain_ssr.bench.modes import BUILT_IN
from langchain_ssr.bench.provenance import cpu_model
from langchain_ssr.bench.record import Record
from langchain_ssr.bench.runner import Plan, run
from langchain_ssr.bench.store import Store
from langchain_ssr.bench.summary import (
    answer_steps,
    mean_of_ratios,
    paired,
    ratio_of_means,
    summarize,
)
from langchain_ssr.bench.tables import TOY, markdown
from langchain_ssr.errors import SettingsError
from tests.unit_tests.bench_fakes import FakeEngines, item, judge

SECONDS = st.floats(0.01, 1000)


def record(mode: str, name: str, total: float, number: int = 0, **fields) -> Record:
    return Record(
        **{
            "mode": mode,
            "item": name,
            "round": number,
            "workload": "w",
            "digest": "",
            "total": total,
            "num_steps": 5,
            "num_answer_tokens": 10,
            "num_answer_steps": 5,
            "num_extra_tokens": 0,
            **fields,
        }
    )


def test_the_two_speedups_differ_as_they_should():
    pairs = [(100.0, 50.0), (1.0, 1.0)]
    assert ratio_of_means(pairs) == pytest.approx(101 / 51)
    assert mean_of_ratios(pairs) == pytest.approx(1.5)


@given(st.lists(st.tuples(SECONDS, st.floats(0.1, 10)), min_size=1, max_size=20))
def test_both_speedups_lie_between_the_least_and_the_greatest(drawn):
    pairs = [(seconds * gain, seconds) for seconds, gain in drawn]
    gains = [a / b for a, b in pairs]
    for speedup in (ratio_of_means, mean_of_ratios):
        assert min(gains) * 0.999 <= speedup(pairs) <= max(gains) * 1.001


def test_rounds_of_a_request_count_once():
    own = [record("ssr", "a", 1, 0), record("ssr", "a", 3, 1), record("ssr", "b", 5)]
    before = [record("plain", "a", 4, 0), record("plain", "a", 6, 1)]
    assert paired(own, before) == [(5, 2)]


def test_a_skipped_request_is_in_no_pair():
    own = [record("ssr", "a", 1), record("ssr", "b", 1, skipped="too long")]
    before = [record("plain", "a", 2, skipped="too long"), record("plain", "b", 2)]
    assert paired(own, before) == []
    figures = summarize(own + before)["workloads"]["w"]["ssr"]
    assert (figures["num_answers"], figures["num_skipped"]) == (1, 1)
    assert figures["ratio_of_mean_latencies"]["value"] is None
    assert figures["num_compared"] == 0


def answered(mode: str, name: str, steps: int | None, content: str = "a", **fields):
    given = {"num_answer_steps": steps, "content": content, **fields}
    return record(mode, name, 1.0, **given)


def test_answer_steps_are_compared_where_both_modes_have_an_answer():
    plain = [answered("plain", name, 12) for name in "abcdef"]
    ssr = [
        answered("ssr", "a", 3),
        answered("ssr", "b", 0),  # came with the step that ended the reasoning
        answered("ssr", "c", 0, ""),  # no answer: cut while it thought
        answered("ssr", "d", None),  # not counted
        answered("ssr", "e", 4, "", tool_calls=[["f", "{}"]]),
        answered("ssr", "f", 2, skipped="too long"),
    ]
    assert paired(ssr[:5], plain, answer_steps) == [(12, 3), (12, 1), (12, 4)]
    figures = summarize(plain + ssr)["workloads"]["w"]["ssr"]
    assert figures["num_answer_step_pairs"] == 3
    assert figures["ratio_of_mean_answer_steps"]["value"] == 36 / 8
    ratios = figures["mean_of_per_request_answer_step_ratios"]
    assert ratios["value"] == pytest.approx((4 + 12 + 3) / 3)
    assert 3 <= ratios["low"] <= ratios["value"] <= ratios["high"] <= 12


def test_bootstrap_covers_the_mean_as_often_as_it_says():
    rng = random.Random(0)
    samples = [[rng.gauss(1, 0.3) for _ in range(30)] for _ in range(60)]
    bounds = [bootstrap(sample, statistics.fmean) for sample in samples]
    covered = statistics.fmean(low <= 1 <= high for low, high in bounds)
    assert 0.85 <= covered <= 1  # 60 samples: five standard errors are 0.14
    widths = [high - low for low, high in bounds]
    assert statistics.fmean(widths) == pytest.approx(2 * 1.96 * 0.3 / 30**0.5, rel=0.1)


def test_bootstrap_is_repeatable_and_needs_two():
    values = [1.0, 2.0, 5.0]
    assert bootstrap(values, statistics.fmean) == bootstrap(values, statistics.fmean)
    assert bootstrap(values[:1], statistics.fmean) is None


def test_without_plain_the_first_mode_is_the_baseline():
    figures = summarize([record("ngram", "a", 3), record("ssr", "a", 1)])
    assert figures["baseline"] == "ngram"
    ratio = figures["workloads"]["w"]["ssr"]["ratio_of_mean_latencies"]
    assert ratio == {"value": 3, "low": None, "high": None}


def test_unknown_steps_make_no_rate():
    figures = summarize([record("x", "a", 1), record("x", "b", 1, num_steps=None)])
    assert figures["workloads"]["w"]["x"]["tokens_per_step"] is None
    assert figures["workloads"]["w"]["x"]["tokens_per_answer_step"] == 2


def test_no_records_make_no_figures():
    assert summarize([]) == {"baseline": None, "workloads": {}, "requests": []}


@pytest.fixture
def folder(tmp_path):
    """A run of three modes, in which n-grams change the answers."""
    engines = FakeEngines()
    engines.texts["ngram"] = "wrong"
    store = Store(tmp_path)
    modes = [BUILT_IN[name] for name in ("plain", "ngram", "ssr")]
    call = {"temperature": 0}
    store.settle({"model": "demo", "engine_kwargs": {}, "call": call}, modes)
    items = [item(name, judge=judge) for name in "abcd"]
    plan = Plan([*items, item("long")], modes)
    run(plan, store, engines.open, lambda _: None)
    return store


def test_figures_of_a_run(folder):
    modes = figures_of(folder)["workloads"]["w"]
    ssr, ngram = modes["ssr"], modes["ngram"]
    assert ssr["ratio_of_mean_latencies"] == {"value": 2, "low": 2, "high": 2}
    assert ngram["mean_of_per_request_speedups"]["value"] == 1.25
    assert (ssr["num_same_output"], ssr["num_compared"]) == (4, 4)
    assert (ngram["num_same_output"], ngram["num_compared"]) == (0, 4)
    assert (ssr["mean_score"], ngram["mean_score"], ssr["num_judged"]) == (1, 0, 4)
    assert (ssr["tokens_per_step"], ssr["tokens_per_answer_step"]) == (2, 3)
    assert ngram["tokens_per_step"] == pytest.approx(100 / 75)
    assert ngram["tokens_per_answer_step"] == pytest.approx(60 / 35)
    assert ssr["ratio_of_mean_answer_steps"] == {"value": 3, "low": 3, "high": 3}
    ratio = ngram["mean_of_per_request_answer_step_ratios"]
    assert ratio["value"] == pytest.approx(60 / 35)
    assert ssr["accepted"] == {"draft_prefix": 20, "prompt": 180}
    assert ssr["extra_tokens_per_token"] == pytest.approx(0.2)
    # 40 reasoning tokens from 0.5 s to 2.5 s
    assert ssr["thinking_tokens_per_second"] == pytest.approx(20)
    assert (ssr["ms_per_step_drafting"], ssr["ms_per_step_alone"]) == (40, 50)
    assert ssr["num_skipped"] == 1
    rows = [r for r in figures_of(folder)["requests"] if r["mode"] == "ngram"]
    assert [row.get("same_output") for row in rows] == [False] * 4 + [None]
    assert not any("content" in row for row in rows)


def test_tables_name_the_speedups_and_call_a_toy_a_toy(folder):
    text = markdown(figures_of(folder))
    assert TOY in text
    assert "| ratio of mean latencies | mean of per-request speed-ups |" in text
    assert "| ssr | 4 (1 skipped) | 5.00 | 0.50 | 1.50 | 2.50 | 2.00 (2.00 to" in text
    assert "prompt 180, draft_prefix 20" in text
    assert "| 40.0 / 50.0 |" in text
    assert "| ngram | 300 | 140 | 1.33 | 1.71 | 1.71 (1.71 to 1.71) |" in text
    cells = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert cells == {7, 8, 9}
    real = figures_of(folder)
    real["settings"]["model"] = "Qwen3-4B"
    assert TOY not in markdown(real)


def test_figures_say_where_they_come_from(folder, tmp_path):
    figures = figures_of(folder, ["/opt/bin/langchain-ssr", "bench", "--mode", "a b"])
    assert figures["command"] == "langchain-ssr bench --mode 'a b'"
    assert figures["versions"]["Python"] == platform.python_version()
    assert figures["versions"]["langchain-ssr"]
    written = (tmp_path / "records.jsonl").stat().st_mtime
    assert datetime.fromisoformat(figures["date"]).timestamp() == int(written)
    figures["machine"]["cpu"] = "Some CPU"
    head = markdown(figures).partition("**w**")[0]
    assert "`langchain-ssr bench --mode 'a b'`" in head
    assert figures["date"] in head
    assert f"Python {platform.python_version()}." in head
    assert "Some CPU" in head
    assert Store(tmp_path / "empty").date is None


def test_the_name_of_the_cpu(tmp_path):
    file = tmp_path / "cpuinfo"
    assert cpu_model(file) is None
    file.write_text("processor\t: 0\nmodel name\t: A CPU: fast\nmodel name\t: B\n")
    assert cpu_model(file) == "A CPU: fast"
    file.write_text("Features\t: fp\n")
    assert cpu_model(file) is None


def test_problems_are_those_of_ssr_only(folder):
    figures = figures_of(folder)
    assert problems(figures, Floors(2.0, same=True)) == []
    assert problems(figures, Floors(2.1)) == ["w, ssr: 2.00 tokens per step, not 2.1"]
    figures["workloads"]["w"]["ssr"]["num_same_output"] = 3
    [problem] = problems(figures, Floors(same=True))
    assert problem == "w, ssr: 1 of 4 outputs are not those of plain"
    figures["workloads"]["w"]["ssr"] |= {"num_same_output": 0, "num_compared": 0}
    [problem] = problems(figures, Floors(same=True))
    assert "nothing to compare" in problem


def test_floors_of_answer_steps(folder):
    figures = figures_of(folder)
    reached = {None: 3.0, "plain": 3.0, "ngram": 35 / 20}
    assert problems(figures, Floors(answer_steps=reached)) == []
    assert problems(figures, Floors(answer_steps={None: 3.01, "ngram": 1.8})) == [
        "w, ssr: 3.00 times fewer answer steps than plain, not 3.01",
        "w, ssr: 1.75 times fewer answer steps than ngram, not 1.8",
    ]
    [problem] = problems(figures, Floors(answer_steps={"suffix": 1.0}))
    assert problem == "w, ssr: there are no answer steps of suffix to compare with"


def test_floors_on_a_command_line():
    assert parse_answer_steps(["4", "suffix=1.5"]) == {None: 4, "suffix": 1.5}
    for text in ("x", "suffix=", "suffix"):
        with pytest.raises(SettingsError, match="not of the form X or MODE=X"):
            parse_answer_steps([text])


def test_modes_are_compared_with_methods_of_vllm(folder):
    modes = figures_of(folder)["workloads"]["w"]
    assert list(modes["ssr"]["against"]) == ["ngram"]
    assert modes["ngram"]["against"] == modes["plain"]["against"] == {}
    ngram = modes["ssr"]["against"]["ngram"]
    assert ngram["ratio_of_mean_latencies"]["value"] == pytest.approx(8 / 5)
    assert ngram["ratio_of_mean_answer_steps"] == {
        "value": 1.75,
        "low": 1.75,
        "high": 1.75,
    }
    text = markdown(figures_of(folder))
    assert "| ssr | ngram | 1.60 (1.60 to 1.60) |" in text
