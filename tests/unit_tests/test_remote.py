"""Servers that answer: what is sent, and what comes back, in every way of asking."""

from __future__ import annotations

import json
import logging

import pytest

from langchain_ssr.errors import InvalidRequestError
from tests.unit_tests.fake_server import (
    CHUNKS,
    LAST,
    URL,
    USAGE,
    WAYS,
    Failure,
    FakeServer,
    ask,
    both,
    delta,
    plain,
    response,
    sse,
    with_ssr,
)

pytestmark = pytest.mark.usefixtures("unknown_servers")

every_way = pytest.mark.parametrize("way", WAYS)


# --- answers -------------------------------------------------------------------------


@every_way
def test_answer(way):
    message = ask(plain().llm(), way)
    assert message.content == "Hi"
    assert message.additional_kwargs["reasoning_content"] == "They greet."
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.response_metadata["model_name"] == "m"
    assert message.usage_metadata["output_tokens"] == 9
    assert message.usage_metadata["output_token_details"]["reasoning"] == 4


@every_way
@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.kind(1)
def test_reasoning_under_both_names(way, name):
    whole = response(**{name: "They greet."})
    chunks = [delta(**{name: "They "}), delta(**{name: "greet."}), *CHUNKS[2:]]
    message = ask(FakeServer(both(whole, sse(*chunks))).llm(), way)
    assert message.content == "Hi"
    assert message.additional_kwargs["reasoning_content"] == "They greet."


@every_way
def test_without_usage_there_is_none(way):
    whole = response()
    del whole["usage"]
    message = ask(FakeServer(both(whole, sse(*CHUNKS[:-1]))).llm(), way)
    assert message.content == "Hi"
    assert message.usage_metadata is None


@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.kind(19)
def test_usage_on_every_chunk_counts_once(way):
    counts = [{**USAGE, "completion_tokens": n} for n in range(1, 6)]
    chunks = [{**c, "usage": u} for c, u in zip(CHUNKS[:-1], counts, strict=True)]
    message = ask(FakeServer(sse(*chunks, LAST, LAST)).llm(), way)
    assert message.usage_metadata["output_tokens"] == 9
    assert message.usage_metadata["input_tokens"] == 3


def call(index: int, id_: str | None, name: str | None, arguments: str) -> dict:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id_, "type": "function", "function": function}


@every_way
@pytest.mark.kind(10)
def test_index_0_for_every_call(way):
    calls = [call(0, "a", "f", '{"x": 1}'), call(0, "b", "g", '{"y": 2}')]
    chunks = [
        delta(tool_calls=[call(0, "a", "f", "")]),
        delta(tool_calls=[call(0, None, None, '{"x": 1}')]),
        delta(tool_calls=[call(0, "b", "g", '{"y"')]),
        delta(tool_calls=[call(0, None, None, ": 2}")]),
        delta("tool_calls"),
        LAST,
    ]
    whole = response(None, "tool_calls", tool_calls=calls)
    message = ask(FakeServer(both(whole, sse(*chunks))).llm(), way)
    assert [(c["name"], c["args"], c["id"]) for c in message.tool_calls] == [
        ("f", {"x": 1}, "a"),
        ("g", {"y": 2}, "b"),
    ]


# --- requests ------------------------------------------------------------------------


@every_way
def test_request(way):
    fake = plain()
    ask(fake.llm(temperature=0.5, thinking_budget=7), way, draft_budget=64)
    assert fake.request["model"] == "m"
    assert fake.request["temperature"] == 0.5
    assert fake.request["thinking_token_budget"] == 7
    assert json.loads(fake.request["vllm_xargs"]["ssr"]) == {"draft_budget": 64}
    streams = "stream" in way
    assert fake.request.get("stream", False) is streams
    assert ("stream_options" in fake.request) is streams


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_key_and_headers(way):
    fake = plain()
    ask(fake.llm(api_key=" sk-1\n", default_headers={"X-Team": "blue"}), way)
    assert fake.headers[-1]["authorization"] == "Bearer sk-1"
    assert fake.headers[-1]["x-team"] == "blue"


def test_nothing_of_openai_goes_to_the_server(monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "BASE_URL"):
        monkeypatch.setenv(f"OPENAI_{name}", "secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer secret")
    fake = plain()
    ask(fake.llm(), "invoke")
    assert "secret" not in str(fake.headers[-1].multi_items())
    assert fake.headers[-1]["authorization"] == "Bearer EMPTY"


def test_header_of_the_user_is_the_authorization():
    fake = plain()
    ask(fake.llm(default_headers={"Authorization": "Basic abc"}), "invoke")
    assert fake.headers[-1]["authorization"] == "Basic abc"


