"""The agent's tools and loop, with a model that does as the corpus does."""

from __future__ import annotations

import contextlib
import json

import pytest
from langchain_core.messages import AIMessageChunk

from benchmarks import agent_latency, agent_tasks
from benchmarks.agent_figures import agent_markdown, compare
from benchmarks.agent_latency import main
from benchmarks.agent_tasks import Workplace, tasks
from langchain_ssr.bench.asking import Answer
from tests.unit_tests.bench_fakes import kind_of, stats
from tests.unit_tests.demo_fakes import judge_in_process

NUM = 12
WAIT = 3.2
"""Seconds to the first answer token; the fakes' first draft takes 1.5."""


@pytest.fixture(autouse=True)
def _judge_here(monkeypatch):
    monkeypatch.setattr(agent_tasks, "judge_class", judge_in_process)


@pytest.fixture(scope="module")
def chosen():
    found = tasks(NUM)
    kinds = {name.rsplit("-", 2)[0] for name in found}
    assert kinds == {"loop_right", "loop_mended", "loop_repair"}
    return found


class Follower:
    """Says what the corpus says; with SSR it never makes the mistakes there."""

    def __init__(self, kind, chosen, log):
        self.kind, self.chosen, self.log = kind, chosen, log

    def info(self):
        return {"device": "cpu", "vllm_version": "0", "dtype": "float32"}

    def ask(self, item, settings):
        self.log.append((self.kind, item.id))
        usage = {"input_tokens": 1, "output_tokens": 100, "total_tokens": 101}
        told = {"speculation": stats(self.kind).to_dict(), "finish_reason": "stop"}
        given = {"usage_metadata": usage, "response_metadata": told}
        seconds = {"plain": 4.0, "ssr": 2.0}[self.kind]
        if item.id == "warm-up":
            return Answer(AIMessageChunk("Hi", **given), None, 0.1, seconds)
        name, _, turn = item.id.rpartition("-")
        said = [m for m in self.chosen[name].messages if m["role"] == "assistant"]
        message = said[int(turn)]
        calls = [
            {
                "id": "c",
                "name": c["function"]["name"],
                "args": c["function"]["arguments"],
            }
            for c in message.get("tool_calls", [])
        ]
        chunk = AIMessageChunk(message["content"], tool_calls=calls, **given)
        return Answer(chunk, None, WAIT, seconds)


@pytest.fixture
def command(monkeypatch, tmp_path, chosen):
    log = []

    def engines_of(model, engine_kwargs):
        assert (model, engine_kwargs) == ("demo", {"dtype": "float32"})

        @contextlib.contextmanager
        def open_engine(engine):
            yield Follower(kind_of(engine), chosen, log)

        return open_engine

    monkeypatch.setattr(agent_latency, "engines_of", engines_of)
    path = tmp_path / "agent.json"

    def run(*arguments):
        return main(["--json", str(path), "--num", str(NUM), *arguments])

    run.log, run.path = log, path
    return run


def test_an_agent_that_does_as_the_corpus_succeeds(command, capsys):
    assert command() == 0
    report = json.loads(command.path.read_text(encoding="utf-8"))
    figures = report["agent"]
    assert figures["num_tasks"] == figures["num_same"] == NUM
    assert figures["plain"]["num_successes"] == NUM
    assert figures["ratio_of_mean_latencies"]["value"] == 2
    assert figures["plain"]["seconds_per_turn"] == 4
    assert figures["ssr"]["steps_per_turn"] == 50
    turns = figures["plain"]["turns_per_task"]
    assert figures["plain"]["num_tool_calls"] == round(NUM * (turns - 1))
    num = figures["ssr"]["num_turns"]
    assert figures["ssr"]["num_early_drafts"] == num == round(NUM * turns)
    assert figures["plain"]["num_early_drafts"] is None
    assert (
        report["tasks"]["ssr"][next(iter(figures["tasks"]))]["turns"][0]["first_draft"]
        == 1.5
    )
    assert figures["ssr"]["first_draft_per_turn"] == 1.5
    assert figures["ssr"]["first_answer_per_turn"] == WAIT
    out = capsys.readouterr().out
    assert f"the same was done in {NUM}; 0, cpu, float32, " in out
    assert f"| 1.50 | 3.20 | 100% ({num}/{num}) |" in out
    assert f"Command: `python -m benchmarks.agent_latency --json {command.path}" in out
    assert f"{report['date']}, langchain-ssr " in out
    assert "| - | 3.20 | - |" in out  # plain has no drafts
    assert "- aim: 1.25 times as fast, at equal success: reached (2.00)" in out
    assert f"in most turns: reached ({num} of {num})" in out
    assert "- ratio of mean latencies: 2.00 (2.00 to 2.00)" in out
    assert "- mean of per-task speed-ups: 2.00" in out
    assert agent_markdown(report) in out
    command.log.clear()
    assert command() == 0
    assert command.log == []
    assert command("--seed", "1") == 2


