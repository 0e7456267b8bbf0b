"""Predicted outputs: what is sent, and where the answer says what became of them."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.unit_tests.fake_server import (
    CHUNKS,
    LAST,
    REPORT,
    URL,
    USAGE,
    WAYS,
    FakeServer,
    ask,
    both,
    response,
    sse,
)

COUNTS = {"accepted_prediction_tokens": 6, "rejected_prediction_tokens": 2}
DETAILS = {**USAGE["completion_tokens_details"], **COUNTS}
TOLD = {**USAGE, "completion_tokens_details": DETAILS}
METRICS = {"ssr": REPORT}
FILE = "x = 1\n"

pytestmark = pytest.mark.usefixtures("unknown_servers")


def counting() -> FakeServer:
    whole = response(metrics=METRICS) | {"usage": TOLD}
    last = {**LAST, "usage": TOLD, "metrics": METRICS}
    return FakeServer(both(whole, sse(*CHUNKS[:-1], last)))


@pytest.mark.parametrize("given", [FILE, {"type": "content", "content": FILE}])
@pytest.mark.parametrize("way", WAYS)
def test_counts_are_where_openai_has_them(way, given):
    fake = counting()
    message = ask(fake.llm(), way, prediction=given)
    sent = json.loads(fake.request["vllm_xargs"]["ssr"])
    assert sent == {"prediction": FILE}
    usage = message.response_metadata["token_usage"]
    assert usage["completion_tokens_details"] == DETAILS
    assert message.usage_metadata["output_token_details"] == {"reasoning": 4}


# ChatOpenAI looks at socket options when it is built.
@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_chat_openai_has_them_in_the_same_place():
    langchain_openai = pytest.importorskip("langchain_openai")
    fake = counting()
    transport = httpx.MockTransport(fake.handle)
    other = langchain_openai.ChatOpenAI(
        model="m",
        base_url=URL,
        api_key="none",
        http_client=httpx.Client(transport=transport),
    ).invoke("hi", prediction={"type": "content", "content": FILE})
    assert fake.request["prediction"] == {"type": "content", "content": FILE}
    mine = fake.llm().invoke("hi", prediction=FILE)
    theirs = other.response_metadata["token_usage"]["completion_tokens_details"]
    details = mine.response_metadata["token_usage"]["completion_tokens_details"]
    assert {name: theirs[name] for name in details} == details
    for name in ("input_tokens", "output_tokens", "output_token_details"):
        assert mine.usage_metadata[name] == other.usage_metadata[name]
