"""The judge of the skill "code"."""

import dataclasses

import pytest

from langchain_ssr.demo.corpus.class_source import write_source
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Field, Method
from langchain_ssr.demo.corpus.class_tests import expected
from langchain_ssr.demo.grading_code import judge_class, source_of
from langchain_ssr.demo.grading_code_child import first_failure

SPEC = ClassSpec(
    name="Budget",
    dataclass=True,
    hints=True,
    docstrings=False,
    fields=(
        Field(0, "limit", "limit", "int", "3"),
        Field(1, "river_names", "river", "list[str]", "empty"),
    ),
    methods=(
        Method("increase_checked", (0,)),
        Method("append", (1,), "add_river"),
        Method("remove", (1,)),
    ),
)
SOURCE = write_source(SPEC)
EXPECTED = expected(SPEC)

WRONG = {
    "default": ("limit: int = 3", "limit: int = 4"),
    "type": ("limit: int = 3", "limit: float = 3"),
    "shared default": ("field(default_factory=list)", "None"),
    "method name": ("def add_river", "def add_rivers"),
    "parameter name": (
        "river: str) -> None:\n        self",
        "name: str) -> None:\n        self",
    ),
    "error": ("raise KeyError", "raise ValueError"),
    "operator": ("+= amount", "-= amount"),
    "check": ("if amount < 0", "if amount <= 0"),
    "class name": ("class Budget", "class Budgets"),
    "style": ("@dataclass\n", ""),
    "syntax": ("class Budget:", "class Budget"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_sources_fail(what):
    old, new = WRONG[what]
    assert old in SOURCE
    assert first_failure(SOURCE, EXPECTED) is None
    assert first_failure(SOURCE.replace(old, new), EXPECTED)


def test_methods_in_another_order_or_missing_fail():
    for methods in (SPEC.methods[::-1], SPEC.methods[:2]):
        other = dataclasses.replace(SPEC, methods=methods)
        assert first_failure(write_source(other), EXPECTED)


HARM = {
    "endless loop": "while True: pass",
    "sleep": "import time; time.sleep(60)",
    "fork": "import os\nwhile True: os.fork()",
    "file": "open('x', 'w').write('a')",
    "folder": "import os; os.mkdir('x')",
    "command": "import subprocess; subprocess.run(['ls'])",
    "socket": "import socket; socket.socket()",
    "memory": "x = 'a' * 10**10",
    "output": "import os\nwhile True: os.write(1, b'a' * 1000)",
    "exit": "import os; os._exit(0)",
    "own verdict": "print('[\"\", null]'); raise SystemExit",
}


@pytest.mark.parametrize("what", HARM)
def test_harm_is_refused(what):
    reason = judge_class(f"{HARM[what]}\n{SOURCE}", EXPECTED, seconds=2)
    assert reason
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (f"```python\n{SOURCE}```", True),
        (f"```python\n{SOURCE}```\n\nThis is the class.", True),
        (SOURCE, True),
        (f"```python\n{SOURCE}", False),
        (f"```python\n{SOURCE}```\n```python\n{SOURCE}```", False),
        (f"```python\n{SOURCE}```\n" + "More. " * 40, False),
    ],
)
def test_an_answer_has_one_block(answer, right):
    assert (source_of(answer) is not None) is right
    if not right:
        assert judge_class(answer, EXPECTED) == "there is not exactly one Python block"
