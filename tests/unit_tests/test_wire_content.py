"""Content blocks of messages -> content, reasoning and calls of a request."""

from __future__ import annotations

import json

import pytest
from langchain_core.exceptions import ModelInvalidRequestError
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.wire.content import calls_of, reasoning_of, text_of
from langchain_ssr.wire.requests import messages_to_wire


def one(message: BaseMessage, *, media: bool = False) -> dict:
    [wire] = messages_to_wire([message], media=media)
    return wire


# --- text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([], ""),
        (["a", "b"], "ab"),
        ([{"type": "text", "text": "a"}, "b", {"type": "text", "text": "c"}], "abc"),
        (
            [{"type": "reasoning", "reasoning": "no"}, {"type": "text", "text": "c"}],
            "c",
        ),
        ([{"type": "image", "url": "http://x"}], ""),
    ],
)
def test_text_of_content(content, text):
    assert text_of(content) == text


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage,
        SystemMessage,
        lambda blocks: ToolMessage(blocks, tool_call_id="c"),
        AIMessage,
    ],
    ids=["human", "system", "tool", "ai"],
)
@pytest.mark.kind(11)
def test_text_blocks_become_a_string(message):
    blocks = ["a", {"type": "text", "text": "b", "cache_control": {}}]
    assert one(message(blocks))["content"] == "ab"


@pytest.mark.parametrize("media", [False, True])
@pytest.mark.parametrize("kind", ["search_result", "reasoning", "text"])
def test_block_that_is_not_known_is_refused_by_its_type(kind, media):
    message = ToolMessage([{"type": kind, "source": "x"}], tool_call_id="c")
    with pytest.raises(SettingsError, match=f"type '{kind}' is unknown"):
        one(message, media=media)


# --- images and the like -------------------------------------------------------------

IMAGE = {"type": "image", "url": "http://x/y.png"}


@pytest.mark.parametrize(
    "block",
    [
        IMAGE,
        {"type": "image_url", "image_url": {"url": "http://x"}},
        {"type": "audio", "base64": "QUJD", "mime_type": "audio/wav"},
        {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
        {"type": "video", "url": "http://x"},
        {"type": "file", "base64": "QUJD", "mime_type": "application/pdf"},
    ],
)
@pytest.mark.parametrize(
    "message",
    [HumanMessage, lambda blocks: ToolMessage(blocks, tool_call_id="c")],
    ids=["human", "tool"],
)
def test_model_that_takes_text_only_refuses_it(backend, message, block):
    llm = ChatSSR(model="Qwen3-4B")
    with pytest.raises(ModelInvalidRequestError, match=r"text only.*type '(?!text)"):
        llm.invoke([message(["what is it?", block])])
    assert backend.requests == []


def test_model_that_takes_images_gets_them(backend):
    llm = ChatSSR(model="Qwen3.5-4B", engine_kwargs={"language_model_only": False})
    llm.invoke([HumanMessage(["what is it?", IMAGE])])
    assert backend.request["messages"][0]["content"] == [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
    ]


def image_url(url: str) -> dict:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("block", "wire"),
    [
        (IMAGE, image_url("http://x/y.png")),
        (
            {"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"},
            image_url("data:image/jpeg;base64,QUJD"),
        ),
        (
            {"type": "image", "base64": "QUJD"},
            image_url("data:image/png;base64,QUJD"),
        ),
        (
            {"type": "image_url", "image_url": {"url": "http://x", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "http://x", "detail": "low"}},
        ),
        (
            {"type": "audio", "base64": "QUJD", "mime_type": "audio/wav"},
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
        ),
        (
            {"type": "video", "url": "http://x"},
            {"type": "video_url", "video_url": {"url": "http://x"}},
        ),
    ],
)
def test_media_beside_text(block, wire):
    message = HumanMessage(["what is it?", block])
    before = message.model_copy(deep=True)
    content = one(message, media=True)["content"]
    assert content == [{"type": "text", "text": "what is it?"}, wire]
    assert message == before


def test_media_that_cannot_be_sent_is_refused():
    with pytest.raises(SettingsError, match="type 'image'"):
        one(HumanMessage([{"type": "image", "file_id": "f"}]), media=True)


# --- reasoning -----------------------------------------------------------------------


@pytest.mark.parametrize("provider", [{}, {"model_provider": "langchain-ssr"}])
@pytest.mark.parametrize("version", [{}, {"output_version": "v1"}])
def test_v1_reasoning_blocks_are_read_and_kept_out_of_the_text(provider, version):
    message = AIMessage(
        [
            {"type": "reasoning", "reasoning": "h"},
            {"type": "reasoning", "reasoning": "m"},
            {"type": "text", "text": "yes"},
        ],
        response_metadata={**provider, **version},
    )
    assert reasoning_of(message) == "hm"
    assert one(message) == {"role": "assistant", "content": "yes", "reasoning": "hm"}


def test_reasoning_in_both_places_counts_once():
    message = AIMessage(
        [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "yes"}],
        additional_kwargs={"reasoning_content": "hm"},
        response_metadata={"output_version": "v1", "model_provider": "langchain-ssr"},
    )
    assert reasoning_of(message) == "hm"


def test_reasoning_of_another_provider_is_read():
    message = AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "yes"},
        ],
        response_metadata={"model_provider": "anthropic"},
    )
    assert one(message) == {"role": "assistant", "content": "yes", "reasoning": "hm"}


PROVIDERS = ("openai", "anthropic", "google_genai", "google_vertexai", "bedrock")
PROVIDERS += ("bedrock_converse", "groq", "langchain-ssr", "unheard-of")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("content", ["b", [{"type": "text", "text": "b"}]])
@pytest.mark.kind(12)
def test_reasoning_beside_the_content_is_read_whoever_wrote_it(provider, content):
    message = AIMessage(
        content,
        additional_kwargs={"reasoning_content": "R"},
        response_metadata={"model_provider": provider},
    )
    assert one(message) == {"role": "assistant", "content": "b", "reasoning": "R"}


@pytest.mark.parametrize("nothing", [None, "", 5, {"a": 1}, ["R"]])
def test_reasoning_that_is_no_text_is_left_out(nothing):
    message = AIMessage("b", additional_kwargs={"reasoning_content": nothing})
    assert one(message) == {"role": "assistant", "content": "b"}


@pytest.mark.parametrize("content", ["a", [], [{"type": "reasoning"}]])
def test_no_reasoning_is_an_empty_text(content):
    assert reasoning_of(AIMessage(content)) == ""
    assert "reasoning" not in one(AIMessage(content))


# --- calls ---------------------------------------------------------------------------


def test_call_that_is_in_the_content_only_is_found():
    block = {"type": "tool_call", "id": "c1", "name": "f", "args": {"a": 1}}
    [call] = one(AIMessage([block]))["tool_calls"]
    assert call["id"] == "c1"
    assert json.loads(call["function"]["arguments"]) == {"a": 1}


def test_call_that_is_in_the_content_too_is_sent_once():
    call = tool_call(id="c1", name="f", args={"a": 1})
    foreign = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    for content in ([dict(call)], [foreign], ""):
        message = AIMessage(content, tool_calls=[call])
        assert [c["id"] for c in calls_of(message)] == ["c1"]


def test_call_without_an_id_is_sent_with_one():
    block = {"type": "tool_call", "name": "f", "args": {}}
    for message in (
        AIMessage("", tool_calls=[tool_call(id=None, name="f", args={})]),
        AIMessage([block]),
    ):
        assert [c["name"] for c in calls_of(message)] == ["f"]
        assert one(message)["tool_calls"][0]["id"] == "call_0"
