"""Modes, options and presets, before any engine starts."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from langchain_ssr.bench import modes
from langchain_ssr.bench.modes import BUILT_IN, Engine, check_modes, parse_mode
from langchain_ssr.bench.options import (
    PRESETS,
    Options,
    call_settings,
    make_modes,
    make_options,
    make_plan,
    sampled,
)
from langchain_ssr.bench.workers import devices, parse_shard, run_workers
from langchain_ssr.errors import EngineStartError, SettingsError
from langchain_ssr.settings import merge_call_settings
from tests.unit_tests.loading import ROOT


def test_ablations_share_the_engine_of_ssr():
    keys = {name: mode.engine.key for name, mode in BUILT_IN.items()}
    of_ssr = {key for name, key in keys.items() if name.startswith("ssr")}
    assert len(of_ssr) == 1
    assert len(set(keys.values())) == 4
    for mode in BUILT_IN.values():
        merge_call_settings(mode.settings)


def test_modes_of_the_docs_are_those_there_are():
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = text.partition("## Modes")[2].partition("`NAME=")[0]
    assert re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE) == list(BUILT_IN)


def test_a_config_of_vllm_makes_an_engine():
    mode = parse_mode('mtp={"method": "mtp", "num_speculative_tokens": 3}')
    config = {"method": "mtp", "num_speculative_tokens": 3}
    assert mode.name == "mtp"
    assert mode.engine == Engine(speculation=False, speculative_config=config)
    assert mode.engine.arguments() == {
        "scheduler_cls": modes.COUNTING,
        "speculative_config": config,
        "per_request_spec_decode_metrics": "summary",
    }
    assert BUILT_IN["plain"].engine.arguments() == {"scheduler_cls": modes.COUNTING}
    assert BUILT_IN["ssr"].engine.arguments() == {}


def test_settings_of_ssr_make_calls():
    mode = parse_mode('x={"draft_budget": [64, 128], "num_speculative_tokens": 8}')
    assert mode.engine == BUILT_IN["ssr"].engine
    assert mode.settings["draft_budget"] == [64, 128]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sufix", "Did you mean 'suffix'"),
        ("x={", "no JSON"),
        ("x=[]", "not of the form"),
        ("x={}", "not of the form"),
        ('={"method": "mtp"}', "not of the form"),
        ('a|b={"method": "mtp"}', "not of the form"),
        ('x={"num_tokens": 1}', "has a 'method' or a 'model'"),
        ('x={"draft_budget": 0}', "draft_budget"),
    ],
)
def test_a_mode_that_is_none_is_refused(text, problem):
    with pytest.raises(SettingsError, match=problem):
        parse_mode(text)


def test_suffix_decoding_needs_its_package(monkeypatch):
    chosen = [BUILT_IN["suffix"]]
    monkeypatch.setattr(modes.importlib.util, "find_spec", lambda _: object())
    assert check_modes(chosen) == chosen
    monkeypatch.setattr(modes.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match="pip install arctic-inference"):
        check_modes(chosen)


def test_a_name_is_there_once():
    with pytest.raises(SettingsError, match="'ssr' is there twice"):
        check_modes([BUILT_IN["ssr"]] * 2)


# --- options -------------------------------------------------------------------------


def test_what_is_said_wins_over_the_preset_and_modes_are_added():
    mtp = 'mtp={"method": "mtp"}'
    given = {"num": 5, "modes": (mtp,), "max_tokens": None, "engine_kwargs": {"x": 1}}
    options = make_options("ci", given)
    assert (options.num, options.max_tokens) == (5, 2400)
    assert options.modes == ("plain", "ngram", "ssr", mtp)
    assert options.engine_kwargs == {"dtype": "float32", "x": 1}
    assert make_options(None, {"modes": ("ssr",)}).modes == ("ssr",)
    assert make_options(None, {"temperature": 0.0}).temperature == 0
    with pytest.raises(SettingsError, match="ci and paper"):
        make_options("big", {})


@pytest.mark.parametrize("name", PRESETS)
def test_presets_can_be_run(name):
    options = make_options(name, {"demo": "short"})
    plan = make_plan(options)
    assert plan.modes[0].name == "plain"
    for mode in plan.modes:
        merge_call_settings({**plan.settings, **mode.settings})


def test_the_papers_drafts():
    chosen = {
        mode.name: dict(mode.settings) for mode in make_modes(make_options("paper", {}))
    }
    assert chosen["paper-750-500"]["draft_budget"] == 750
    assert chosen["paper-500-250"]["max_draft_tokens"] == 250
    assert chosen["paper-one"]["iterative"] is False
    for name, settings in chosen.items():
        if name.startswith("paper"):
            assert settings["sources"] == ["draft_prefix", "draft_suffix"]
            assert settings["speculate_reasoning"] is False
    assert chosen["ssr"] == {}
    assert make_options("paper", {}).thinking_budget == 2000


def test_presets_may_leave_the_warm_up_out():
    said = {"demo": "short", "warm_up": None}  # as a command line without it
    assert make_plan(make_options("paper", said)).warm_up == 0
    assert make_plan(make_options("paper", {**said, "warm_up": 2})).warm_up == 2
    assert make_plan(make_options("ci", said)).warm_up == 1
    assert make_plan(make_options("ci", {**said, "warm_up": 0})).warm_up == 0


def test_each_budget_is_a_mode():
    made = make_modes(Options(modes=("plain",), budgets=(64, 256)))
    assert [mode.name for mode in made] == ["plain", "ssr@64", "ssr@256"]
    assert made[2].settings == {"draft_budget": 256}


def test_a_seed_is_sent_where_something_is_drawn():
    assert call_settings(Options(seed=3)) == {"temperature": 0}
    assert call_settings(Options(seed=3, temperature=0.5))["seed"] == 3
    assert call_settings(sampled(Options(seed=3))) == {"seed": 3}
    assert call_settings(Options(details=True))["speculation_stats"] == "detailed"


def test_nothing_to_ask_is_told():
    with pytest.raises(SettingsError, match="nothing to ask"):
        make_plan(Options())


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "mine.jsonl"
    talk = [{"role": "user", "content": "?"}]
    lines = [{"messages": talk, "conversation": f"talk {i // 2}"} for i in range(6)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_a_conversation_stays_on_one_worker(prompts):
    parts = [make_plan(Options(prompts=prompts), (i, 2)).items for i in range(2)]
    assert [item.id for item in parts[0]] == ["mine-1", "mine-2", "mine-5", "mine-6"]
    assert [item.id for item in parts[1]] == ["mine-3", "mine-4"]
    assert parts[0][0].workload == "mine"


def test_the_same_file_twice_is_refused(prompts):
    with pytest.raises(SettingsError, match="the same id"):
        make_plan(Options(prompts=prompts, trace=prompts))


# --- workers -------------------------------------------------------------------------


def test_gpus_are_those_that_are_shown():
    assert devices(2, {}) == ["0", "1"]
    assert devices(2, {"CUDA_VISIBLE_DEVICES": "4,5,7"}) == ["4", "5"]
    with pytest.raises(SettingsError, match="shows only 1"):
        devices(2, {"CUDA_VISIBLE_DEVICES": "4"})


@pytest.mark.parametrize("text", ["1", "2/2", "a/b", "-1/2"])
def test_a_shard_of_another_form_is_refused(text):
    assert parse_shard("1/2") == (1, 2)
    with pytest.raises(SettingsError, match="PART/PARTS"):
        parse_shard(text)


PROGRAM = """
import os, pathlib, sys
part = sys.argv[-1]
pathlib.Path(part.replace('/', '-')).write_text(os.environ['CUDA_VISIBLE_DEVICES'])
print('part', part)
sys.exit(int(sys.argv[1]) if part == '1/2' else 0)
"""


def test_each_worker_has_a_gpu_and_a_part(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    program = (sys.executable, "-c", PROGRAM)
    run_workers(["0"], 2, tmp_path, lambda: None, program)
    assert Path("0-2").read_text() == "3"
    assert Path("1-2").read_text() == "5"
    assert Path("worker-1.log").read_text() == "part 1/2\n"
    with pytest.raises(EngineStartError, match="Worker 1 ended with code 4"):
        run_workers(["4"], 2, tmp_path, lambda: None, program)
