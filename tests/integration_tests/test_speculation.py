"""Speculation settings and statistics, through the chat model on a real engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ssr import ChatSSR
from langchain_ssr.errors import InvalidRequestError
from tests.integration_tests.asking import LETTERS
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_answers import essence, merged

pytestmark = pytest.mark.engine

PROMPT = "hello there"
SETTINGS: dict[str, Any] = {
    "enable_thinking": True,
    "thinking_budget": 60,
    "max_tokens": 160,
    "draft_budget": 20,
    "iterative": False,
    "extra_body": LETTERS,  # letters; the budget closes the reasoning
}


def stats(message: AIMessage) -> dict[str, Any]:
    return message.response_metadata["speculation"]


@pytest.fixture
def llm(pool: EnginePool) -> ChatSSR:
    return pool.model("qwen3")


def without_times(message: AIMessage) -> dict[str, Any]:
    whole = essence(message)
    for draft in whole["speculation"]["drafts"]:
        draft.pop("duration_ms")
    return whole


def test_a_draft_saves_steps_and_says_so(llm: ChatSSR) -> None:
    told = stats(llm.invoke(PROMPT, **SETTINGS))
    assert told["mode"] == "ssr"
    assert told["reason"] is None
    assert told["num_reasoning_tokens"] + told["num_answer_tokens"] == 160
    steps = told["num_reasoning_steps"] + told["num_answer_steps"]
    assert steps + told["num_saved_steps"] == 160
    assert told["num_saved_steps"] > 40
    (draft,) = told["drafts"]
    assert draft["budget"] == 20
    assert draft["num_tokens"] > 0
    assert draft["finish_reason"] in {"stop", "length", "cut"}
    assert draft["num_cached_tokens"] > 0
    assert told["sources"]["draft_prefix"]["num_accepted_draft_tokens"] > 0
    assert told["speculative_decoding"]["num_spec_tokens"] == 32


@pytest.mark.kind(20)
async def test_stats_are_equal_in_every_way_of_asking(llm: ChatSSR) -> None:
    await llm.ainvoke(PROMPT, **SETTINGS)  # from now on the prompt is cached
    expected = without_times(await asyncio.to_thread(llm.invoke, PROMPT, **SETTINGS))
    assert without_times(await llm.ainvoke(PROMPT, **SETTINGS)) == expected
    streamed = await asyncio.to_thread(lambda: list(llm.stream(PROMPT, **SETTINGS)))
    assert without_times(merged(streamed)) == expected
    astreamed = [chunk async for chunk in llm.astream(PROMPT, **SETTINGS)]
    assert without_times(merged(astreamed)) == expected
    for chunk in streamed[:-1]:
        assert "speculation" not in chunk.response_metadata


def test_settings_work_wherever_they_stand(pool: EnginePool) -> None:
    base = {**SETTINGS, "speculation_stats": "detailed"}
    for settings, call in (
        (base, {}),
        ({"model_kwargs": base}, {}),
        ({}, base),
    ):
        told = stats(pool.model("qwen3", **settings).invoke(PROMPT, **call))
        assert [draft["budget"] for draft in told["drafts"]] == [20]
        assert sum(count for _, count in told["spans"]) == 160
        assert "".join(told["span_texts"])
        events = [event["event"] for event in told["timeline"]]
        assert next(e for e in events if e != "verified") == "draft_started"
    bound = pool.model("qwen3").bind(**base)
    assert len(stats(bound.invoke(PROMPT))["drafts"]) == 1


@pytest.mark.parametrize(
    ("settings", "budgets"),
    [
        ({"draft_budget": 10, "iterative": True, "max_drafts": 3}, [10, 20, 30]),
        ({"draft_budget": [8, 40], "iterative": True}, [8, 40]),
        ({"draft_budget": 10, "draft_interval": 30, "iterative": True}, [10, 40]),
        ({"max_drafts": 0}, []),
    ],
)
def test_drafts_come_where_they_are_wanted(
    llm: ChatSSR, settings: dict[str, Any], budgets: list[int]
) -> None:
    one_by_one = {"speculate_reasoning": False}
    told = stats(llm.invoke(PROMPT, **{**SETTINGS, **one_by_one, **settings}))
    assert [draft["budget"] for draft in told["drafts"]] == budgets


def test_a_call_can_turn_it_off(llm: ChatSSR) -> None:
    told = stats(llm.invoke(PROMPT, **SETTINGS, speculation=False))
    assert (told["mode"], told["reason"]) == ("off", "disabled")
    assert told["num_saved_steps"] == 0
    assert told["drafts"] == []


def test_no_reasoning_is_a_reason(llm: ChatSSR) -> None:
    told = stats(llm.invoke(PROMPT, max_tokens=40, enable_thinking=False))
    assert told["reason"] == "no_reasoning"
    assert told["drafts"] == []


@pytest.mark.parametrize("speculation", [True, False])
def test_several_answers_are_not_drafted_for(llm: ChatSSR, speculation: bool) -> None:
    several = {"n": 2, "temperature": 1.0, "seed": 3, "max_tokens": 40}
    result = llm.generate(
        [[HumanMessage(PROMPT)]],
        **{**SETTINGS, **several, "speculation": speculation},
    )
    assert len(result.generations[0]) == 2
    message = result.generations[0][0].message
    told = stats(message)
    assert (told["mode"], told["reason"]) == ("off", "n")
    tokens = message.response_metadata["token_usage"]["completion_tokens"]
    assert told["num_reasoning_steps"] + told["num_answer_steps"] == tokens == 80


@pytest.mark.parametrize(
    "raw", ["no json", "[1]", '{"draft_bugdet": 3}', '{"draft_budget": 0}']
)
def test_a_bad_raw_setting_is_refused_by_name(llm: ChatSSR, raw: str) -> None:
    with pytest.raises(InvalidRequestError, match="ssr"):
        llm.invoke(PROMPT, extra_body={"vllm_xargs": {"ssr": raw}})
    assert llm.invoke(PROMPT).content is not None


@pytest.mark.embedded
def test_a_client_that_asks_for_nothing_sees_nothing(llm: ChatSSR) -> None:
    request = llm._request([HumanMessage(PROMPT)], None, SETTINGS, stream=False)
    del request["vllm_xargs"]
    raw = llm._embedded.complete(request)
    assert "ssr" not in raw["metrics"]
    assert "kv_transfer_params" not in raw


@pytest.mark.embedded
def test_turned_off_for_good_it_is_a_stock_engine(
    pool: EnginePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = pool.model("qwen3", speculation=False)
    engine = plain._embedded.running()
    config = engine._engine.vllm_config
    assert config.speculative_config is None
    assert config.scheduler_config.scheduler_cls is None
    told = stats(plain.invoke(PROMPT, min_p=0.1, max_tokens=8))
    assert (told["mode"], told["reason"]) == ("off", "disabled")
    monkeypatch.setenv("SSR_DISABLE", "1")
    same = ChatSSR(model=plain.model, engine_kwargs=plain.engine_kwargs)
    assert same._embedded.running() is engine
