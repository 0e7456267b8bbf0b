"""The judges of data and short answers."""

import pytest

from langchain_ssr.demo.corpus.short import make_short
from langchain_ssr.demo.grading_data import judge_data, judge_text
from tests.unit_tests.test_demo_data import examples


def test_fence_is_judged():
    expected = {"format": "json", "value": [1], "raw": False}
    raw = {**expected, "raw": True}
    fenced = "Here it is:\n\n```json\n[1]\n```"
    assert judge_data(fenced, expected) is None
    assert judge_data("[1]", expected)
    assert judge_data(fenced.replace("json", "yaml"), expected)
    assert judge_data(f"{fenced}\n{fenced}", expected)
    assert judge_data("[1]", raw) is None
    assert judge_data(fenced, raw)
    assert judge_data("Here it is: [1]", raw)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", "[1"),
        ("json", '{"a": 1, "a": 2}'),
        ("yaml", "a: [1"),
        ("csv", 'a,"b'),
        ("markdown", "a | b"),
        ("markdown", "| a | b |\n| 1 | 2 |"),
        ("markdown", "| a | b |\n| --- |\n| 1 | 2 |"),
        ("markdown", ""),
    ],
)
def test_what_does_not_parse_fails_in_one_line(kind, text):
    expected = {"format": kind, "value": [], "raw": True}
    reason = judge_data(text, expected)
    assert reason
    assert "\n" not in reason


def test_types_count_and_the_order_of_keys_does_not():
    expected = {"format": "yaml", "value": {"a": 1, "b": "2"}, "raw": True}
    assert judge_data("b: '2'\na: 1", expected) is None
    assert judge_data("a: 1\nb: 2", expected)
    assert judge_data("a: true\nb: '2'", expected)


def test_short_answers_are_normalized():
    assert judge_text(" yes.\n", ["Yes"]) is None
    assert judge_text("Hello!", ["Goodbye", "hello"]) is None
    assert judge_text("Yes, it is", ["Yes"])
    assert judge_text("", ["Yes"])


def test_wrong_short_answers_fail():
    for example in examples(make_short):
        (check,) = example.checks
        answer = example.messages[-1]["content"]
        assert judge_text(f"{answer} x", check.expected)
        assert judge_text("", check.expected)
