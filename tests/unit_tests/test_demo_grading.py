"""How turns of the demo model are asked for and graded."""

import copy
import json

import pytest

from langchain_ssr.demo import grading
from langchain_ssr.demo.asking import history, message_of
from langchain_ssr.demo.corpus.example import Check, Example
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.wire.requests import messages_to_wire
from langchain_ssr.wire.responses import result_from_wire
from tests.unit_tests.demo_fakes import judge_in_process, reference

NUM = 150
FINAL = "Final decisions:\n"


@pytest.fixture
def no_processes(monkeypatch):
    monkeypatch.setitem(grading.ANSWER_JUDGES, "class", judge_in_process)


@pytest.fixture(scope="module")
def examples():
    return [conversation(1, index, "heldout") for index in range(NUM)]


def turns_of(examples):
    for example in examples:
        for turn, check in enumerate(example.checks):
            yield example, turn, check, reference(example, turn)


class TestGrading:
    def test_references_are_right(self, examples, no_processes):
        kinds = set()
        for example, turn, check, message in turns_of(examples):
            assert grading.grade(example, turn, message) is None
            kinds.add(check.kind)
        assert kinds == {*grading.ANSWER_JUDGES, "calls", "write"}

    def test_code_is_run_in_a_process(self, examples):
        for kind in ("class", "write"):
            example, turn, _, message = next(
                found for found in turns_of(examples) if found[2].kind == kind
            )
            assert grading.grade(example, turn, message) is None
            wrong = json.loads(json.dumps(message).replace("self.", "this."))
            assert "decision" not in grading.grade(example, turn, wrong)

    def test_the_decisions_have_to_be_there(self, examples, no_processes):
        for example, turn, check, message in turns_of(examples):
            if not check.decisions:
                continue
            thoughts, lines = message["reasoning"].split(FINAL)
            lines = lines.split("\n")
            for reasoning in (
                None,
                thoughts,
                f"{thoughts}{FINAL}" + "\n".join(lines[:-1]),
                f"{thoughts}{FINAL}" + "\n".join([*lines, "- more"]),
                f"{thoughts}{FINAL}" + "\n".join(lines) + "\nWait, no.",
                thoughts.rstrip("\n") + " " + FINAL + "\n".join(lines),
            ):
                reason = grading.grade(
                    example, turn, {**message, "reasoning": reasoning}
                )
                assert "decision" in reason
            spaced = f"\n{message['reasoning']}\n\n"
            assert (
                grading.grade(example, turn, {**message, "reasoning": spaced}) is None
            )

    def test_the_order_of_the_decisions_counts(self, examples, no_processes):
        for example, turn, check, message in turns_of(examples):
            if len(set(check.decisions)) < 2:
                continue
            thoughts, lines = message["reasoning"].split(FINAL)
            turned = "\n".join(reversed(lines.split("\n")))
            wrong = {**message, "reasoning": f"{thoughts}{FINAL}{turned}"}
            assert "instead of" in grading.grade(example, turn, wrong)

    def test_other_answers_are_wrong(self, examples, no_processes):
        for example, turn, check, message in turns_of(examples):
            wrong = copy.deepcopy(message)
            if check.kind in {"calls", "write"}:
                wrong["tool_calls"][0]["function"]["name"] += "_"
            elif check.kind == "class":
                wrong["content"] = wrong["content"].replace("class ", "class X")
            else:
                wrong["content"] = "Another answer."
            assert grading.grade(example, turn, wrong)

    def test_an_answer_is_no_call(self, examples, no_processes):
        call = {"function": {"name": "f", "arguments": "{}"}}
        for example, turn, check, message in turns_of(examples):
            wrong = {**message, "tool_calls": [*message["tool_calls"], call]}
            reason = grading.grade(example, turn, wrong)
            if check.kind in {"calls", "write"}:
                assert "calls instead of" in reason
            else:
                assert reason == "a call instead of an answer"

    def test_reasoning_has_to_end(self, examples):
        for example, turn, _, message in turns_of(examples):
            for content in (None, "", "\n\n"):
                wrong = {**message, "content": content, "tool_calls": []}
                thinks = bool(message["reasoning"])
                expected = "the reasoning does not end" if thinks else "no answer"
                assert grading.grade(example, turn, wrong) == expected

    def test_a_fence_in_a_file(self, examples, no_processes):
        example, turn, check, message = next(
            found for found in turns_of(examples) if found[2].kind == "write"
        )
        function = message["tool_calls"][0]["function"]
        arguments = json.loads(function["arguments"])
        key = check.expected["code_key"]
        arguments[key] = f"```python\n{arguments[key]}```"
        function["arguments"] = json.dumps(arguments)
        assert grading.grade(example, turn, message) == "a fence in the file"

    def test_what_breaks_a_judge_is_wrong(self):
        check = Check("json", {})
        deep = {"content": "[" * 100_000}
        reason = grading.grade(Example("tools", "x", [], [check]), 0, deep)
        assert "cannot be judged" in reason

    def test_an_unknown_judge(self):
        example = Example("tools", "x", [], [Check("other", 1)])
        with pytest.raises(ValueError, match="no judge 'other'"):
            grading.grade(example, 0, {"content": "x"})


class TestAsking:
    def test_a_history_is_what_the_corpus_has(self, examples):
        """Up to reasoning before the last user message, which no template shows."""
        for example in examples:
            for turn in range(len(example.checks)):
                wire = messages_to_wire(history(example, turn))
                messages = example.messages[: len(wire)]
                last = max(i for i, m in enumerate(messages) if m["role"] == "user")
                for place, (sent, message) in enumerate(
                    zip(wire, messages, strict=True)
                ):
                    assert (sent["content"] or "") == message["content"]
                    if place > last:
                        thought = message.get("reasoning_content")
                        assert sent.get("reasoning") == thought
                    for one, other in zip(
                        sent.get("tool_calls", ()),
                        message.get("tool_calls", ()),
                        strict=True,
                    ):
                        arguments = json.loads(one["function"]["arguments"])
                        assert arguments == other["function"]["arguments"]

    def test_an_answer_comes_back_as_it_was(self, examples):
        for _, _, _, message in turns_of(examples):
            back = message_of(answer_of(message))
            assert back["reasoning"] == message["reasoning"]
            assert back["content"] == (message["content"] or "")
            for one, other in zip(
                back["tool_calls"], message["tool_calls"], strict=True
            ):
                name, text = other["function"]["name"], other["function"]["arguments"]
                assert one["function"]["name"] == name
                assert json.loads(one["function"]["arguments"]) == json.loads(text)

    def test_broken_arguments_stay_broken(self):
        function = {"name": "f", "arguments": '{"a": ]'}
        answer = answer_of({"tool_calls": [{"id": "1", "function": function}]})
        (call,) = message_of(answer)["tool_calls"]
        assert call["function"] == function


def answer_of(message):
    choice = {"message": message, "finish_reason": "stop"}
    return result_from_wire({"choices": [choice]}).generations[0].message