def test_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", "from-vllm")
    fake = plain()
    ask(fake.llm(), "invoke")
    assert fake.headers[-1]["authorization"] == "Bearer from-vllm"


@pytest.mark.parametrize("off", ["constructor", "environment"])
def test_speculation_that_is_off_is_off_on_the_server(monkeypatch, off):
    fake = with_ssr()
    if off == "environment":
        monkeypatch.setenv("SSR_DISABLE", "1")
    settings = {"speculation": False} if off == "constructor" else {}
    ask(fake.llm(**settings), "invoke")
    sent = json.loads(fake.request["vllm_xargs"]["ssr"])
    assert sent["speculation"] is False


def test_images_are_the_servers_matter():
    fake = plain()
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    fake.llm().invoke([("user", [block])])
    assert fake.request["messages"][0]["content"] == [block]


# --- statistics ----------------------------------------------------------------------


@every_way
def test_server_with_ssr_reports(way, caplog):
    stats = ask(with_ssr().llm(), way).response_metadata["speculation"]
    assert (stats["mode"], stats["reason"]) == ("ssr", None)
    assert stats["num_saved_steps"] == 3
    assert stats["timing"]["queue_time_ms"] == 1.0
    assert caplog.records == []


@every_way
def test_server_without_ssr_says_so(way):
    message = ask(plain().llm(), way)
    stats = message.response_metadata["speculation"]
    assert (stats["mode"], stats["reason"]) == ("off", "server_without_ssr")
    assert stats["num_reasoning_tokens"] == 4
    assert stats["num_answer_steps"] == 5


def test_one_warning_for_a_server(caplog):
    with caplog.at_level(logging.WARNING):
        llm = plain().llm()
        for way in WAYS:
            ask(llm, way)
        ask(plain().llm(model="other"), "invoke")
        assert [URL in record.getMessage() for record in caplog.records] == [True]
        other = "http://other.test/v1"
        ask(plain(url=other).llm(), "invoke")
    assert len(caplog.records) == 2


def test_who_wants_no_speculation_misses_none(caplog):
    message = ask(plain().llm(speculation=False), "invoke")
    stats = message.response_metadata["speculation"]
    assert (stats["mode"], stats["reason"]) == ("off", "disabled")
    assert caplog.records == []


def test_who_wants_no_statistics_gets_none(caplog):
    message = ask(plain().llm(speculation_stats="none"), "invoke")
    assert "speculation" not in message.response_metadata
    assert caplog.records == []


@every_way
@pytest.mark.parametrize(
    "metrics",
    [
        {"ssr": {"schema_version": 9}},
        {"ssr": 3},
        {"speculative_decoding": "?"},
        {"queue_time_ms": "soon"},
    ],
    ids=str,
)
def test_metrics_of_another_kind_break_nothing(way, metrics):
    chunks = sse(*CHUNKS[:-1], {**LAST, "metrics": metrics})
    fake = FakeServer(both(response(metrics=metrics), chunks))
    for settings in ({}, {"speculation": False}):
        stats = ask(fake.llm(**settings), way).response_metadata["speculation"]
        assert stats["mode"] == "off"


# --- servers that are stricter than vLLM ---------------------------------------------


def strict(request: dict) -> object:
    if "vllm_xargs" in request:
        text = "Unrecognized request argument supplied: vllm_xargs"
        return fail(400, text)
    return sse(*CHUNKS) if request.get("stream") else response()


def fail(status: int, message: str) -> Failure:
    return Failure(status, {"error": {"message": message, "code": "x", "type": "y"}})


@every_way
def test_server_that_refuses_speculation_settings_answers_without(way):
    fake = FakeServer(strict)
    llm = fake.llm()
    for _ in range(2):
        message = ask(llm, way)
        assert message.content == "Hi"
        stats = message.response_metadata["speculation"]
        assert stats["reason"] == "server_without_ssr"
    assert len(fake.requests) == 3  # it is asked that only once


def test_settings_that_ssr_refuses_are_an_error():
    fake = FakeServer(fail(400, "vllm_xargs.ssr: draft_budget: must be positive"))
    with pytest.raises(InvalidRequestError, match="draft_budget"):
        ask(fake.llm(), "stream")
    assert len(fake.requests) == 1


def test_refused_arguments_of_the_users_own_are_an_error():
    fake = FakeServer(strict)
    llm = fake.llm(extra_body={"vllm_xargs": {"my": 1}})
    with pytest.raises(InvalidRequestError, match="Unrecognized"):
        ask(llm, "invoke")
    assert len(fake.requests) == 1
