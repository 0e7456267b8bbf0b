"""examples/two_clients.py, on a server that answers from memory."""

from __future__ import annotations

import functools
import json

import httpx
import pytest
from openai import OpenAI

from langchain_ssr import ChatSSR
from langchain_ssr.backends import server
from tests.unit_tests.fake_server import (
    CHUNKS,
    LAST,
    REPORT,
    URL,
    FakeServer,
    both,
    delta,
    response,
    sse,
)
from tests.unit_tests.loading import load_example

example = load_example("two_clients")

METRICS = {"ssr": REPORT, "speculative_decoding": None}
PLAIN = {"speculative_decoding": {"num_accepted_draft_tokens": 31}}


def draft(index: int, text: str) -> dict:
    return delta(ssr_draft={"index": index, "text": text})


@pytest.fixture
def fake(monkeypatch) -> FakeServer:
    """Serve both clients of the example; ChatSSR streams to hear the drafts."""
    monkeypatch.setattr(server, "_SERVERS", {})
    drafts = [draft(0, "H"), draft(1, "Hi"), draft(0, "o")]
    stream = sse(*drafts, *CHUNKS[:-1], {**LAST, "metrics": METRICS})
    fake = FakeServer(both(response(metrics=PLAIN), stream))
    client = httpx.Client(transport=httpx.MockTransport(fake.handle))
    for name, kind in (("OpenAI", OpenAI), ("ChatSSR", ChatSSR)):
        made = functools.partial(kind, http_client=client)
        monkeypatch.setattr(example, name, made)
    return fake


def test_both_get_the_same_answer(fake, capsys):
    example.main(["--url", URL, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["model"] == "m"
    assert told["same_answer"] is True
    assert told["chat_ssr"]["answer"] == told["openai"]["answer"] == "Hi"
    assert told["chat_ssr"]["reasoning"] == "They greet."
    assert told["chat_ssr"]["drafts"] == ["Ho", "Hi"]
    assert "tokens" in told["chat_ssr"]["speculation"]
    assert told["openai"]["speculative_decoding"]["num_accepted_draft_tokens"] == 31


def test_both_ask_the_same(fake):
    example.run(URL, "m", "none")
    mine, other = fake.requests
    for name in ("messages", "temperature", "max_completion_tokens"):
        assert mine[name] == other[name], name
    for body in (mine, other):
        assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert json.loads(mine["vllm_xargs"]["ssr"])["draft_budget"] == 64
    assert "vllm_xargs" not in other


def test_people_see_drafts_and_answer(fake, capsys):
    example.main(["--url", URL])
    out = capsys.readouterr().out
    for line in ("--- draft 1\nHo\n", "--- draft 2\nHi\n", "--- answer\nHi\n"):
        assert line in out
    assert "31 tokens accepted; the same answer: yes" in out
