"""`langchain-ssr serve` over HTTP, asked by the openai client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from openai import BadRequestError

from tests.integration_tests.asking import LETTERS
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import Server, serving_tiny
from tests.integration_tests.served_asking import (
    ASK,
    FLAGS,
    OPERATOR,
    SMALL,
    THINK,
    ask,
    report,
)

pytestmark = pytest.mark.engine

BLOCK = 32
"""Tokens of a cache block; only whole blocks are cached."""


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, pool: EnginePool
) -> Iterator[Server]:
    flags = [*FLAGS, *SMALL, *OPERATOR]
    with serving_tiny(pool, tmp_path_factory.mktemp("served"), flags) as server:
        yield server


def sources(told: dict[str, Any], kind: str) -> int:
    return sum(count[kind] for count in told["sources"].values())


# --- clients that know nothing of SSR ------------------------------------------------


def test_plain_client_sees_an_ordinary_answer(server: Server) -> None:
    response = ask(server)
    assert response.choices[0].finish_reason == "length"
    assert response.usage.completion_tokens == ASK["max_tokens"]
    assert response.model_extra["metrics"]["speculative_decoding"] is not None
    assert "ssr" not in response.model_extra["metrics"]
    assert response.model_extra.get("kv_transfer_params") is None
    assert '"ssr' not in response.model_dump_json()


def test_plain_client_sees_an_ordinary_stream(server: Server) -> None:
    chunks = list(ask(server, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.completion_tokens == ASK["max_tokens"]
    assert all('"ssr' not in chunk.model_dump_json() for chunk in chunks)


def test_the_server_lists_its_model(server: Server) -> None:
    assert [each.id for each in server.client().models.list()] == ["tiny"]


# --- settings of a request -----------------------------------------------------------


def test_client_that_asks_is_told(server: Server) -> None:
    told = report(ask(server, ssr={}))
    assert (told["mode"], told["reason"]) == ("ssr", None)
    assert "clamped" not in told
    assert told["drafts"][0]["budget"] == 8  # the operator's default
    assert len(told["drafts"]) <= 2


def test_client_that_asks_is_told_in_a_stream(server: Server) -> None:
    options = {"include_usage": True}
    chunks = list(ask(server, ssr={}, stream=True, stream_options=options))
    assert report(chunks[-1])["mode"] == "ssr"


def test_settings_change_no_answer(server: Server) -> None:
    texts = {
        ask(server, ssr=ssr).choices[0].message.model_dump_json()
        for ssr in (None, {}, {"speculation": False}, {"draft_budget": [4, 12]})
    }
    assert len(texts) == 1


def test_client_that_asks_for_more_is_clamped_and_told(server: Server) -> None:
    one_by_one = {"speculate_reasoning": False}  # so that no budget is jumped over
    ssr = {"max_drafts": 5, "draft_budget": 4, **one_by_one}
    told = report(ask(server, ssr=ssr))
    assert (told["reason"], told["clamped"]) == ("clamped", {"max_drafts": 2})
    assert len(told["drafts"]) == 2


@pytest.mark.parametrize(
    ("ssr", "words"),
    [
        ({"max_drafts": "two"}, "vllm_xargs.ssr: max_drafts"),
        ({"max_draft": 2}, "vllm_xargs.ssr: max_draft"),
        ({"draft_budget": [5, 4]}, "vllm_xargs.ssr: draft_budget"),
        ({"asked": False}, "vllm_xargs.ssr: asked"),
        ("{", "vllm_xargs.ssr must be a JSON object"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_bad_settings_are_a_400_that_names_the_field(
    server: Server, ssr: Any, words: str, stream: bool
) -> None:
    with pytest.raises(BadRequestError) as caught:
        ask(server, ssr=ssr, stream=stream)
    assert caught.value.status_code == 400
    assert words in caught.value.message
    assert caught.value.param == "ssr"


def test_openais_prediction_is_taken_and_counted(server: Server) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, **LETTERS}
    plain = ask(server, extra=extra)
    [choice] = plain.choices
    prediction = {"type": "content", "content": choice.message.content}
    again = ask(server, extra=extra, prediction=prediction)
    assert again.choices[0].message.content == choice.message.content
    details = again.usage.completion_tokens_details
    assert details.accepted_prediction_tokens > ASK["max_tokens"] / 2
    assert details.rejected_prediction_tokens is not None
    assert '"ssr' not in again.model_dump_json()
    assert plain.usage.completion_tokens_details.accepted_prediction_tokens is None
    options = {"stream": True, "stream_options": {"include_usage": True}}
    *_, last = ask(server, extra=extra, prediction=prediction, **options)
    assert last.usage.completion_tokens_details == details
    with pytest.raises(BadRequestError, match="prediction: "):
        ask(server, extra=extra, prediction={"type": "content"})


def test_a_cache_salt_keeps_prefixes_apart(server: Server) -> None:
    """A draft finds the blocks of its own request, and nobody finds another salt's."""

    def cached(salt: str) -> int:
        messages = [{"role": "user", "content": "salt and pepper, " * 12}]
        response = ask(
            server, ssr={}, extra={**THINK, "cache_salt": salt}, messages=messages
        )
        draft, *_ = report(response)["drafts"]
        assert draft["num_cached_tokens"] > 5 * BLOCK  # of its own request
        return response.usage.prompt_tokens_details.cached_tokens or 0

    assert cached("one") == 0
    assert cached("one") > 5 * BLOCK
    assert cached("two") == 0


# --- metrics -------------------------------------------------------------------------

STARTED, SAVED = "ssr:num_drafts_started", "ssr:num_saved_steps"
PROPOSED, ACCEPTED = "ssr:num_proposed_tokens", "ssr:num_accepted_tokens"


def test_metrics_count_what_the_reports_tell(server: Server) -> None:
    names = (STARTED, PROPOSED, ACCEPTED, SAVED)
    before = [server.counter(name, model_name="tiny") for name in names]
    response = ask(server, ssr={})
    told = report(response)
    after = [server.counter(name, model_name="tiny") for name in names]
    steps = told["num_reasoning_steps"] + told["num_answer_steps"]
    assert [b - a for a, b in zip(before, after, strict=True)] == [
        len(told["drafts"]),
        sources(told, "num_draft_tokens"),
        sources(told, "num_accepted_draft_tokens"),
        response.usage.completion_tokens - steps,
    ]


@pytest.mark.parametrize("fields", [{}, {"stream": True}, {"stop": ["\x00"]}])
def test_clients_that_asked_for_nothing_are_counted(
    server: Server, fields: dict[str, Any]
) -> None:
    before = server.counter(STARTED)
    response = ask(server, **fields)
    if "stream" in fields:
        list(response)
    assert server.counter(STARTED) > before


def test_a_client_that_leaves_is_counted(server: Server) -> None:
    names = (STARTED, PROPOSED)
    before = [server.counter(name) for name in names]
    with ask(server, stream=True, max_tokens=900) as response:
        for number, _ in enumerate(response):
            if number == 12:  # a draft was due at 8
                break
    until = time.monotonic() + 30
    while server.counter(STARTED) == before[0]:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert server.counter(PROPOSED) >= before[1]


def test_every_draft_that_started_has_ended(server: Server) -> None:
    ended = "ssr:num_drafts_finished", "ssr:num_drafts_dropped"
    assert server.counter(STARTED) == sum(map(server.counter, ended)) > 0


# --- the end -------------------------------------------------------------------------


def test_ctrl_c_stops_it_and_leaves_nothing(server: Server) -> None:
    """The last test of this server."""
    assert server.stop() in (0, 130)
    assert not server.leftovers()
