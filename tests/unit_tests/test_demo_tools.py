"""The corpus of the skill "tools", and its judges."""

import copy
import json
import random
import re

import pytest

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tools import make_agent_loop, make_call, make_structured
from langchain_ssr.demo.corpus.vocabulary import Vocabulary
from langchain_ssr.demo.grading_tools import (
    judge_calls,
    judge_contains,
    judge_json,
    judge_write,
)

MAKERS = {"call": make_call, "structured": make_structured, "loop": make_agent_loop}
COUNT = {"call": 300, "structured": 300, "loop": 60}
STANDARD_TESTS = re.compile(r"magic_|_adder|weather|San Francisco|joke|punchline|Erick")


def draw(seed, part="train"):
    rng = random.Random(seed)
    return Draw(rng, Vocabulary(rng, part))


def made(name):
    parts = ("train", "heldout")
    return [MAKERS[name](draw(s, parts[s % 2])) for s in range(COUNT[name])]


@pytest.fixture(scope="module")
def examples():
    return {name: made(name) for name in MAKERS}


def learned(example):
    answers = [m for m in example.messages if m["role"] == "assistant"]
    return list(zip(answers[-len(example.checks) :], example.checks, strict=True))


def judge(message, check):
    if check.kind == "calls":
        return judge_calls(message, check.expected)
    if check.kind == "write":
        return judge_write(message, check.expected, lambda _code, _check: None)
    if check.kind == "json":
        return judge_json(message["content"], check.expected)
    if check.kind == "contains":
        return judge_contains(message["content"], check.expected)
    assert check.kind == "text"
    return None if message["content"] in check.expected else "another text"


@pytest.mark.parametrize("name", MAKERS)
class TestCorpus:
    def test_the_same_seed_makes_the_same_conversation(self, name):
        for seed in range(20):
            assert MAKERS[name](draw(seed)) == MAKERS[name](draw(seed))

    def test_its_answers_are_right(self, examples, name):
        for example in examples[name]:
            for message, check in learned(example):
                assert judge(message, check) is None

    def test_reasoning_ends_with_the_decisions(self, examples, name):
        for example in examples[name]:
            for message, check in learned(example):
                reasoning = message.get("reasoning_content")
                assert bool(reasoning) is example.enable_thinking
                if check.decisions:
                    _, closing = reasoning.split("\n\nFinal decisions:\n")
                    assert closing.split("\n") == list(check.decisions)
                else:
                    assert check.kind == "contains" or not reasoning

    def test_arguments_fit_the_declared_schema(self, examples, name):
        validator = pytest.importorskip("jsonschema").Draft202012Validator
        for example in examples[name]:
            tools = [tool["function"] for tool in example.tools]
            schemas = {tool["name"]: tool["parameters"] for tool in tools}
            assert len(schemas) == len(tools)
            for message in example.messages:
                for call in message.get("tool_calls", ()):
                    schema = schemas[call["function"]["name"]]
                    arguments = call["function"]["arguments"]
                    validator(schema).validate(arguments)
                    # vLLM's grammars want the order of the schema.
                    order = [key for key in schema["properties"] if key in arguments]
                    assert list(arguments) == order

    def test_lengths(self, examples, name):
        lengths = [len(json.dumps([e.messages, e.tools])) for e in examples[name]]
        assert max(lengths) < 8000
        assert sum(lengths) / len(lengths) < {"loop": 6000}.get(name, 2700)

    def test_nothing_of_the_standard_tests(self, examples, name):
        for example in examples[name]:
            text = json.dumps([example.messages, example.tools])
            assert not STANDARD_TESTS.search(text)


def test_what_is_wanted_stands_beside_what_a_tool_does(examples):
    judged = 0
    for example in examples["call"]:
        for message in example.messages:
            wanted = ""
            for line in message.get("reasoning_content", "").split("\n"):
                if said := re.fullmatch(r"The user (?:wants|asks|names) (.*)\.", line):
                    wanted = said[1].removeprefix("for ")
                elif re.fullmatch(r"`.*\).*: (yes|no)\.", line):
                    assert f"{wanted}: " in line, (wanted, line)
                    judged += 1
    assert judged > len(examples["call"])


def test_shares(examples):
    calls = examples["call"]
    kinds = [example.kind for example in calls]
    assert 0.1 < kinds.count("no_call") / len(kinds) < 0.22
    assert 0.09 < kinds.count("parallel_calls") / len(kinds) < 0.21
    thinking = [e for e in calls if e.enable_thinking]
    assert 0.02 < 1 - len(thinking) / len(calls) < 0.14
    called = [e for e in thinking if e.kind != "no_call"]
    changed = ["Wait" in json.dumps(e.messages) for e in called]
    assert 0.22 < sum(changed) / len(changed) < 0.45
    assert {len(e.tools) for e in calls} == {1, 2, 3, 4, 5}


