"""Predicted outputs: a file is written again with changes, in a fraction of the steps.

A model this small cannot rewrite a file that it is given. So it works the other way
round: its own plain answer is the file to be written, and what is given as a
prediction is that file with two other lines.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langchain_ssr import ChatSSR
from tests.integration_tests.asking import Ask, either_way, stats_of
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

TASK = "Write a Python class for a stack with push, pop and peek."
THINKING: dict[str, dict[str, Any]] = {
    "without thinking": {"enable_thinking": False, "max_tokens": 160},
    "after thinking": {
        "enable_thinking": True,
        "thinking_budget": 60,
        "max_tokens": 200,
        "max_drafts": 0,  # so that nothing but the prediction knows the answer
    },
}
PLAIN: dict[str, AIMessage] = {}
"""Plain answers, by name of the settings."""


def plain_answer(llm: ChatSSR, name: str) -> AIMessage:
    if name not in PLAIN:
        PLAIN[name] = llm.invoke(TASK, **THINKING[name], speculation=False)
    return PLAIN[name]


def with_two_other_lines(text: str) -> str:
    """Return a file that the model's answer differs from in two lines."""
    lines = text.splitlines(keepends=True)
    assert len(lines) >= 8, f"no file to be changed: {text!r}"
    for at in (len(lines) // 3, 2 * len(lines) // 3):
        lines[at] = f"    # this was line {at}\n"
    return "".join(lines)


def counts_of(message: AIMessage) -> dict[str, int]:
    details = message.response_metadata["token_usage"]["completion_tokens_details"]
    return {name: count for name, count in details.items() if "prediction" in name}


def check(message: AIMessage, plain: AIMessage) -> None:
    """The answer is the plain one, in a fraction of its steps, and told as OpenAI's."""
    assert message.content == plain.content
    assert message.additional_kwargs == plain.additional_kwargs
    assert (
        message.usage_metadata["output_tokens"]
        == (plain.usage_metadata["output_tokens"])
    )
    told, before = stats_of(message), stats_of(plain)
    # The step that ends the thinking is none of the answer's.
    assert before["num_answer_tokens"] - before["num_answer_steps"] in {0, 1}
    assert told["num_answer_steps"] < told["num_answer_tokens"] / 3, told
    source = told["sources"]["prediction"]
    accepted = source["num_accepted_draft_tokens"]
    assert accepted > told["num_answer_tokens"] / 3, told
    assert counts_of(message) == {
        "accepted_prediction_tokens": accepted,
        "rejected_prediction_tokens": source["num_draft_tokens"] - accepted,
    }
    assert counts_of(message)["rejected_prediction_tokens"] > 0  # two lines are wrong


@pytest.mark.parametrize("name", THINKING)
@either_way
def test_a_file_with_two_changed_lines(smollm2: ChatSSR, ask: Ask, name: str) -> None:
    plain = plain_answer(smollm2, name)
    assert counts_of(plain) == {}
    prediction = with_two_other_lines(str(plain.content))
    check(ask(smollm2, TASK, **THINKING[name], prediction=prediction), plain)


def test_the_prediction_may_stand_where_openai_has_it(smollm2: ChatSSR) -> None:
    name = "without thinking"
    plain = plain_answer(smollm2, name)
    content = with_two_other_lines(str(plain.content))
    body = {"prediction": {"type": "content", "content": content}}
    check(smollm2.invoke(TASK, **THINKING[name], extra_body=body), plain)


def test_a_prediction_that_says_something_else_changes_nothing(
    pool: EnginePool,
) -> None:
    llm, name = pool.model("smollm2"), "without thinking"
    plain = plain_answer(llm, name)
    message = llm.invoke(TASK, **THINKING[name], prediction="Nothing of the kind. " * 9)
    assert message.content == plain.content
    told = stats_of(message)
    steps = told["num_answer_steps"] + told["num_saved_steps"]
    assert steps == told["num_answer_tokens"]
    proposed = told["sources"]["prediction"]["num_draft_tokens"]
    assert sum(counts_of(message).values()) == proposed > 0
