"""Stop strings that the client applies, where the server has no SSR."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_ssr.wire.client_stops import ClientStops
from tests.unit_tests.fake_server import (
    LAST,
    REPORT,
    USAGE,
    WAYS,
    Failure,
    FakeServer,
    ask,
    delta,
    response,
    sse,
)

pytestmark = pytest.mark.usefixtures("unknown_servers")

every_way = pytest.mark.parametrize("way", WAYS)
REFUSAL = "vllm_xargs.ssr must be a JSON object in a string: Expecting value"


def is_probe(request: dict) -> bool:
    return request.get("max_completion_tokens") == 1


def plain(pieces: list[str], reasoning: str = "Stop? No.", **fields) -> FakeServer:
    """A server without SSR that would go on for long."""
    usages = [{**USAGE, "completion_tokens": n + 1} for n in range(len(pieces))]
    chunks = [delta(reasoning=reasoning)]
    chunks += [
        delta(content=piece, usage=usage)
        for piece, usage in zip(pieces, usages, strict=True)
    ]
    whole = response("".join(pieces), reasoning=reasoning, **fields)
    return FakeServer(
        lambda sent: sse(*chunks, delta("stop"), LAST) if sent.get("stream") else whole
    )


# --- in answers ----------------------------------------------------------------------


@every_way
@pytest.mark.kind(16)
def test_stop_counts_in_the_answer_only(way):
    fake = plain(["On", "e. St", "op", " Two.", *["x"] * 100])
    message = ask(fake.llm(stop=["Stop"]), way)
    assert message.content == "One. "
    assert message.additional_kwargs["reasoning_content"] == "Stop? No."
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.response_metadata["stop_reason"] == "Stop"
    assert message.response_metadata["speculation"]["reason"] == "server_without_ssr"
    assert "stop" not in fake.request
    # It is left at the stop, and the usage up to there is known.
    assert message.usage_metadata["output_tokens"] == 3
    assert fake.bodies[-1].closed
    assert fake.bodies[-1].read < 10


@every_way
def test_answer_without_the_stop_is_whole(way):
    fake = plain(["One. S", "t"])
    message = ask(fake.llm(stop=["Stop"]), way)
    assert message.content == "One. St"
    assert message.response_metadata["finish_reason"] == "stop"
    assert "stop_reason" not in message.response_metadata
    assert message.usage_metadata["output_tokens"] == 9


@every_way
def test_server_is_asked_once_whether_it_has_ssr(way):
    fake = plain(["One"])
    llm = fake.llm()
    for _ in range(3):
        ask(llm, way, stop=["x"])
    assert [is_probe(sent) for sent in fake.requests] == [True, False, False, False]


@every_way
def test_server_that_has_answered_is_known(way):
    fake = plain(["One"])
    llm = fake.llm()
    ask(llm, way)
    ask(llm, way, stop=["n"])
    assert not any(is_probe(sent) for sent in fake.requests)


@every_way
def test_server_with_ssr_applies_stops_itself(way):
    def answer(sent: dict) -> object:
        if sent["vllm_xargs"]["ssr"] == "Are you there?":
            return Failure(400, {"error": {"message": REFUSAL, "code": 400}})
        if sent.get("stream"):
            end = {**LAST, "metrics": {"ssr": REPORT}}
            return sse(delta(content="One. "), delta("stop"), end)
        return response("One. ", metrics={"ssr": REPORT})

    fake = FakeServer(answer)
    message = ask(fake.llm(stop=["Stop"]), way)
    assert message.content == "One. "
    assert fake.request["stop"] == ["Stop"]
    assert message.response_metadata["speculation"]["mode"] == "ssr"
    assert [is_probe(sent) for sent in fake.requests] == [True, False]


@every_way
def test_probe_that_fails_is_the_calls_failure(way):
    fake = FakeServer(Failure(401, {"error": "Unauthorized"}))
    with pytest.raises(Exception, match="SSR_API_KEY"):
        ask(fake.llm(stop=["x"]), way)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_tools_are_read_from_a_whole_answer(way):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    fake = plain(["One. ", "Stop"], tool_calls=[call])
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    message = ask(fake.llm(), way, stop=["Stop"], tools=[tool])
    assert "stream" not in fake.request
    assert (message.content, message.tool_calls) == ("One. ", [])
    assert message.response_metadata["finish_reason"] == "stop"
    kept = ask(fake.llm(), way, stop=["nothing"], tools=[tool])
    assert [call["name"] for call in kept.tool_calls] == ["f"]


def test_each_of_several_choices_has_its_own_stop():
    choices = [
        {"index": i, "message": {"content": text}, "finish_reason": "length"}
        for i, text in enumerate(["a#b", "ab", "#"])
    ]
    fake = FakeServer({**response(), "choices": choices})
    result = fake.llm(stop="#", n=3)._generate([HumanMessage("hi")])
    assert [g.message.content for g in result.generations] == ["a", "ab", ""]
    reasons = [g.message.response_metadata["finish_reason"] for g in result.generations]
    assert reasons == ["stop", "length", "stop"]


@every_way
def test_server_that_cannot_count_on_the_way_is_asked_without(way):
    def answer(sent: dict) -> object:
        if "continuous_usage_stats" in sent.get("stream_options", {}):
            text = "Unknown parameter: 'stream_options.continuous_usage_stats'."
            return Failure(400, {"error": {"message": text}})
        return sse(delta(content="On"), delta(content="e#"), *[delta(content="x")] * 9)

    message = ask(FakeServer(answer).llm(stop=["#"]), way)
    assert message.content == "One"
    assert message.usage_metadata is None


@every_way
@pytest.mark.kind(17)
def test_logprobs_end_at_the_stop(way):
    tokens = ["On", "e", "#", "Two", "#"]
    logprobs = {"content": [{"token": t, "logprob": -1.0} for t in tokens]}
    chunk = delta(content="One#Two#")
    chunk["choices"][0]["logprobs"] = logprobs
    fake = FakeServer(sse(chunk, delta("stop"), LAST))
    message = ask(fake.llm(stop=["#"], logprobs=True), way)
    assert message.content == "One"
    content = message.response_metadata["logprobs"]["content"]
    assert [entry["token"] for entry in content] == ["On", "e", "#"]


def test_stop_string_can_be_kept():
    fake = plain(["One. St", "op it"])
    body = {"include_stop_str_in_output": True}
    assert ask(fake.llm(stop="Stop", extra_body=body), "invoke").content == "One. Stop"


# --- the reader ----------------------------------------------------------------------


def read(pieces: list[str], stops: list[str]) -> tuple[str, str | None]:
    reader, shown = ClientStops(stops), ""
    for piece in pieces:
        choice = {"delta": {"content": piece}}
        reader.delta(choice)
        shown += choice["delta"]["content"]
        if reader.found is not None:
            return shown, reader.found
    choice = {"delta": {}, "finish_reason": "stop"}
    reader.delta(choice)
    return shown + (choice["delta"].get("content") or ""), reader.found


def expected(text: str, stops: list[str]) -> tuple[str, str | None]:
    """Look for a stop after each character, as an engine does after each token."""
    for end in range(len(text) + 1):
        for stop in stops:
            if text[:end].endswith(stop):
                return text[: end - len(stop)], stop
    return text, None


@given(
    st.lists(st.text("ab#", max_size=4), max_size=8),
    st.lists(st.text("ab#", min_size=1, max_size=4), min_size=1, max_size=3),
)
@pytest.mark.kind(3)
def test_pieces_make_no_difference(pieces, stops):
    text = "".join(pieces)
    assert read(pieces, stops) == expected(text, stops)
    assert read(list(text), stops) == expected(text, stops)


@given(st.text("ab#", max_size=9), st.text("ab#", min_size=1, max_size=3))
def test_whole_and_streamed_are_the_same(text, stop):
    choice = {"message": {"content": text}, "finish_reason": "length"}
    ClientStops([stop]).message(choice)
    assert choice["message"]["content"] == read([text], [stop])[0]
    assert choice["finish_reason"] == ("stop" if stop in text else "length")


def test_nothing_is_held_back_that_cannot_become_a_stop():
    reader = ClientStops(["Stop"])
    choice = {"delta": {"content": "One Sto"}}
    reader.delta(choice)
    assert choice["delta"]["content"] == "One "
    choice = {"delta": {"content": "ne"}}
    reader.delta(choice)
    assert choice["delta"]["content"] == "Stone"


def test_what_is_held_back_comes_before_a_tool_call():
    reader = ClientStops(["Stop"])
    reader.delta({"delta": {"content": "St"}})
    choice = {"delta": {"tool_calls": [{"index": 0}]}}
    reader.delta(choice)
    assert choice["delta"] == {"content": "St", "tool_calls": [{"index": 0}]}
    assert json.dumps(choice)
