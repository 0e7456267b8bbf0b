"""Compares greedy answers of two engines token by token, under the tie rule.

Two float32 runs with different batch shapes may differ by a rounding tie. So three
things are counted: equal; tie (at the first difference the plain engine's own
logprobs of the two tokens are within `TIE`); different.
"""

from __future__ import annotations

import asyncio
import collections
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage

from langchain_ssr import ChatSSR

TIE = 1e-3
AT_ONCE = 8


@dataclass(frozen=True)
class Case:
    """A request: a prompt, what both engines get, and what only SSR gets."""

    prompt: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    ssr: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain_key(self) -> str:
        return json.dumps([self.prompt, dict(self.settings)], sort_keys=True)


@dataclass
class Answer:
    """What an engine said."""

    token_ids: list[int]
    other_choices: list[list[int]]
    finish_reason: str
    stop_reason: Any
    reasoning: str | None
    content: str | None
    logprobs: list[dict[int, float]]
    speculation: dict[str, Any]
    raw: dict[str, Any]


async def ask(llm: ChatSSR, case: Case, *, speculate: bool) -> Answer:
    """Send one request, straight through the backend."""
    settings = dict(case.settings)
    fields = {k: settings.pop(k) for k in FIELDS if k in settings}
    body = {
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs": True,
        "top_logprobs": 5,
        **settings.pop("extra_body", {}),
    }
    if speculate:
        settings |= case.ssr
    request = llm._request(
        [HumanMessage(case.prompt)],
        None,
        {**settings, **fields, "extra_body": body},
        stream=False,
    )
    raw = await llm._embedded.acomplete(request)
    choice = raw["choices"][0]
    message = choice["message"]
    from langchain_ssr.wire.responses import stats_from_wire

    return Answer(
        token_ids=choice["token_ids"],
        other_choices=[other["token_ids"] for other in raw["choices"][1:]],
        finish_reason=choice["finish_reason"],
        stop_reason=choice.get("stop_reason"),
        reasoning=message.get("reasoning"),
        content=message.get("content"),
        logprobs=[_by_id(entry) for entry in choice["logprobs"]["content"]],
        speculation=stats_from_wire(raw).to_dict(),
        raw=raw,
    )


FIELDS = ("tools", "tool_choice", "response_format")


def _by_id(entry: Mapping[str, Any]) -> dict[int, float]:
    tops = [*entry.get("top_logprobs", []), entry]
    return {int(t["token"].removeprefix("token_id:")): t["logprob"] for t in tops}


async def ask_all(
    llm: ChatSSR, cases: Sequence[Case], *, speculate: bool, at_once: int = AT_ONCE
) -> list[Answer]:
    """Send requests, some at a time; answers in order."""
    gate = asyncio.Semaphore(at_once)

    async def one(case: Case) -> Answer:
        async with gate:
            return await ask(llm, case, speculate=speculate)

    return await asyncio.gather(*map(one, cases))


def compare(plain: Answer, other: Answer) -> str:
    """Say whether two answers are "equal", a "tie" or "different"."""
    for at, (one, two) in enumerate(
        zip(plain.token_ids, other.token_ids, strict=False)
    ):
        if one == two:
            continue
        logprobs = plain.logprobs[at]
        if two in logprobs and abs(logprobs[one] - logprobs[two]) <= TIE:
            return "tie"
        return "different"
    same = (
        len(plain.token_ids) == len(other.token_ids)
        and plain.other_choices == other.other_choices
        and plain.finish_reason == other.finish_reason
        and plain.stop_reason == other.stop_reason
        and plain.reasoning == other.reasoning
        and plain.content == other.content
    )
    return "equal" if same else "different"


class Tally:
    """Counts outcomes over a session and keeps what was different."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.different: list[str] = []

    def add(self, case: Case, plain: Answer, other: Answer) -> None:
        outcome = compare(plain, other)
        self.counts[outcome] += 1
        if outcome == "different":
            self.different.append(describe(case, plain, other))


def describe(case: Case, plain: Answer, other: Answer) -> str:
    at = next(
        (
            i
            for i, (a, b) in enumerate(
                zip(plain.token_ids, other.token_ids, strict=False)
            )
            if a != b
        ),
        min(len(plain.token_ids), len(other.token_ids)),
    )
    return (
        f"{case}\n first difference at {at}: "
        f"plain {plain.token_ids[max(0, at - 3) : at + 4]} {plain.finish_reason} "
        f"{len(plain.token_ids)} tokens, "
        f"ssr {other.token_ids[max(0, at - 3) : at + 4]} {other.finish_reason} "
        f"{len(other.token_ids)} tokens; {other.speculation}"
    )


def check_invariants(answer: Answer) -> None:
    """Check the arithmetic of one answer's statistics (design of the schema)."""
    stats = answer.speculation
    length = len(answer.token_ids) + sum(map(len, answer.other_choices))
    steps = stats["num_reasoning_steps"] + stats["num_answer_steps"]
    assert steps + stats["num_saved_steps"] == length, stats
    tokens = stats["num_reasoning_tokens"] + stats["num_answer_tokens"]
    assert tokens == length, stats
    sources = stats["sources"].values()
    proposed = sum(source["num_draft_tokens"] for source in sources)
    accepted = sum(source["num_accepted_draft_tokens"] for source in sources)
    assert accepted <= proposed
    if vllm := stats["speculative_decoding"]:
        assert vllm["num_draft_tokens"] == proposed, stats
        assert vllm["num_accepted_draft_tokens"] == accepted, stats
        assert sum(vllm["acceptance_histogram"]) == vllm["num_spec_steps"]
    assert stats["overhead"]["num_rejected_tokens"] == proposed - accepted
    if "spans" in stats:
        assert sum(count for _, count in stats["spans"]) == len(answer.token_ids)
    json.dumps(stats, allow_nan=False)
