"""Requests of the equality tests, and what an engine answers to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage

from langchain_ssr import ChatSSR
from langchain_ssr.errors import EngineDiedError
from langchain_ssr.wire.responses import stats_from_wire

AT_ONCE = 16
"""Requests under way, unless an engine wants it otherwise."""


@dataclass(frozen=True)
class Case:
    """A request: a prompt, what both engines get, and what only SSR gets.

    Attributes:
        prompt: The user's message.
        settings: Call settings and request fields for both engines.
        ssr: Call settings for SSR alone.
        adapter: Name of the LoRA adapter; None for the model itself.
        label: What a reader knows it by.
    """

    prompt: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    ssr: Mapping[str, Any] = field(default_factory=dict)
    adapter: str | None = None
    label: str = ""

    @property
    def plain_key(self) -> str:
        """Equal for cases that are the same to a plain engine."""
        same = [self.prompt, dict(self.settings), self.adapter]
        return json.dumps(same, sort_keys=True)


@dataclass
class Choice:
    """One of the answers to a request."""

    token_ids: list[int]
    finish_reason: str
    stop_reason: Any
    reasoning: str | None
    content: str | None
    calls: list[tuple[str, str]]
    logprobs: list[dict[int, float]]
    """For each token the logprobs of itself and the likeliest, by token id."""

    @classmethod
    def from_wire(cls, choice: Mapping[str, Any]) -> Choice:
        """Read a choice of a response."""
        message = choice["message"]
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        logprobs = choice.get("logprobs") or {}
        return cls(
            token_ids=choice["token_ids"],
            finish_reason=choice["finish_reason"],
            stop_reason=choice.get("stop_reason"),
            reasoning=message.get("reasoning"),
            content=message.get("content"),
            calls=[(call["name"], call["arguments"]) for call in calls],
            logprobs=[_by_id(entry) for entry in logprobs.get("content") or ()],
        )

    @property
    def text(self) -> tuple[Any, ...]:
        """All that a reader sees, and why it ended."""
        told = self.reasoning, self.content, self.calls
        return *told, self.finish_reason, self.stop_reason


@dataclass
class Answer:
    """What an engine said."""

    choices: list[Choice]
    speculation: dict[str, Any]


def _by_id(entry: Mapping[str, Any]) -> dict[int, float]:
    tops = [*entry.get("top_logprobs", []), entry]
    return {int(t["token"].removeprefix("token_id:")): t["logprob"] for t in tops}


def merge(settings: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add settings to others, in place; those of `extra_body` one by one."""
    for name, value in more.items():
        if name == "extra_body":
            settings[name] = {**settings.get(name, {}), **value}
        else:
            settings[name] = value


def build_request(llm: ChatSSR, case: Case, *, speculate: bool) -> dict[str, Any]:
    """Return the request that is sent for a case.

    Args:
        llm: The chat model.
        case: The request.
        speculate: Whether it holds what only SSR gets.
    """
    body = {
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs": True,
        "top_logprobs": 5,
    }
    call: dict[str, Any] = {"extra_body": body}
    merge(call, case.settings)
    if speculate:
        merge(call, case.ssr)
    if not call["extra_body"]["logprobs"]:
        del call["extra_body"]["top_logprobs"]
    request = llm._request([HumanMessage(case.prompt)], None, call, stream=False)
    if case.adapter:
        request["model"] = case.adapter
    return request


async def ask(llm: ChatSSR, case: Case, *, speculate: bool) -> Answer:
    """Send one request, straight through the backend."""
    request = build_request(llm, case, speculate=speculate)
    raw = await llm._backend.acomplete(request)
    return Answer(
        [Choice.from_wire(choice) for choice in raw["choices"]],
        stats_from_wire(raw).to_dict(),
    )


Outcome = Answer | Exception
"""An answer, or the error in its place."""


class PlainError(Exception):
    """The plain engine did not answer: the case is wrong."""


async def ask_all(
    llm: ChatSSR,
    cases: Sequence[Case],
    *,
    speculate: bool,
    at_once: int = AT_ONCE,
    done: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Send requests, some at a time.

    Args:
        llm: The chat model.
        cases: The requests.
        speculate: Whether to send what only SSR gets.
        at_once: How many requests are under way.
        done: Called after each answer.

    Returns:
        The answers in order; an exception where SSR gave none.

    Raises:
        PlainError: The plain engine gave none.
    """
    gate = asyncio.Semaphore(at_once)
    died: list[EngineDiedError] = []

    async def one(case: Case) -> Outcome:
        async with gate:
            if died:  # another engine would start, and perhaps die of the same
                return died[0]
            try:
                return await ask(llm, case, speculate=speculate)
            except Exception as error:
                if not speculate:
                    raise PlainError(f"the plain engine refused {case}") from error
                if isinstance(error, EngineDiedError):
                    died.append(error)
                return error
            finally:
                done()

    return await asyncio.gather(*map(one, cases))
