"""An engine that answers from a script, and models of its answers' statistics."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk

from langchain_ssr.bench.asking import Answer
from langchain_ssr.bench.items import Item, Verdict
from langchain_ssr.bench.modes import Engine
from langchain_ssr.errors import ContextLengthError
from langchain_ssr.stats import SpeculationStats

REASONING, ANSWER = 40, 60
"""Tokens of every answer."""
STEPS = {"plain": (40, 60), "ssr": (30, 20)}
SECONDS = {"plain": 10.0, "ssr": 5.0, "ngram": 8.0}
DRAFT = {
    "index": 0,
    "budget": 16,
    "num_reasoning_tokens": 16,
    "num_tokens": 9,
    "num_steps": 10,
    "num_cached_tokens": 0,
    "num_accepted_draft_tokens": 5,
    "finish_reason": "stop",
    "duration_ms": 400.0,
}


def stats(kind: str) -> SpeculationStats:
    """What an engine of this kind says of an answer."""
    told = SpeculationStats(
        num_reasoning_tokens=REASONING, num_answer_tokens=ANSWER, reason="disabled"
    )
    if kind == "ngram":
        told.num_reasoning_steps, told.num_answer_steps = 40, 35
        told.num_saved_steps = 25
        told.timing.answer_time_ms = 700.0  # only a scheduler's report has it
        told.speculative_decoding = {
            "num_accepted_draft_tokens": 25,
            "num_draft_tokens": 70,
        }
        return told
    told.num_reasoning_steps, told.num_answer_steps = STEPS[kind]
    if kind == "ssr":
        told.mode, told.reason = "ssr", None
        told.num_saved_steps = 50
        told.sources["draft_prefix"].num_accepted_draft_tokens = 5
        told.sources["prompt"].num_accepted_draft_tokens = 45
        told.drafts = [DRAFT]
        told.overhead.num_draft_tokens = 9
        told.overhead.num_rejected_tokens = 11
        told.timing.queue_time_ms = 1.0
        told.timing.time_to_first_token_ms = 99.0
        told.timing.time_to_first_draft_ms = 1500.0
        told.timing.reasoning_time_ms = 1450.0
    return told


def kind_of(engine: Engine) -> str:
    return "ssr" if engine.speculation else engine.method or "plain"


class FakeEngines:
    """Starts engines, and remembers which and what they were asked."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.alive: list[str] = []
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.dies_at: int | None = None
        self.texts: dict[str, str] = {}
        """What is answered by kind of engine, where it is not "right"."""
        self.seconds = dict(SECONDS)

    @contextlib.contextmanager
    def open(self, engine: Engine) -> Iterator[_Asker]:
        kind = kind_of(engine)
        self.started.append(kind)
        self.alive.append(kind)
        try:
            yield _Asker(self, kind)
        finally:
            self.alive.remove(kind)


class _Asker:
    def __init__(self, engines: FakeEngines, kind: str) -> None:
        self._engines, self._kind = engines, kind

    def info(self) -> dict[str, Any]:
        return {"device": "cpu", "vllm_version": "0", "dtype": "float32"}

    def ask(self, item: Item, settings: Mapping[str, Any]) -> Answer:
        engines = self._engines
        if len(engines.asked) == engines.dies_at:
            raise KeyboardInterrupt
        engines.asked.append((self._kind, item.id, dict(settings)))
        if "long" in item.id:
            raise ContextLengthError("too long", max_tokens=1, num_tokens=2)
        seconds = engines.seconds[self._kind]
        message = AIMessageChunk(
            content=engines.texts.get(self._kind, "right"),
            additional_kwargs={"reasoning_content": "hm"},
            usage_metadata={
                "input_tokens": 7,
                "output_tokens": REASONING + ANSWER,
                "total_tokens": 7 + REASONING + ANSWER,
            },
            response_metadata={
                "speculation": stats(self._kind).to_dict(),
                "finish_reason": "stop",
            },
        )
        return Answer(message, 0.5, seconds / 2, seconds)


def item(name: str, **fields: Any) -> Item:
    messages = [{"role": "user", "content": f"Please {name}"}]
    return Item(**{"id": name, "workload": "w", "messages": messages, **fields})


def judge(message: Mapping[str, Any]) -> Verdict:
    """Give full marks to "right"."""
    return Verdict(float(message["content"] == "right"))
