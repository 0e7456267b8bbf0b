"""The examples, with a backend that answers from memory."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from langchain_ssr import ChatSSR
from tests.unit_tests import ssr_backend
from tests.unit_tests.ssr_backend import answer

pytest.importorskip("langchain.agents")
EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = "class Playlist:\n    def remove_song(self): ...\n    def set_owner(self): ...\n"
BAD = "class Playlist:\n    def remove_song(self): ...\n"


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent", EXAMPLES / "agent.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(content: str) -> dict:
    return answer("", ("write_file", {"path": "playlist.py", "content": content}))


TEST = answer("", ("run_tests", {"path": "playlist.py"}))


def test_calls_sum_to_the_total(agent, monkeypatch, capsys):
    backend = ssr_backend.use(monkeypatch, write(GOOD), TEST, answer("Done."))
    agent.main(["--json", "--model", "Qwen3-4B"])
    told = json.loads(capsys.readouterr().out)
    assert told["tools"] == ["write_file", "run_tests"]
    assert told["files"] == {"playlist.py": GOOD}
    assert (told["answer"], told["model"]) == ("Done.", "Qwen3-4B")
    assert len(told["calls"]) == len(backend.requests) == 3
    for name in ("num_answer_tokens", "num_draft_tokens", "num_saved_steps"):
        counts = [call[name] for call in told["calls"]]
        assert len(set(counts)) == 3  # so the sum cannot be right by accident
        assert sum(counts) == told["total"][name]
    prefix = [call["sources"]["draft_prefix"] for call in told["calls"]]
    accepted = sum(count["num_accepted_draft_tokens"] for count in prefix)
    total = told["total"]["sources"]["draft_prefix"]["num_accepted_draft_tokens"]
    assert accepted == total == 33


@pytest.mark.parametrize(
    ("content", "result"),
    [
        (GOOD, "3 passed"),
        (BAD, "FAILED: there is no `set_owner`"),
        ("class", "FAILED: invalid syntax in line 1"),
    ],
)
def test_the_tests_of_a_file_say_what_is_wrong(agent, monkeypatch, content, result):
    backend = ssr_backend.use(monkeypatch, write(content), TEST, answer("Done."))
    agent.run(ChatSSR(model="Qwen3-4B"))
    said = [message["content"] for message in backend.requests[-1]["messages"]]
    assert said[-1] == result


def test_a_file_that_there_is_not_cannot_be_tested(agent, monkeypatch):
    backend = ssr_backend.use(monkeypatch, TEST, answer("Done."))
    agent.run(ChatSSR(model="Qwen3-4B"))
    said = backend.requests[-1]["messages"][-1]["content"]
    assert said == "Error: there is no file 'playlist.py'."


def test_people_get_a_line_for_each_call(agent, monkeypatch, capsys):
    ssr_backend.use(monkeypatch, write(GOOD), TEST, answer("Done."))
    agent.main(["--model", "Qwen3-4B"])
    lines = capsys.readouterr().out.splitlines()
    starts = ("call 1, write_file:", "call 2, run_tests:", "call 3, (answer):")
    for start in (*starts, "total: 3 responses, 3 with SSR"):
        assert any(line.startswith(start) for line in lines)
    assert lines[-1] == "Done."
