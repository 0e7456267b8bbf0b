"""64 clients of a server at once: some stream, some leave or cancel, all are answered.

The plain answers are the same server's, with speculation off for the request. At a
first difference its own logprobs of the two tokens decide whether that is a tie.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from benchmarks.soak_requests import Planned, make_cases, plan
from langchain_ssr import ChatSSR
from langchain_ssr.wire.responses import stats_from_wire
from tests.exactness.asking import (
    Answer,
    Case,
    Choice,
    ask,
    ask_all,
    build_request,
)
from tests.exactness.equality import check_statistics, compare, describe
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.served import (
    Server,
    assert_served_none,
    serving_tiny,
)

pytestmark = pytest.mark.engine

CLIENTS, SEED = 64, 5
QUIET_SECONDS = 30
FLAGS = [
    *("--dtype", "float32", "--max-model-len", "1024"),
    *("--served-model-name", "tiny"),
    *("--kv-cache-memory-bytes", str(256 << 20)),
    *("--max-num-seqs", str(CLIENTS + CLIENTS // 2)),  # seats for drafts, too
    *("--logprobs-mode", "processed_logprobs"),
]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, pool: EnginePool
) -> Iterator[Server]:
    with serving_tiny(pool, tmp_path_factory.mktemp("many"), FLAGS) as server:
        yield server


@pytest.fixture
def llm(server: Server) -> ChatSSR:
    return ChatSSR(model="tiny", base_url=f"{server.url}/v1")


# --- answers --------------------------------------------------------------------------


async def stream_whole(llm: ChatSSR, case: Case) -> Answer:
    """Ask for a stream, and put its answer together."""
    texts = {"reasoning": "", "content": ""}
    told: dict[str, Any] = {"token_ids": [], "finish_reason": None, "message": {}}
    last: dict[str, Any] = {}
    request = build_request(llm, case, speculate=True)
    async with contextlib.aclosing(llm._backend.astream(request)) as chunks:
        async for last in chunks:
            for choice in last.get("choices") or []:
                told["token_ids"] += choice.get("token_ids") or []
                for name in ("finish_reason", "stop_reason"):
                    if choice.get(name) is not None:
                        told[name] = choice[name]
                for name in texts:
                    texts[name] += choice["delta"].get(name) or ""
    told["message"] = {name: text or None for name, text in texts.items()}
    return Answer([Choice.from_wire(told)], stats_from_wire(last).to_dict())


def with_no_empty_text(answer: Answer) -> Answer:
    """Read an empty text as none: which of them comes depends on the way of asking."""
    choices = [
        replace(c, reasoning=c.reasoning or None, content=c.content or None)
        for c in answer.choices
    ]
    return replace(answer, choices=choices)


@dataclass
class Clients:
    """What came of all clients."""

    outcomes: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    """Requests that were left or cancelled, and those that were over too soon."""
    different: list[str] = field(default_factory=list)
    drafts: int = 0

    async def work(
        self, llm: ChatSSR, number: int, planned: Planned, plain: Answer
    ) -> None:
        """Be one client: perhaps give a request up, then get an answer."""
        if number % 4 == 2:
            await self._leave(llm, planned)
        if number % 4 == 3:
            await self._cancel(llm, planned)
        streams = number % 2 == 1
        answer = await (
            stream_whole(llm, planned.case)
            if streams
            else ask(llm, planned.case, speculate=True)
        )
        check_statistics(answer)
        self.drafts += len(answer.speculation["drafts"])
        plain, answer = with_no_empty_text(plain), with_no_empty_text(answer)
        outcome = compare(plain, answer)
        self.outcomes[outcome] += 1
        if outcome == "different":
            self.different.append(describe(planned.case, plain, answer))

    async def _leave(self, llm: ChatSSR, planned: Planned) -> None:
        request = build_request(llm, planned.case, speculate=True)
        async with contextlib.aclosing(llm._backend.astream(request)) as chunks:
            left = planned.chunks
            async for _ in chunks:
                left -= 1
                if left < 0:
                    self.ended["left"] += 1
                    return
        self.ended["too short to leave"] += 1

    async def _cancel(self, llm: ChatSSR, planned: Planned) -> None:
        asked = asyncio.create_task(ask(llm, planned.case, speculate=True))
        await asyncio.wait([asked], timeout=planned.seconds)
        if asked.cancel():
            await asyncio.wait([asked])
            self.ended["cancelled"] += 1
        else:
            await asked
            self.ended["too fast to cancel"] += 1


async def be_all_clients(llm: ChatSSR) -> Clients:
    cases = [c for c in make_cases(SEED, CLIENTS) if "n" not in c.settings]
    off = [replace(c, settings={**c.settings, "speculation": False}) for c in cases]
    plain = await ask_all(llm, off, speculate=False)
    drawn = (plan(SEED, number, cases) for number in range(10 * CLIENTS))
    wanted = [each for each in drawn if each.kind not in ("malformed", "sampled")]
    clients = Clients()
    await asyncio.gather(
        *(
            clients.work(llm, number, planned, plain[planned.index])
            for number, planned in enumerate(wanted[:CLIENTS])
        )
    )
    return clients


def test_64_clients_at_once(server: Server, llm: ChatSSR, record_property: Any) -> None:
    clients = asyncio.run(be_all_clients(llm))
    assert_served_none(server.url, QUIET_SECONDS)
    told = {
        "answers": clients.outcomes.total(),
        "different": clients.outcomes["different"],
        "blocks_in_use": server.blocks_in_use(),
    }
    more = {
        "ties": clients.outcomes["tie"],
        "drafts": clients.drafts,
        **dict(clients.ended),
    }
    record_property("many_clients", json.dumps(told | more))
    print("\nmany clients:", json.dumps(told | more))  # noqa: T201
    expected = {"answers": CLIENTS, "different": 0, "blocks_in_use": 0}
    assert told == expected, "\n".join(clients.different[:5])
    assert clients.ended["left"] >= CLIENTS // 16
    assert clients.ended["cancelled"] >= CLIENTS // 16
    assert clients.drafts > 0
    assert server.counter("ssr:num_drafts_started") >= clients.drafts


# --- nothing of a client reaches another ----------------------------------------------

EACH = 3
"""Letters that only one client's model may write."""
MARKERS = ("<think>", "</think>")


