"""Draws samples from a speculating engine, and keeps what each token came from."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from benchmarks.distribution_cases import Asked, Case
from langchain_ssr import ChatSSR

SYSTEM = "Hi"
"""Short: the template's own system message is longer."""
AT_ONCE = 48
"""Requests that run at a time. Of many that arrive in one step, vLLM admits all at
once, but the scheduler drops drafts for them: more at a time means fewer drafts."""
_DRAFT = ("draft_prefix", "draft_suffix")


@dataclass(frozen=True)
class Sample:
    """One answered request.

    Attributes:
        prompt: Its token ids.
        tokens: The generated token ids, reasoning included.
        from_draft: For each of them, whether it is an accepted token of a draft.
        proposed: Draft tokens that were proposed where the answer agreed with a draft
            from its first token on, and elsewhere.
        accepted: Of these, the accepted ones.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    from_draft: tuple[bool, ...]
    proposed: tuple[int, int]
    accepted: tuple[int, int]

    @classmethod
    def of(cls, response: Mapping[str, Any]) -> Sample:
        """Read a chat completion with token ids and a detailed report."""
        choice = response["choices"][0]
        report = response["metrics"]["ssr"]
        counts = [report["sources"][name] for name in _DRAFT]
        return cls(
            tuple(response["prompt_token_ids"]),
            tuple(choice["token_ids"]),
            tuple(source in _DRAFT for source, n in report["spans"] for _ in range(n)),
            (counts[0]["num_draft_tokens"], counts[1]["num_draft_tokens"]),
            (
                counts[0]["num_accepted_draft_tokens"],
                counts[1]["num_accepted_draft_tokens"],
            ),
        )


def draw(
    llm: ChatSSR, case: Case, num_samples: int, seed: int
) -> dict[str, list[Sample]]:
    """Draw samples of a case.

    Args:
        llm: A chat model on the engine.
        case: What to ask.
        num_samples: How many samples of each of the case's requests.
        seed: Where the requests' seeds come from.

    Returns:
        The samples by the name of what was asked.
    """
    rng = random.Random(f"{seed} {case.name}")
    requests = []
    for asked in case.asked:
        same = _request(llm, asked)
        requests.append(
            [
                same | {"seed": rng.getrandbits(62)} if asked.seeded else same
                for _ in range(num_samples)
            ]
        )
    mixed = [request for each in zip(*requests, strict=True) for request in each]
    samples = asyncio.run(_ask_all(llm, mixed))
    step = len(case.asked)
    return {asked.name: samples[i::step] for i, asked in enumerate(case.asked)}


def _request(llm: ChatSSR, asked: Asked) -> dict[str, Any]:
    messages = [SystemMessage(SYSTEM), HumanMessage(asked.prompt)]
    settings = {k: v for k, v in asked.settings().items() if v is not None}
    return dict(llm._request(messages, None, settings, stream=False))  # noqa: SLF001


async def _ask_all(llm: ChatSSR, requests: Sequence[Mapping[str, Any]]) -> list[Sample]:
    gate = asyncio.Semaphore(AT_ONCE)
    backend = llm._embedded  # noqa: SLF001 - token ids do not fit into a message

    async def ask(request: Mapping[str, Any]) -> Sample:
        async with gate:
            return Sample.of(await backend.acomplete(dict(request)))

    return await asyncio.gather(*map(ask, requests))