def test_a_broken_first_try_is_not_learned(examples):
    kinds = {"loop_right": [], "loop_mended": [], "loop_repair": []}
    for example in examples["loop"]:
        answers = [m for m in example.messages if m["role"] == "assistant"]
        given = len(answers) - len(example.checks)
        assert given == (example.kind == "loop_mended")
        assert 3 <= len(answers) <= 5
        kinds[example.kind].append(example)
    assert all(kinds.values())


class TestJudges:
    CALLS = ({"name": "f", "arguments": {"a": 1, "b": ["x"]}}, {"name": "g"})
    EXPECTED = ({"name": "f", "arguments": {"a": 1, "b": ["x"]}},)

    @staticmethod
    def message(*calls):
        functions = [{"function": {"arguments": {}, **call}} for call in calls]
        return {"role": "assistant", "tool_calls": functions}

    def test_arguments_may_be_json(self):
        call = {"name": "f", "arguments": '{"b": ["x"], "a": 1}'}
        assert judge_calls(self.message(call), self.EXPECTED) is None

    def test_the_order_of_calls_is_free(self):
        f, g = self.CALLS[0], {"name": "g", "arguments": {}}
        assert judge_calls(self.message(f, g), [g, f]) is None

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ({"a": "1", "b": ["x"]}, "a is '1' instead of 1"),
            ({"a": True, "b": ["x"]}, "a is True instead of 1"),
            ({"a": 1.0, "b": ["x"]}, "a is 1.0 instead of 1"),
            ({"a": 1}, "b is missing"),
            ({"a": 1, "b": ["x"], "c": None}, "c is one too many"),
            ('{"a": 1', "no JSON"),
            ("[1]", "no JSON object"),
        ],
    )
    def test_wrong_arguments(self, arguments, reason):
        message = self.message({"name": "f", "arguments": arguments})
        assert reason in judge_calls(message, self.EXPECTED)

    def test_wrong_calls(self):
        assert "0 calls" in judge_calls({"content": "Hi."}, self.EXPECTED)
        assert "2 calls" in judge_calls(self.message(*self.CALLS), self.EXPECTED)
        renamed = self.message({**self.CALLS[0], "name": "h"})
        assert "called 'h'" in judge_calls(renamed, self.EXPECTED)
        twice = self.message(self.CALLS[0], self.CALLS[0])
        both = [self.CALLS[0], {"name": "f", "arguments": {"a": 2, "b": ["x"]}}]
        assert judge_calls(twice, both) is not None

    def test_json(self):
        assert judge_json('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}) is None
        assert "no JSON" in judge_json("Here: {}", {})
        assert "no JSON" in judge_json(None, {})
        assert "a is True" in judge_json('{"a": true}', {"a": 1})
        assert "instead of" in judge_json("[1]", {"a": 1})

    def test_contains(self):
        assert judge_contains("It is 42 km.", ["42", "km"]) is None
        assert "'43'" in judge_contains("It is 42 km.", ["43"])
        assert judge_contains(None, []) == "no answer"

    def test_write(self):
        expected = {"name": "w", "arguments": {"p": "a.py"}, "code_key": "t"}
        expected["code"] = {"kind": "class", "expected": 1}
        right = self.message({"name": "w", "arguments": {"p": "a.py", "t": "x = 1"}})
        seen = []

        def judge_code(code, check):
            seen.append((code, check))
            return "bad code" if code != "x = 1" else None

        assert judge_write(right, expected, judge_code) is None
        assert seen == [("x = 1", expected["code"])]
        for key, value, reason in (
            ("p", "b.py", "p is 'b.py'"),
            ("t", "y", "bad code"),
            ("t", None, "no string"),
        ):
            wrong = copy.deepcopy(right)
            wrong["tool_calls"][0]["function"]["arguments"][key] = value
            assert reason in judge_write(wrong, expected, judge_code)
        assert "0 calls" in judge_write({}, expected, judge_code)


def test_perturbed_answers_fail(examples):
    for example in [*examples["call"], *examples["structured"]]:
        for message, check in learned(example):
            wrong = copy.deepcopy(message)
            if check.kind == "calls":
                function = wrong["tool_calls"][0]["function"]
                function["arguments"]["extra"] = 1
                assert judge(wrong, check)
                function["name"] += "_"
            elif check.kind == "json":
                wrong["content"] = wrong["content"].replace("{", '{"extra": 1, ', 1)
            else:
                wrong["content"] = "No."
            assert judge(wrong, check)