async def hear(llm: ChatSSR, number: int) -> str:
    """Ask in one's own letters; return all that is heard: answer, drafts, spans."""
    first = tiny_models.TEXT + EACH * number
    ids = range(first, first + EACH)
    call = {
        "enable_thinking": True,
        "thinking_budget": 60,
        "max_tokens": 120,
        "draft_budget": 8,
        "speculate_reasoning": False,  # so that there is time to hear of a draft
        "speculation_stats": "detailed",
        "stream_drafts": True,
        "prediction": letters_of(number) * 10,
        "extra_body": {"allowed_token_ids": list(ids)},
    }
    prompt = [HumanMessage(letters_of(number) * 5)]
    request = llm._request(prompt, None, call, stream=True)
    heard: list[str] = []
    drafts = 0
    async with contextlib.aclosing(llm._backend.astream(request)) as chunks:
        async for chunk in chunks:
            for choice in chunk.get("choices") or []:
                delta = choice["delta"]
                heard += [delta.get(name) or "" for name in ("reasoning", "content")]
                if piece := delta.get("ssr_draft"):
                    heard.append(piece["text"])
                    drafts += 1
            heard += (chunk.get("metrics") or {}).get("ssr", {}).get("span_texts", [])
    assert drafts > 0
    text = "".join(heard)
    for marker in MARKERS:
        text = text.replace(marker, "")
    return text


def letters_of(number: int) -> str:
    """Return the letters of a client; the tiny models' run from `_` to `z`."""
    first = ord("_") + EACH * number
    return "".join(map(chr, range(first, first + EACH)))


def test_a_client_hears_its_own_letters_only(server: Server, llm: ChatSSR) -> None:
    async def all_hear() -> list[str]:
        return await asyncio.gather(*(hear(llm, number) for number in range(8)))

    for number, heard in enumerate(asyncio.run(all_hear())):
        assert heard.strip()
        assert set(heard) <= {*letters_of(number), "\n", " "}, (number, heard)
    assert_served_none(server.url, QUIET_SECONDS)
