"""A demo model that knows the corpus' own answers."""

from __future__ import annotations

import asyncio
import copy
import json

from langchain_ssr.demo.asking import history
from langchain_ssr.demo.grading_code import source_of
from langchain_ssr.demo.grading_code_child import first_failure
from langchain_ssr.wire.requests import messages_to_wire


def judge_in_process(answer, expected):
    """Judge a class here: the process of `judge_class` has tests of its own."""
    return first_failure(source_of(answer), expected)


def reference(example, turn):
    """Return the corpus' own answer as vLLM would return it."""
    answers = [m for m in example.messages if m["role"] == "assistant"]
    message = answers[-len(example.checks) :][turn]
    calls = [
        {
            **call,
            "function": {
                "name": call["function"]["name"],
                "arguments": json.dumps(call["function"]["arguments"]),
            },
        }
        for call in message.get("tool_calls", ())
    ]
    return {
        "role": "assistant",
        "reasoning": message.get("reasoning_content"),
        "content": message["content"] or None,
        "tool_calls": calls,
    }


class FakeModel:
    """An engine that knows the corpus' answers, but for what is to go wrong."""

    def __init__(self, chosen):
        self.answers = {}
        self.mistake = lambda _example, response: response
        self.requests = []
        for _, example in chosen:
            for turn in range(len(example.checks)):
                key = json.dumps(
                    [messages_to_wire(history(example, turn)), example.tools]
                )
                self.answers[key] = example, reference(example, turn)

    def engine(self):
        return self

    def close(self):
        pass

    async def acomplete(self, request):
        await asyncio.sleep(0)
        self.requests.append(request)
        key = json.dumps([request["messages"], request.get("tools", [])])
        example, message = self.answers[key]
        template = request["chat_template_kwargs"]
        assert template == {"enable_thinking": example.enable_thinking}
        choice = {"message": copy.deepcopy(message), "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
        return self.mistake(example, {"choices": [choice], "usage": usage})
