"""The command `langchain-ssr bench`, with engines that answer from a script."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from langchain_ssr import ChatSSR, cli
from langchain_ssr.bench import asking, command, plots, runs
from langchain_ssr.bench.asking import ChatAsker
from langchain_ssr.bench.modes import BUILT_IN
from langchain_ssr.bench.pairs import record_pairs
from langchain_ssr.errors import SettingsError
from tests.unit_tests import ssr_backend
from tests.unit_tests.bench_fakes import FakeEngines, item
from tests.unit_tests.ssr_backend import answer

TALK = [{"role": "user", "content": "Why?"}]


@pytest.fixture
def engines(monkeypatch):
    fake = FakeEngines()
    fake.made_of = []

    def engines_of(model, engine_kwargs):
        fake.made_of.append((model, dict(engine_kwargs)))
        return fake.open

    monkeypatch.setattr(runs, "engines_of", engines_of)
    monkeypatch.setattr(command, "OUT", Console(width=500))
    return fake


@pytest.fixture
def bench(engines, tmp_path):
    prompts = tmp_path / "p.jsonl"
    prompts.write_text("\n".join(json.dumps({"messages": TALK}) for _ in range(3)))
    out = tmp_path / "out"

    def run(*arguments):
        words = ["bench", "--prompts", str(prompts), "--out", str(out), *arguments]
        return CliRunner().invoke(cli.app, words)

    run.out = out
    return run


def test_a_run_writes_figures_and_prints_tables(bench, engines, tmp_path):
    copy = tmp_path / "copy.json"
    result = bench("--model", "Qwen3-4B", "--json", str(copy), "--engine", '{"a": 1}')
    assert result.exit_code == 0, result.output
    assert engines.made_of == [("Qwen3-4B", {"a": 1})]
    assert engines.started == ["plain", "ngram", "ssr"]
    figures = json.loads((bench.out / "figures.json").read_text())
    assert figures == json.loads(copy.read_text())
    assert set(figures["workloads"]["p"]) == {"plain", "ngram", "ssr"}
    assert figures["settings"]["call"] == {"temperature": 0}
    assert figures["machine"]["device"] == "cpu"
    assert figures["command"]
    assert "| ssr | 3 | 5.00" in (bench.out / "figures.md").read_text()
    assert "ratio of mean latencies" in result.output
    assert result.output.count("100 tokens in 50 steps") == 3
    engines.started.clear()
    assert bench("--model", "Qwen3-4B", "--engine", '{"a": 1}').exit_code == 0
    assert engines.started == []
    other = bench("--model", "Qwen3-8B", "--engine", '{"a": 1}')
    assert isinstance(other.exception, SettingsError)
    assert "other settings (model)" in str(other.exception)


def test_answers_of_other_weights_are_not_taken_over(bench, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    (folder / "tokenizer.json").write_text("{}")
    weights = folder / "model.safetensors"
    weights.write_bytes(b"\2\0\0\0\0\0\0\0{}")
    assert bench("--model", str(folder)).exit_code == 0
    assert bench("--model", str(folder)).exit_code == 0
    weights.write_bytes(b"\3\0\0\0\0\0\0\0{ }")
    other = bench("--model", str(folder))
    assert isinstance(other.exception, SettingsError)
    assert "other settings (weights)" in str(other.exception)


def test_a_floor_fails_the_run(bench):
    assert bench("--floor", "2", "--same").exit_code == 0
    result = bench("--floor", "2.5")
    assert result.exit_code == 1
    assert "p, ssr: 2.00 tokens per step, not 2.5" in result.output


def test_a_floor_of_answer_steps_fails_the_run(bench):
    reached = ("--floor-answer-steps", "3", "--floor-answer-steps", "ngram=1.7")
    assert bench(*reached).exit_code == 0
    result = bench("--floor-answer-steps", "ngram=2")
    assert result.exit_code == 1
    assert "p, ssr: 1.75 times fewer answer steps than ngram, not 2\n" in result.output
    wrong = bench("--floor-answer-steps", "much")
    assert isinstance(wrong.exception, SettingsError)


def test_another_output_fails_the_run(bench, engines):
    engines.texts["ssr"] = "other"
    assert bench("--same").exit_code == 1


@pytest.mark.parametrize("text", ["[]", "{"])
def test_engine_arguments_are_an_object(bench, text):
    result = bench("--engine", text)
    assert result.exit_code == 2
    assert "--engine" in result.stderr


def test_a_model_may_sample_as_it_likes(bench, engines):
    bench("--temperature", "-1", "--mode", "plain")
    assert "temperature" not in engines.asked[-1][2]
    assert engines.asked[-1][2]["seed"] == 0


def test_workers_get_the_same_command(bench, engines, monkeypatch):
    monkeypatch.setattr(
        command.sys, "argv", ["x", "bench", "--workers", "2", "--num", "2"]
    )
    calls = []

    def run_workers(arguments, number, folder, progress):
        calls.append((arguments, number))
        progress()
        for part in range(number):
            done = bench("--num", "2", "--shard", f"{part}/{number}")
            assert done.exit_code == 0, done.output

    monkeypatch.setattr(runs, "run_workers", run_workers)
    result = bench("--num", "2", "--workers", "2")
    assert result.exit_code == 0, result.output
    assert calls == [(["bench", "--num", "2"], 2)]
    files = sorted(path.name for path in bench.out.glob("records*"))
    assert files == ["records-0.jsonl", "records-1.jsonl"]
    figures = json.loads((bench.out / "figures.json").read_text())
    assert figures["workloads"]["p"]["ssr"]["num_answers"] == 2


# --- plots ---------------------------------------------------------------------------


def test_plots_need_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match=r"langchain-ssr\[plots\]"):
        plots.draw({}, tmp_path)


def test_what_plots_show(bench):
    bench("--budget", "64", "--budget", "16")
    figures = json.loads((bench.out / "figures.json").read_text())
    lengths = plots.speedups_by_length(figures)
    assert lengths["ssr"] == [(60, 2.0)] * 3
    assert "plain" not in lengths
    assert plots.gains_by_budget(figures) == {"p": [(16, 2.0), (64, 2.0)]}
    assert plots.accepted_by_source(figures)["ngram"] == {"ngram": 75}


def test_every_plot_is_drawn(bench, tmp_path):
    pytest.importorskip("matplotlib")
    bench("--budget", "64")
    figures = json.loads((bench.out / "figures.json").read_text())
    figures["requests"][-1]["timeline"] = [
        {"event": "draft_started", "index": 0, "t_ms": 20.0},
        {"event": "draft_ended", "index": 0, "t_ms": 70.0},
        {"event": "reasoning_ended", "t_ms": 100.0},
    ]
    names = {path.name for path in plots.draw(figures, tmp_path)}
    assert len(names) == 4
    assert all((tmp_path / name).stat().st_size > 1000 for name in names)


def test_lanes_of_a_timeline():
    timeline = [
        {"event": "draft_started", "index": 0, "t_ms": 20.0},
        {"event": "verified", "t_ms": 30.0},
        {"event": "draft_ended", "index": 0, "t_ms": 70.0},
        {"event": "reasoning_ended", "t_ms": 100.0},
    ]
    assert plots.lanes_of(timeline, 150) == (
        ["thinking", "draft 1", "answer"],
        [("thinking", 0.0, 100.0), ("draft 1", 20.0, 50.0), ("answer", 100.0, 50.0)],
    )


# --- asking a chat model -------------------------------------------------------------


def test_an_answer_is_streamed_and_timed(monkeypatch):
    call = answer("Hello", ("add", {"a": 1}))
    backend = ssr_backend.use(monkeypatch, call)
    tool = {"type": "function", "function": {"name": "add", "parameters": {}}}
    asker = ChatAsker(ChatSSR(model="Qwen3-4B"))
    told = asker.ask(item("x", tools=[tool]), {"extra_body": {"cache_salt": "s"}})
    [request] = backend.requests
    assert request["stream"]
    assert request["cache_salt"] == "s"
    assert request["tools"] == [tool]
    assert 0 < told.first_reasoning <= told.first_answer <= told.total
    assert told.message.text == "Hello"
    assert told.message.tool_calls[0]["args"] == {"a": 1}
    assert told.message.additional_kwargs["reasoning_content"] == "They greet."
    assert told.message.response_metadata["speculation"]["mode"] == "ssr"
    assert told.message.usage_metadata["output_tokens"] == 22


def test_an_engine_without_ssr_is_asked_for_its_count(monkeypatch):
    backend = ssr_backend.use(monkeypatch, answer("Hello"))
    asker = ChatAsker(ChatSSR(model="Qwen3-4B", speculation=False), counts=True)
    asker.ask(item("x"), {"extra_body": {"cache_salt": "s"}})
    [request] = backend.requests
    assert request["cache_salt"] == "s"
    assert json.loads(request["vllm_xargs"]["ssr"]) == {"speculation": False}


def test_an_engine_has_what_its_mode_needs(monkeypatch):
    made = []

    class Model:
        def __init__(self, **settings):
            made.append(settings)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            made.append("closed")

        def warmup(self):
            made.append("started")

    monkeypatch.setattr(asking, "ChatSSR", Model)
    open_engine = asking.engines_of("m", {"dtype": "float32"})
    with open_engine(BUILT_IN["ngram"].engine) as asker:
        assert isinstance(asker, ChatAsker)
    settings, *rest = made
    assert rest == ["started", "closed"]
    assert settings["speculation"] is False
    assert settings["engine_kwargs"]["dtype"] == "float32"
    assert settings["engine_kwargs"]["speculative_config"]["method"] == "ngram"


# --- pairs ---------------------------------------------------------------------------


def test_pairs_are_recorded_as_replay_reads_them(monkeypatch, tmp_path):
    from benchmarks.replay import read_cases

    ssr_backend.use(monkeypatch, answer("\nHello"), answer("", ("add", {})))
    monkeypatch.setattr(
        ChatSSR, "get_prompt_token_ids", lambda *_, **__: [1, 2], raising=True
    )
    llm = ChatSSR(model="Qwen3-4B", custom_get_token_ids=lambda text: [*map(ord, text)])
    path = tmp_path / "pairs.jsonl"
    items, lines = [item("a"), item("b")], []
    record_pairs(llm, items, {"temperature": 0}, path, lines.append)
    [case] = read_cases(path)
    hello = [*map(ord, "Hello")]
    assert (case.prompt, case.drafts, case.answer) == ([1, 2], [hello, hello], hello)
    assert lines == ["a: 2 drafts", "b: skipped, the answer is a call, or none"]
    record_pairs(llm, items[:1], {}, path, lines.append)
    assert lines[-1] == "a: was there"
