"""A real model answers, in every way that LangChain calls a model."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from langchain_ssr import ChatSSR
from langchain_ssr.errors import (
    ContextLengthError,
    InvalidRequestError,
    RequestTimeoutError,
    SettingsError,
)
from tests.integration_tests.test_life import assert_idle, assert_one_engine

pytestmark = pytest.mark.engine

CAPITAL = "What is the capital of France?"
THINKING: dict[str, Any] = {"enable_thinking": True, "thinking_budget": 12}
STACK = "Write a Python class for a stack with push and pop."


def essence(message: AIMessage) -> dict[str, Any]:
    """Everything of a message that must not depend on how it was asked for."""
    usage = dict(message.usage_metadata or {})
    usage.pop("input_token_details", None)  # depends on what is in the prefix cache
    speculation = dict(message.response_metadata["speculation"])
    speculation.pop("timing")  # measured, never equal
    return {
        "content": message.content,
        "reasoning": message.additional_kwargs.get("reasoning_content"),
        "tool_calls": message.tool_calls,
        "usage": usage,
        "finish_reason": message.response_metadata["finish_reason"],
        "model_name": message.response_metadata["model_name"],
        "model_provider": message.response_metadata["model_provider"],
        "speculation": speculation,
    }


def merged(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


def test_invoke_answers(smollm2: ChatSSR) -> None:
    message = smollm2.invoke(CAPITAL)
    assert message.content == "The capital of France is Paris."
    assert message.usage_metadata["input_tokens"] == 37
    assert message.usage_metadata["output_tokens"] == 8
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.response_metadata["model_name"] == "smollm2"


@pytest.mark.parametrize("settings", [{}, THINKING], ids=["plain", "thinking"])
@pytest.mark.kind(20)
async def test_every_way_of_asking_gives_the_same(
    smollm2: ChatSSR, settings: dict[str, Any]
) -> None:
    expected = essence(await asyncio.to_thread(smollm2.invoke, STACK, **settings))
    assert essence(await smollm2.ainvoke(STACK, **settings)) == expected
    streamed = await asyncio.to_thread(lambda: list(smollm2.stream(STACK, **settings)))
    assert essence(merged(streamed)) == expected
    astreamed = [chunk async for chunk in smollm2.astream(STACK, **settings)]
    assert essence(merged(astreamed)) == expected
    assert len(astreamed) > 10


@pytest.mark.kind(4)
def test_thinking_is_kept_apart_and_within_its_budget(smollm2: ChatSSR) -> None:
    message = smollm2.invoke(STACK, **THINKING)
    details = message.usage_metadata["output_token_details"]
    assert 0 < details["reasoning"] <= 12
    assert message.additional_kwargs["reasoning_content"].strip()
    assert message.content.strip()
    assert "think>" not in message.content


@pytest.mark.kind(5)
def test_thinking_that_takes_all_tokens_leaves_no_content(smollm2: ChatSSR) -> None:
    message = smollm2.invoke(STACK, enable_thinking=True, max_tokens=8)
    assert message.content == ""
    assert message.additional_kwargs["reasoning_content"]
    assert message.response_metadata["finish_reason"] == "length"


@pytest.mark.kind(19)
def test_only_the_last_chunk_describes_the_answer(smollm2: ChatSSR) -> None:
    *others, last = smollm2.stream(CAPITAL)
    assert last.usage_metadata["output_tokens"] == 8
    assert last.response_metadata["finish_reason"] == "stop"
    for chunk in others:
        assert chunk.usage_metadata is None
        assert "finish_reason" not in chunk.response_metadata
        assert "speculation" not in chunk.response_metadata


def test_a_prompt_seen_before_is_cached(smollm2: ChatSSR) -> None:
    prompt = "Repeat: " + "one two three four " * 30
    smollm2.invoke(prompt, max_tokens=1)
    again = smollm2.invoke(prompt, max_tokens=1)
    assert again.usage_metadata["input_token_details"]["cache_read"] >= 96


@pytest.mark.kind(24)
def test_batch_keeps_the_order_on_one_engine(smollm2: ChatSSR) -> None:
    words = [f"word{i}" for i in range(32)]
    prompts = [f"Repeat after me: {word}" for word in words]
    answers = smollm2.batch(prompts, max_tokens=8)
    alone = [smollm2.invoke(prompt, max_tokens=8) for prompt in prompts[:3]]
    assert len(answers) == 32
    assert [a.content for a in answers[:3]] == [a.content for a in alone]
    assert_one_engine(smollm2)


@pytest.mark.kind(21)
def test_two_event_loops_one_after_the_other(smollm2: ChatSSR) -> None:
    first = asyncio.run(smollm2.ainvoke(CAPITAL))
    second = asyncio.run(smollm2.ainvoke(CAPITAL))
    assert first.content == second.content == "The capital of France is Paris."


@pytest.mark.kind(21)
def test_four_threads_at_once(smollm2: ChatSSR) -> None:
    answers: list[str] = []

    def ask() -> None:
        answers.append(str(asyncio.run(smollm2.ainvoke(CAPITAL)).content))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["The capital of France is Paris."] * 4


def test_a_prediction_saves_steps(smollm2: ChatSSR) -> None:
    prompt = "Count from one to ten in words."
    answer = smollm2.invoke(prompt)
    again = smollm2.invoke(prompt, prediction=str(answer.content))
    assert again.content == answer.content
    told = again.response_metadata["speculation"]
    assert told["sources"]["prediction"]["num_accepted_draft_tokens"] > 10
    steps = answer.response_metadata["speculation"]["num_answer_steps"]
    assert told["num_answer_steps"] < steps / 2


@pytest.mark.parametrize("speculation", [True, False])
@pytest.mark.kind(16)
def test_stop_strings_count_in_the_answer_only(
    smollm2: ChatSSR, speculation: bool
) -> None:
    settings = {"enable_thinking": True, "thinking_budget": 40, "max_tokens": 110}
    whole = smollm2.invoke(STACK, **settings)
    reasoning = whole.additional_kwargs["reasoning_content"]
    stop = "self"
    assert stop in reasoning
    expected, rest = str(whole.content).split(stop, maxsplit=1)
    assert rest
    settings |= {"stop": [stop], "speculation": speculation, "logprobs": True}
    for message in (
        smollm2.invoke(STACK, **settings),
        merged(list(smollm2.stream(STACK, **settings))),
    ):
        assert message.additional_kwargs["reasoning_content"] == reasoning
        assert message.content == expected
        assert message.response_metadata["finish_reason"] == "stop"
        assert message.response_metadata["stop_reason"] == stop
        used = message.usage_metadata["output_tokens"]
        assert used < whole.usage_metadata["output_tokens"]
        # The last token kept is the one that completed the stop string.
        content = message.response_metadata["logprobs"]["content"]
        assert len(content) == used
        assert stop in "".join(token["token"] for token in content[-3:])


def test_several_answers(smollm2: ChatSSR) -> None:
    result = smollm2.generate(
        [[HumanMessage(CAPITAL)]], n=2, temperature=1.0, seed=1, max_tokens=6
    )
    assert len(result.generations[0]) == 2


def test_logprobs_are_there_for_each_token(smollm2: ChatSSR) -> None:
    message = smollm2.invoke(CAPITAL, top_logprobs=2)
    content = message.response_metadata["logprobs"]["content"]
    assert len(content) == message.usage_metadata["output_tokens"]
    assert all(len(token["top_logprobs"]) == 2 for token in content)


@pytest.mark.parametrize("ask", ["invoke", "stream"])
@pytest.mark.parametrize("times", [3_000, 100_000], ids=["tokens", "characters"])
def test_a_prompt_over_the_context_is_refused_and_the_next_answered(
    smollm2: ChatSSR, ask: str, times: int
) -> None:
    """Both numbers are told, though vLLM counts no further than it must."""
    prompt = "a b " * times
    with pytest.raises(ContextLengthError) as caught:
        list(getattr(smollm2, ask)(prompt))
    length = smollm2.get_num_tokens_from_messages([HumanMessage(prompt)])
    assert length > 2 * times
    assert (caught.value.max_tokens, caught.value.num_tokens) == (2048, length)
    assert not caught.value.is_retryable
    assert smollm2.invoke(CAPITAL).content == "The capital of France is Paris."


def test_what_the_engine_refuses_is_typed(smollm2: ChatSSR) -> None:
    with pytest.raises(InvalidRequestError, match="min_tokens"):
        smollm2.invoke(CAPITAL, extra_body={"min_tokens": -1})
    with pytest.raises(SettingsError, match="tools"):
        smollm2.invoke(CAPITAL, tools=[{"type": "function"}])
    with pytest.raises(SettingsError, match="at least one message"):
        smollm2.invoke([])
    with pytest.raises(SettingsError, match="Did you mean 'temperature'"):
        smollm2.invoke(CAPITAL, temprature=1)
    assert smollm2.invoke(CAPITAL).content == "The capital of France is Paris."


def test_a_timeout_ends_the_request(smollm2: ChatSSR) -> None:
    hasty = smollm2.model_copy(update={"timeout": 0.001})
    with pytest.raises(RequestTimeoutError, match=r"0\.001"):
        hasty.invoke(STACK, max_tokens=400)
    with pytest.raises(RequestTimeoutError, match=r"0\.001"):
        list(hasty.stream(STACK, max_tokens=400))
    assert_idle(smollm2)


@pytest.mark.kind(27)
def test_text_of_many_bytes_streams_whole(tiny: ChatSSR) -> None:
    prompt = "emoji \U0001f600 and 漢字"
    whole = tiny.invoke(prompt, max_tokens=64, enable_thinking=False)
    parts = list(tiny.stream(prompt, max_tokens=64, enable_thinking=False))
    assert "".join(str(part.content) for part in parts) == whole.content
