"""The corpus of the skill "tools", and its judges."""

import copy
import importlib.resources
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


def rendered_tools(example):
    """The prompt's declarations, as the chat template writes them."""
    sandbox = pytest.importorskip("jinja2.sandbox")
    env = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    folder = importlib.resources.files("langchain_ssr.demo") / "model"
    template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    return env.from_string(template).render(messages=[], tools=example.tools)


def test_the_right_tool_is_quoted_as_it_is_declared(examples):
    """From the words that say what is wanted on to the name of the tool called."""
    described = 0
    every = [*examples["call"], *examples["structured"], *examples["loop"]]
    for example in every:
        declared = rendered_tools(example)
        for message in example.messages:
            lines = message.get("reasoning_content", "").split("\n")
            calls = message.get("tool_calls", ()) if lines != [""] else ()
            found = [k for k, x in enumerate(lines) if x.startswith("The tool: ")]
            assert len(found) == len(calls)
            for k, call in zip(found, calls, strict=True):
                quoted = lines[k].removeprefix("The tool: ")
                name = json.dumps(call["function"]["name"])
                assert f'{quoted}, "parameters": ' in declared
                assert quoted.endswith(f'"name": {name}')
                wanted = re.fullmatch(r"The user wants to (.*)\.", lines[k - 1])
                if wanted and not quoted.startswith('"name": '):
                    begun = same_article(quoted[1:]).startswith
                    assert begun(same_article(wanted[1].capitalize()))
                    assert declared.count(f"{quoted}, ") == 1
                    described += 1
    assert described > 0.5 * len(examples["call"])


def same_article(text):
    return re.sub(r"\b(a|an|the) ", "the ", text)


def test_a_goal_fits_one_tool_at_most(examples):
    judged = 0
    for example in examples["call"]:
        thoughts = example.messages[-1 if example.kind == "no_call" else -3]
        for line in thoughts.get("reasoning_content", "").split("\n"):
            if not (wanted := re.fullmatch(r"The user wants to (.*)\.", line)):
                continue
            goal = same_article(wanted[1].capitalize())
            texts = [tool["function"].get("description", "") for tool in example.tools]
            fit = [t for t in texts if re.match(rf"{goal}\b", same_article(t))]
            assert len(fit) <= (example.kind != "no_call")
            judged += 1
    assert judged > 0.5 * len(examples["call"])


def test_words_before_a_value_are_those_of_the_request(examples):
    found = 0
    for example in [*examples["call"], *examples["structured"]]:
        said = [m["content"] for m in example.messages if m["role"] != "assistant"]
        text = " ".join(said).lower()
        for message in example.messages:
            thoughts = message.get("reasoning_content", "").split("\nFinal")[0]
            pattern = r"^\d+\. `\w+` is an? \w+, ([^`:]+?): `"
            for words in re.findall(pattern, thoughts, re.MULTILINE):
                assert words.split(", ")[0] in text
                found += 1
    assert found > 100


def test_most_tools_say_what_they_do_and_few_strings_are_numbers(examples):
    tools = [tool["function"] for e in examples["call"] for tool in e.tools]
    assert sum("description" in tool for tool in tools) > 0.85 * len(tools)
    strings = []
    for example in [*examples["call"], *examples["structured"]]:
        for check in example.checks:
            calls = check.expected if check.kind == "calls" else []
            values = [v for call in calls for v in call["arguments"].values()]
            values += check.expected.values() if check.kind == "json" else []
            strings += [value for value in values if isinstance(value, str)]
    numbers = [value for value in strings if re.fullmatch(r"-?[\d.]+", value)]
    assert len(numbers) < 0.03 * len(strings)


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
    assert {len(e.tools) for e in calls} == {1, 2, 3, 4}


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
