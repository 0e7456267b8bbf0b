"""The plain `vllm serve` line that `langchain-ssr serve` prints gives the same server.

With `--api-key`, nothing of OpenAI's API answers without the key.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from openai import AuthenticationError, BadRequestError

from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import (
    SERVE,
    Server,
    environment,
    free_port,
    running,
)
from tests.integration_tests.served_asking import FLAGS, OPERATOR, SMALL, ask, report

pytestmark = pytest.mark.engine

KEY = "the-key"
STARTED = "ssr:num_drafts_started"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, pool: EnginePool) -> str:
    pool.close()  # one engine at a time
    return str(tiny_models.make(tmp_path_factory.mktemp("served") / "qwen3", "qwen3"))


def plain_line(model: str, *flags: str) -> str:
    done = subprocess.run(
        [*SERVE, model, *FLAGS, *SMALL, *OPERATOR, *flags, "--print-command"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    [line] = done.stdout.splitlines()
    return line


@pytest.fixture(scope="module")
def guarded(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A plain `vllm serve` with an API key."""
    port = free_port()
    line = plain_line(model, "--port", str(port), "--api-key", KEY)
    command = ["sh", "-c", f"exec env {line}"]
    with running(command, port, tmp_path_factory.mktemp("log") / "plain") as server:
        yield server


def test_the_plain_line_serves_the_same(guarded: Server) -> None:
    told = report(ask(guarded, KEY, ssr={"max_drafts": 5}))
    assert (told["reason"], told["clamped"]) == ("clamped", {"max_drafts": 2})
    assert guarded.counter(STARTED) == len(told["drafts"]) > 0
    assert '"ssr' not in ask(guarded, KEY).model_dump_json()
    with pytest.raises(BadRequestError, match=r"vllm_xargs\.ssr: max_drafts"):
        ask(guarded, KEY, ssr={"max_drafts": -1})


@pytest.mark.parametrize("ssr", [None, {}, {"max_drafts": "bad"}])
def test_nothing_is_answered_without_the_key(guarded: Server, ssr: Any) -> None:
    for key in ("none", KEY.upper()):
        with pytest.raises(AuthenticationError):
            ask(guarded, key, ssr=ssr)


def test_no_endpoint_of_openais_api_answers_without_the_key(guarded: Server) -> None:
    paths = json.loads(guarded.get("/openapi.json")[1])["paths"]
    asked = [
        (path, method)
        for path, methods in paths.items()
        if path.startswith("/v1")
        for method in methods
    ]
    assert ("/v1/chat/completions", "post") in asked
    for path, method in asked:
        request = Request(guarded.url + path, method=method.upper())
        with pytest.raises(HTTPError) as caught:
            urlopen(request, timeout=30)
        assert caught.value.code == 401, path


def test_no_endpoint_is_added() -> None:
    from fastapi import FastAPI

    from langchain_ssr.engine.plugin import SSREndpointPlugin

    app = FastAPI()
    before = list(app.router.routes)
    SSREndpointPlugin().attach_router(app)
    assert list(app.router.routes) == before
