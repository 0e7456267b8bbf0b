"""`ChatSSR`'s answers, with a backend that answers from memory."""

from __future__ import annotations

import asyncio
import time
from functools import reduce
from operator import add

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ssr import ChatSSR, get_speculation_callback
from langchain_ssr.errors import SettingsError

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def llm():
    return ChatSSR(model="smollm2")


async def ask(llm: ChatSSR, way: str, **options) -> BaseMessage:
    """Ask in one of four ways; a stream's chunks are added up."""
    if way == "invoke":
        return llm.invoke("hi", **options)
    if way == "ainvoke":
        return await llm.ainvoke("hi", **options)
    if way == "stream":
        return reduce(add, llm.stream("hi", **options))
    return reduce(add, [chunk async for chunk in llm.astream("hi", **options)])


WAYS = ["invoke", "ainvoke", "stream", "astream"]


@pytest.mark.parametrize("way", WAYS)
async def test_answer(llm, way):
    message = await ask(llm, way)
    assert message.content == "Hi 🙂 there"
    assert message.additional_kwargs == {"reasoning_content": "They greet."}
    assert [(c["id"], c["name"], c["args"]) for c in message.tool_calls] == [
        ("c0", "f", {"city": "Zürich"})
    ]
    assert message.usage_metadata == {
        "input_tokens": 3,
        "output_tokens": 9,
        "total_tokens": 12,
        "output_token_details": {"reasoning": 4},
    }
    metadata = message.response_metadata
    assert metadata["finish_reason"] == "tool_calls"
    assert metadata["model_name"] == "smollm2"
    assert metadata["speculation"]["num_reasoning_tokens"] == 4
    assert metadata["speculation"]["timing"]["queue_time_ms"] == 1.0


@pytest.mark.parametrize("way", WAYS)
async def test_statistics_that_nobody_wants_are_left_out(llm, way):
    message = await ask(llm, way, speculation_stats="none")
    assert "speculation" not in message.response_metadata
    assert message.response_metadata["finish_reason"] == "tool_calls"


@pytest.mark.kind(20)
async def test_metadata_is_equal_in_every_way(llm):
    first, *others = [(await ask(llm, way)).response_metadata for way in WAYS]
    assert all(other == first for other in others)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_streaming_model_gives_the_same_answer(llm, backend, way):
    plain = await ask(llm, way)
    streamed = await ask(ChatSSR(model="smollm2", streaming=True), way)
    assert backend.request["stream"] is True
    assert type(streamed) is AIMessage
    assert streamed.content == plain.content
    assert streamed.tool_calls == plain.tool_calls
    assert streamed.additional_kwargs == plain.additional_kwargs
    assert streamed.usage_metadata == plain.usage_metadata
    assert streamed.response_metadata == plain.response_metadata


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_v1_output_has_reasoning_text_and_tool_call_blocks(way):
    message = await ask(ChatSSR(model="smollm2", output_version="v1"), way)
    kinds = [block["type"] for block in message.content_blocks]
    assert kinds == ["reasoning", "text", "tool_call"]
    reasoning, text, call = message.content_blocks
    assert reasoning["reasoning"] == "They greet."
    assert text["text"] == "Hi 🙂 there"
    assert (call["name"], call["args"]) == ("f", {"city": "Zürich"})


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_v1_stream_has_a_tool_call_block_of_its_own(way):
    message = await ask(ChatSSR(model="smollm2", output_version="v1"), way)
    kinds = [block["type"] for block in message.content_blocks]
    assert kinds == ["reasoning", "text", "tool_call"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.kind(19)
async def test_usage_callback_counts_an_answer_once(llm, way):
    with get_usage_metadata_callback() as usage:
        await ask(llm, way)
    assert usage.usage_metadata["smollm2"]["total_tokens"] == 12


@pytest.mark.parametrize("way", WAYS)
async def test_request_says_whether_to_stream(llm, backend, way):
    await ask(llm, way)
    streams = "stream" in way
    assert backend.request.get("stream", False) is streams
    assert ("stream_options" in backend.request) is streams


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_usage_can_be_left_out_of_a_stream(llm, way):
    quiet = ChatSSR(model="smollm2", stream_usage=False)
    assert (await ask(quiet, way)).usage_metadata is None
    assert (await ask(llm, way, stream_usage=False)).usage_metadata is None
    assert (await ask(quiet, way, stream_usage=True)).usage_metadata is not None


def test_several_answers_and_usage_once(llm, backend):
    result = llm.generate([[HumanMessage("hi")]], n=2)
    messages = [generation.message for generation in result.generations[0]]
    assert backend.request["n"] == 2
    assert [message.content for message in messages] == ["Hi 🙂 there"] * 2
    assert [bool(message.usage_metadata) for message in messages] == [True, False]


@pytest.mark.parametrize("watched", [False, True])
async def test_results_add_up_model_and_usage(llm, watched):
    prompts = [[HumanMessage("hi")]] * 3
    expected = {
        "model_name": "smollm2",
        "token_usage": {
            "prompt_tokens": 9,
            "completion_tokens": 27,
            "total_tokens": 36,
            "completion_tokens_details": {"reasoning_tokens": 12},
        },
    }
    with get_speculation_callback(on_draft=print if watched else None):
        assert llm.generate(prompts).llm_output == expected
        assert (await llm.agenerate(prompts)).llm_output == expected


def test_results_without_usage_add_up_to_none(llm, backend, monkeypatch):
    whole = {**backend.complete({}), "usage": None}
    monkeypatch.setattr(backend, "complete", lambda _: whole)
    expected = {"model_name": "smollm2", "token_usage": {}}
    assert llm.generate([[HumanMessage("hi")]]).llm_output == expected
    streaming = ChatSSR(
        model="smollm2", streaming=True
    )  # langchain-core keeps no usage
    assert streaming.generate([[HumanMessage("hi")]]).llm_output == expected


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_several_answers_in_a_stream_are_refused(llm, backend, way):
    with pytest.raises(SettingsError, match="n must be 1"):
        await ask(llm, way, n=2)
    assert backend.requests == []


@pytest.mark.kind(24)
def test_batch_keeps_the_order(llm, backend, monkeypatch):
    def echo(request: dict) -> dict:
        text = request["messages"][0]["content"]
        time.sleep(0.02 if text == "question 0" else 0)
        return {"choices": [{"message": {"content": text}}]}

    monkeypatch.setattr(backend, "complete", echo)
    questions = [f"question {i}" for i in range(20)]
    assert [answer.content for answer in llm.batch(questions)] == questions


# --- leaving early -------------------------------------------------------------------


@pytest.mark.kind(22)
def test_leaving_a_stream_closes_the_request(llm, backend):
    for _ in llm.stream("hi"):
        assert backend.open_streams == 1
        break
    assert backend.open_streams == 0


async def test_closing_an_asynchronous_stream_closes_the_request(llm, backend):
    stream = llm.astream("hi")
    await anext(stream)
    assert backend.open_streams == 1
    await stream.aclose()
    await asyncio.sleep(0.01)
    assert backend.open_streams == 0


@pytest.mark.kind(22)
async def test_cancelling_a_task_closes_the_request(llm, backend):
    started = asyncio.Event()

    async def read() -> None:
        async for _ in llm.astream("hi"):
            started.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(read())
    await started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.01)
    assert backend.open_streams == 0


@pytest.mark.kind(21)
def test_two_event_loops_one_after_the_other(llm):
    for _ in range(2):
        assert asyncio.run(llm.ainvoke("hi")).content == "Hi 🙂 there"