def test_tools_test_what_was_written(chosen):
    for name, example in chosen.items():
        place = Workplace.of(example)
        assert (place.path in place.files) == name.startswith("loop_repair")
        if place.files:
            assert place.do(place.read, {"x": place.path}) == place.files[place.path]
        assert place.failure() is not None
        results = [m["content"] for m in example.messages if m["role"] == "tool"]
        if name.startswith("loop_repair"):
            assert results[0].endswith(place.failure())  # as the corpus has it
            assert place.do(place.run, {}) == f"FAILED: {place.failure()}"
        assert place.do(place.write, {}).startswith("Error")
        assert place.do("other", {}).startswith("Error")
        code = {place.path_key: place.path, place.code_key: "```python\n```"}
        assert place.do(place.write, code) == f"Wrote {place.path}."
        assert "SyntaxError" in place.do(place.run, {})


def task(*, seconds=1.0, success=True, draft=None, answer=1.0):
    """A task that was done in one turn."""
    turn = {"steps": 5, "tokens": 10, "seconds": seconds, "tools": [], "output": "x"}
    turn |= {"first_draft": draft, "first_answer": answer}
    return {"turns": [turn], "seconds": seconds, "steps": 5, "success": success}


def told_of(plain, ssr):
    """The lines about aims, for tasks that were done."""
    done = [dict(enumerate(tasks)) for tasks in (plain, ssr)]
    figures = compare(dict(zip(("plain", "ssr"), done, strict=True)))
    text = agent_markdown({"agent": figures, "settings": {"model": "m"}})
    return [line.rpartition(": ")[2] for line in text.splitlines() if "- aim" in line]


def test_only_tasks_of_both_modes_count():
    one = task()
    figures = compare({"plain": {"a": one, "b": one}, "ssr": {"b": one}})
    assert figures["num_tasks"] == figures["ssr"]["num_successes"] == 1
    assert figures["tasks"] == {"b": True}
    assert figures["mean_of_per_request_speedups"] == {"value": 1, "interval": None}


def test_a_draft_counts_before_half_of_the_wait_only():
    turns = [task(draft=draft) for draft in (0.1, 0.4999, 0.5, None)]
    assert told_of([task()] * 4, turns)[1] == "missed (2 of 4)"
    assert told_of([task()] * 3, turns[:3])[1] == "reached (2 of 3)"
    no_answer = [task(draft=0.1, answer=None)]
    assert told_of([task()], no_answer)[1] == "missed (0 of 1)"


def test_a_gain_counts_at_equal_success_only():
    fast = task(seconds=0.5)
    assert told_of([task()], [fast])[0] == "reached (2.00)"
    assert told_of([task()], [task(seconds=0.9)])[0] == "missed (1.11; 0.14 less)"
    [worse, _] = told_of([task()], [{**fast, "success": False}])
    assert worse == "missed (2.00, but SSR succeeds in 0 tasks and plain in 1)"


def test_nothing_done_is_nothing_measured():
    assert told_of([], []) == ["not measured", "not measured"]
