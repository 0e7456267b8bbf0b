"""Advice from logs: formats, replay, arithmetic and command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from langchain_ssr import cli
from langchain_ssr.bench.advise import Pieces, advise, num_steps
from langchain_ssr.bench.logs import Logged, read
from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.errors import SettingsError

EXAMPLE = Path(__file__).parents[2] / "examples" / "data" / "log.jsonl"
USER = {"role": "user", "content": "2+2?"}
CALL = {"name": "add", "args": {"a": 2}}


def write(path: Path, *entries: object) -> Path:
    file = path / "log.jsonl"
    file.write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
    return file


def langsmith(message: dict, **more: object) -> dict:
    """Wrap a message as LangSmith does a chat model's run."""
    wrapped = {"lc": 1, "type": "constructor", "kwargs": message}
    return {
        "inputs": {"messages": [[{"lc": 1, "kwargs": {"content": "2+2?"}}]]},
        "outputs": {"generations": [[{"text": "", "message": wrapped}]]},
        **more,
    }


@pytest.mark.parametrize(
    "entry",
    [
        {"prompt": "2+2?", "reasoning": "add", "answer": "4"},
        {"prompt": [USER], "reasoning_content": "add", "answer": " 4 "},
        {"prompt": "2+2?", "answer": "<think>add</think>\n\n4"},
        langsmith({"content": "4", "additional_kwargs": {"reasoning_content": "add"}}),
        langsmith(
            {
                "content": [
                    {"type": "thinking", "thinking": "add"},
                    {"type": "text", "text": "4"},
                ]
            }
        ),
    ],
)
def test_formats(tmp_path, entry):
    assert read(write(tmp_path, entry)) == ([Logged("2+2?", "add", "4")], 0)


def test_openai_messages_in_langsmith(tmp_path):
    run = {
        "inputs": {"messages": [USER]},
        "outputs": {"choices": [{"message": {"role": "assistant", "content": "4"}}]},
    }
    assert read(write(tmp_path, run)) == ([Logged("2+2?", "", "4")], 0)


def test_calls_are_answers_too(tmp_path):
    run = langsmith({"content": "", "tool_calls": [CALL]})
    (logged,), _ = read(write(tmp_path, run))
    assert logged.answer == 'add {"a": 2}'


def test_lines_without_an_answer_are_counted(tmp_path):
    failed = {"inputs": {"messages": [USER]}, "outputs": None, "error": "no"}
    file = write(tmp_path, failed, {"prompt": "x"}, {"prompt": "x", "answer": "y"})
    assert read(file) == ([Logged("x", "", "y")], 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no answers"),
        ('{"prompt": "x"}', "has no answers"),
        ('{"answer": "x"}\n{', "line 2: no JSON"),
        ("[1]", "line 1: not an object"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, words):
    file = tmp_path / "log.jsonl"
    file.write_text(text)
    with pytest.raises(SettingsError, match=words):
        read(file)


def test_missing_file(tmp_path):
    with pytest.raises(SettingsError, match=r"nothing.jsonl does not exist"):
        read(tmp_path / "nothing.jsonl")


@given(st.text())
def test_pieces_are_the_whole_text(text):
    pieces = Pieces()
    ids = pieces(text)
    known = {number: piece for piece, number in pieces._ids.items()}
    assert "".join(known[number] for number in ids) == text


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.integers(0, 3), max_size=40),
    st.integers(1, 8),
)
def test_a_replay_is_never_slower_and_never_beats_the_limit(prompt, answer, most):
    matcher = Matcher(prompt)
    matcher.start_answer()
    steps = num_steps(matcher, matcher.extend_answer, answer, most)
    assert -(-len(answer) // (most + 1)) <= steps <= len(answer)


def test_copies_save_steps_and_news_do_not():
    text = " ".join(f"word{i}" for i in range(60))
    pieces = Pieces()
    copied = advise([Logged(text, "", text)], pieces)
    new = advise([Logged("", "", text)], Pieces())
    assert copied.replayed_saved > 0.8
    assert copied.answer_share == 1
    assert new.answer_tokens == copied.answer_tokens
    least = math.ceil(copied.answer_tokens / 33)
    assert least > 1
    assert copied.most_saved == new.most_saved == 1 - least / copied.answer_tokens
    assert copied.reasoning_tokens_per_step is None


@given(
    st.lists(
        st.tuples(st.text("ab ", max_size=40), st.text("ab ", min_size=1, max_size=40)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 8),
)
def test_the_limit_of_the_answers_is_that_of_full_steps(texts, most):
    logged = [Logged("", reasoning, answer) for reasoning, answer in texts]
    advice = advise(logged, lambda text: list(map(ord, text)), most)
    tokens = advice.reasoning_tokens + advice.answer_tokens
    reasoning_steps = (
        advice.reasoning_tokens / advice.reasoning_tokens_per_step
        if advice.reasoning_tokens_per_step
        else 0
    )
    full = sum(math.ceil(len(answer) / (most + 1)) for _, answer in texts)
    assert advice.most_saved == pytest.approx(1 - (reasoning_steps + full) / tokens)
    assert advice.replayed_saved <= advice.most_saved + 1e-9


def test_shares():
    logged = [Logged("p", "a b c", "d"), Logged("p", "", "e f")]
    advice = advise(logged, lambda text: [ord(c) + 100 * i for i, c in enumerate(text)])
    assert (advice.requests, advice.with_reasoning) == (2, 1)
    assert (advice.reasoning_tokens, advice.answer_tokens) == (5, 4)
    assert advice.answer_share == pytest.approx(4 / 9)
    assert advice.replayed_saved == 0
    assert advice.most_saved == pytest.approx(1 - 7 / 9)


def test_command(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "OUT", Console(width=500))
    out = tmp_path / "a.json"
    result = CliRunner().invoke(cli.app, ["advise", str(EXAMPLE), "--json", str(out)])
    assert result.exit_code == 0, result.output
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["requests"] == figures["with_reasoning"] == 12
    assert 0 < figures["replayed_saved"] < figures["most_saved"] < 1
    most = f"{figures['most_saved']:.0%}"
    assert f"SSR can save you at most {most} of them by drafts of the answer. What" in (
        result.output
    )
