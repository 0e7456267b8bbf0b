"""What benchmarks are read from files, and how their answers are judged."""

from __future__ import annotations

import gzip
import json

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.bench.code_tasks import classeval, code_of, humaneval
from langchain_ssr.bench.demo_items import demo_items
from langchain_ssr.bench.trace import TraceRecorder, read_requests
from langchain_ssr.errors import SettingsError
from tests.unit_tests import ssr_backend
from tests.unit_tests.ssr_backend import answer

HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'import math\n\n\ndef half(x: int) -> int:\n    """Halve."""\n',
    "entry_point": "half",
    "test": "def check(candidate):\n    assert candidate(4) == 2\n",
}
CLASSEVAL = {
    "task_id": "ClassEval_0",
    "class_name": "Box",
    "skeleton": "class Box:\n    def open(self): ...\n",
    "import_statement": ["import re", "from collections import deque"],
    "solution_code": "class Box:\n    def open(self): return 1\n",
    "test": "import unittest\nclass BoxTest(unittest.TestCase):\n"
    "    def test_open(self):\n        self.assertEqual(Box().open(), 1)\n",
}
RIGHT = CLASSEVAL["solution_code"]


def fenced(code: str) -> dict:
    return {"content": f"Here it is:\n\n```python\n{code}\n```\n\nDone."}


@pytest.fixture
def file(tmp_path):
    def write(data, *, lines=True) -> object:
        path = tmp_path / "data.json.gz"
        text = "\n".join(map(json.dumps, data)) if lines else json.dumps(data)
        path.write_bytes(gzip.compress(text.encode()))
        return path

    return write


# --- HumanEval and ClassEval ---------------------------------------------------------


def test_the_longest_block_is_the_code():
    text = "```python\nx\n```\nthen\n```\nmore = 1\n```\n"
    assert code_of(text) == "more = 1\n"
    assert code_of("bare = 1") == "bare = 1"


@pytest.mark.parametrize(
    ("content", "score", "why"),
    [
        (fenced("def half(x):\n    return math.floor(x / 2)")["content"], 1, None),
        ("    return x // 2\n", 1, None),  # a body alone
        (fenced("def half(x):\n    return x")["content"], 0, "AssertionError"),
        (fenced("def half(x): return (")["content"], 0, "SyntaxError"),
        ("", 0, "no answer"),
        (fenced("open('x', 'w')")["content"], 0, "PermissionError"),
        (fenced("import os; os._exit(0)")["content"], 0, "ends the test run"),
    ],
)
def test_humaneval_runs_its_tests(file, content, score, why):
    [item] = humaneval(file([HUMANEVAL]))
    assert (item.id, item.workload) == ("HumanEval/0", "humaneval")
    assert HUMANEVAL["prompt"].strip() in item.messages[0]["content"]
    verdict = item.judge({"content": content})
    assert verdict.score == score
    assert why is None or why in verdict.why


@pytest.mark.parametrize(
    ("task", "code", "score", "why"),
    [
        ({}, RIGHT, 1, None),
        ({}, RIGHT.replace("1", "2"), 0, "test_open: AssertionError: 2 != 1"),
        ({"solution_code": "import nothere"}, "class Box: ...", None, "nothere"),
        ({"test": "x = 1"}, RIGHT, None, "there are no tests"),
    ],
)
def test_classeval_runs_its_tests(file, task, code, score, why):
    [item] = classeval(file([{**CLASSEVAL, **task}], lines=False))
    assert "Box" in item.messages[0]["content"]
    verdict = item.judge(fenced(code))
    assert verdict.score == score
    assert why is None or why in verdict.why


@pytest.mark.parametrize(
    ("reader", "data", "problem"),
    [
        (humaneval, [{"task_id": "x"}], "is not HumanEval: KeyError: 'entry_point'"),
        (classeval, [[1]], "is not ClassEval: TypeError"),
        (classeval, [{}], "is not ClassEval: KeyError"),
    ],
)
def test_files_of_another_form_are_refused(file, reader, data, problem):
    with pytest.raises(SettingsError, match=problem):
        reader(file(data, lines=reader is humaneval))


