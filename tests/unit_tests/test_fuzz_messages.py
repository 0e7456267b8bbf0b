"""Whatever a conversation holds: a request that can be sent, or a documented error."""

from __future__ import annotations

import asyncio
import json
import traceback
from functools import reduce
from operator import add
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import ModelError
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import ValidationError

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from tests.unit_tests.fuzzing import JSON

shared_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = st.text(max_size=8) | st.sampled_from(["<think>", "\x00", "🙂", "\ud83d", "\n"])
KINDS = ("text", "reasoning", "thinking", "image", "image_url", "file", "tool_call")
KINDS += ("tool_use", "tool_result", "refusal", "non_standard", "video", "audio", "x")
FIELDS = ("text", "reasoning", "id", "name", "args", "url", "base64", "index", "extras")
FIELDS += ("image_url", "source", "source_type", "mime_type", "data", "value", "input")
BLOCK = st.builds(
    lambda kind, fields: {**fields, **({"type": kind} if kind else {})},
    st.none() | st.sampled_from(KINDS) | WORDS,  # core wants a string, too
    st.dictionaries(st.sampled_from(FIELDS), WORDS | JSON, max_size=4),
)
CONTENT = WORDS | st.lists(WORDS | BLOCK, max_size=3)
CALL = st.fixed_dictionaries(
    {
        "name": WORDS,
        "args": st.dictionaries(st.text(max_size=4), JSON, max_size=2),
        "id": st.none() | WORDS,
    }
)
BAD_CALL = st.fixed_dictionaries(
    {
        "name": st.none() | WORDS,
        "args": st.none() | WORDS,
        "id": st.none() | WORDS,
        "error": st.none() | WORDS,
    }
)
EXTRAS = st.dictionaries(
    st.sampled_from(["reasoning_content", "reasoning", "tool_calls", "function_call"])
    | st.just("__openai_role__")
    | st.text(max_size=5),
    JSON,
    max_size=2,
)
PROVIDERS = st.dictionaries(
    st.just("model_provider"),
    st.sampled_from(["ssr", "openai", "anthropic", "google_genai", "groq", "x"]),
)


def _make(cls: type[BaseMessage], fields: dict[str, Any]) -> BaseMessage | None:
    try:
        return cls(**fields)
    except (ValidationError, ValueError, TypeError, AttributeError, KeyError):
        return None  # langchain-core refuses it


def _message(cls: type[BaseMessage], **fields: st.SearchStrategy[Any]) -> Any:
    made = st.fixed_dictionaries({"content": CONTENT, **fields})
    return made.map(lambda values: _make(cls, values)).filter(bool)


MESSAGE = st.one_of(
    _message(HumanMessage, name=st.none() | WORDS),
    _message(SystemMessage, additional_kwargs=EXTRAS),
    _message(
        AIMessage,
        tool_calls=st.lists(CALL, max_size=2),
        invalid_tool_calls=st.lists(BAD_CALL, max_size=1),
        additional_kwargs=EXTRAS,
        response_metadata=PROVIDERS,
    ),
    _message(ToolMessage, tool_call_id=WORDS, artifact=JSON),
    _message(FunctionMessage, name=WORDS),
    _message(ChatMessage, role=WORDS | st.sampled_from(["user", "system", "tool"])),
    st.just(RemoveMessage(id="x")),
)


def outcome(backend: Any, way: Any) -> Any:
    """Return the request of a call, or the words of its refusal."""
    before = len(backend.requests)
    try:
        way()
    except ModelError as error:
        assert isinstance(error, SettingsError)  # noqa: PT017 - no backend error
        assert str(error).startswith("messages: ")  # noqa: PT017
        assert len(backend.requests) == before
        return str(error)
    except ValueError as error:
        # langchain-core reads images for its tracers before it calls any model.
        *_, frame = traceback.extract_tb(error.__traceback__)
        assert "langchain_core/messages/block_translators" in frame.filename
        assert len(backend.requests) == before
        return str(error)
    assert len(backend.requests) == before + 1
    request = dict(backend.request)
    json.dumps(request)
    for name in ("stream", "stream_options"):
        request.pop(name, None)
    return request


@given(messages=st.lists(MESSAGE, max_size=4), media=st.booleans())
@example(messages=[HumanMessage([{"type": "image", "base64": ""}])], media=False)
@example(messages=[HumanMessage([{"type": "image"}])], media=True)
@shared_backend
def test_any_conversation_in_every_way(backend, messages, media):
    llm = ChatSSR(model="m", engine_kwargs={"language_model_only": not media})
    seen = [
        outcome(backend, lambda: llm.invoke(messages)),
        outcome(backend, lambda: reduce(add, llm.stream(messages))),
        outcome(backend, lambda: asyncio.run(llm.ainvoke(messages))),
    ]
    assert repr(seen[0]) == repr(seen[1]) == repr(seen[2])


@given(message=MESSAGE)
@shared_backend
def test_any_message_beside_good_ones(backend, message):
    llm = ChatSSR(model="m")
    around = [SystemMessage("s"), HumanMessage("a"), message, HumanMessage("b")]
    found = outcome(backend, lambda: llm.invoke(around))
    if isinstance(found, dict):
        roles = [each["role"] for each in found["messages"]]
        assert roles[0] == "system"
        assert "system" not in roles[1:]
        assert roles[-1] == "user"
