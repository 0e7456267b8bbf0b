"""The model that comes with the package thinks, answers, calls tools, and drafts."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import REGISTRY
from langchain_ssr.demo.asking import history
from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.demo.prompts import PROMPTS
from langchain_ssr.models import demo_folder
from langchain_ssr.serve import SERVER_MODULE
from langchain_ssr.wire.requests import REASONING_KEY
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

START_SECONDS = 180


def first_of(kind: str) -> Example:
    """Return the first held-out conversation of a kind."""
    return next(
        e for i in range(10_000) if (e := conversation(0, i, "heldout")).kind == kind
    )


@pytest.fixture
def demo(pool: EnginePool) -> ChatSSR:
    return pool.model("demo", max_tokens=2000)


def test_it_thinks_and_answers(demo: ChatSSR) -> None:
    message = demo.invoke(PROMPTS[0].text, draft_budget=128)
    assert "Final decisions:" in message.additional_kwargs[REASONING_KEY]
    assert "```python" in message.text
    told = message.response_metadata["speculation"]
    assert told["drafts"]
    assert told["num_answer_tokens"] > 2 * told["num_answer_steps"]


def test_it_calls_the_right_tool(demo: ChatSSR) -> None:
    prompt = PROMPTS[2]
    message = demo.invoke(prompt.text, tools=list(prompt.tools))
    (call,) = message.tool_calls
    assert call["name"] == "reserve_table"
    assert call["args"] == {"city": "Lisbon", "guests": 4, "host": "Clara"}


def test_without_thinking_it_answers_at_once(demo: ChatSSR) -> None:
    message = demo.invoke("Is 7 an even number?", enable_thinking=False)
    assert message.text.strip()
    assert REASONING_KEY not in message.additional_kwargs


@pytest.fixture
def vllm_server() -> Iterator[str]:
    """Serve the demo model with vLLM alone, none of our code in the path."""
    REGISTRY.close_all()  # one engine at a time
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        *(sys.executable, "-m", SERVER_MODULE),
        *("--model", str(demo_folder()), "--served-model-name", "demo"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--dtype", "float32", "--max-model-len", "4096", "--enforce-eager"),
        *("--kv-cache-memory-bytes", str(256 << 20)),
        *("--reasoning-parser", "qwen3"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    ]
    environment = {**os.environ, "VLLM_PLUGINS": "", "VLLM_LOGGING_LEVEL": "ERROR"}
    server = subprocess.Popen(command, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(60)


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, "vllm serve has ended"
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"vllm serve did not answer within {START_SECONDS} s")


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps({"model": "demo", "temperature": 0, **body}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)["choices"][0]


def test_vllms_own_server_parses_it(vllm_server: str) -> None:
    prompt = PROMPTS[2]
    choice = post(
        vllm_server,
        {
            "messages": [{"role": "user", "content": prompt.text}],
            "tools": list(prompt.tools),
        },
    )
    assert choice["finish_reason"] == "tool_calls"
    assert "Final decisions:" in choice["message"]["reasoning"]
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "reserve_table"
    assert json.loads(call["function"]["arguments"])["guests"] == 4
    short = post(
        vllm_server, {"messages": [{"role": "user", "content": PROMPTS[3].text}]}
    )
    assert short["finish_reason"] == "stop"
    assert short["message"]["reasoning"]
    assert "think" not in short["message"]["content"]


def test_an_agent_loop_of_the_corpus_is_gone_through(demo: ChatSSR) -> None:
    """Each turn of a held-out loop calls a declared tool, or ends it."""
    example = first_of("loop_right")
    names = {tool["function"]["name"] for tool in example.tools}
    for turn in range(len(example.checks)):
        message = demo.invoke(history(example, turn), tools=example.tools)
        if turn == len(example.checks) - 1:
            assert message.text
        else:
            assert {call["name"] for call in message.tool_calls} <= names
            assert message.tool_calls