def test_files_that_there_are_not_are_named(tmp_path):
    with pytest.raises(SettingsError, match="does not exist"):
        humaneval(tmp_path / "none.jsonl")
    (tmp_path / "bad.gz").write_bytes(b"no")
    with pytest.raises(SettingsError, match="cannot read"):
        classeval(tmp_path / "bad.gz")


# --- the demo model ------------------------------------------------------------------


def test_demo_requests_are_the_turns_of_held_out_conversations():
    items = demo_items(["tools", "short"], 3, seed=1)
    again = demo_items(["tools", "short"], 3, seed=1)
    assert [(i.id, i.digest) for i in items] == [(i.id, i.digest) for i in again]
    assert len({item.id for item in items}) == len(items)
    assert {item.workload for item in items} == {"demo tools", "demo short"}
    for skill in ("tools", "short"):
        talks = {i.conversation for i in items if i.workload == f"demo {skill}"}
        assert len(talks) == 3
    assert any(item.tools for item in items)
    assert all(item.messages[-1]["role"] != "assistant" for item in items)
    assert items[0].judge({"content": "no", "tool_calls": []}).score == 0


def test_a_skill_that_there_is_not_is_named():
    with pytest.raises(SettingsError, match="no skill 'poetry'"):
        demo_items(["poetry"], 1)


# --- requests of one's own -----------------------------------------------------------


def test_a_recorded_run_is_replayed_as_it_was(monkeypatch, tmp_path):
    call = answer("", ("add", {"a": 1}))
    backend = ssr_backend.use(monkeypatch, call, answer("Done."))
    path = tmp_path / "run.jsonl"
    tool = {"type": "function", "function": {"name": "add", "parameters": {}}}
    llm = ChatSSR(model="Qwen3-4B").bind_tools([tool], tool_choice="any")
    recorder = {"callbacks": [TraceRecorder(path)]}
    first = llm.invoke("1 + 1?", recorder)
    result = {"role": "tool", "tool_call_id": first.tool_calls[0]["id"], "content": "2"}
    llm.invoke([{"role": "user", "content": "1 + 1?"}, first, result], recorder)
    items = read_requests(path, "run", conversation="trace")
    assert [len(item.messages) for item in items] == [1, 3]
    assert items[1].messages[1]["reasoning_content"] == "They greet."
    recorded = list(backend.requests)
    backend.requests.clear()
    plain = ChatSSR(model="Qwen3-4B")
    for item in items:
        list(plain.stream(item.messages, tools=item.tools, **item.settings))
    for before, now in zip(recorded, backend.requests, strict=True):
        for name in ("messages", "tools", "tool_choice"):
            assert now[name] == before[name], name
    assert {item.conversation for item in items} == {"trace"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{}", "line 1: there are no messages"),
        ('{"messages": [{"role": "x", "content": "?"}]}', "line 1"),
        ('{"messages": [], "mesages": 1}', "'mesages' is no field"),
        (
            '{"messages": [{"role": "user", "content": "?"}], "settings": {"n": 0}}',
            "line 1: n: ",
        ),
        ("[]", "line 1: not an object"),
        ("{", "line 1: no JSON"),
        ("", "has no requests"),
    ],
)
def test_a_line_that_is_no_request_is_named(tmp_path, line, problem):
    path = tmp_path / "p.jsonl"
    path.write_text(line)
    with pytest.raises(SettingsError, match=problem):
        read_requests(path, "p")


def test_an_id_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "p.jsonl"
    line = {"id": "x", "messages": [{"role": "user", "content": "?"}]}
    path.write_text(f"{json.dumps(line)}\n" * 2)
    with pytest.raises(SettingsError, match="twice"):
        read_requests(path, "p")
