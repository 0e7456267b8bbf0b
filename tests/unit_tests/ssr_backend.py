"""A backend that speculates from memory: statistics, and drafts for who asks."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import AsyncGenerator, Generator

from langchain_ssr import ChatSSR, DraftText
from langchain_ssr.sources import SOURCES

DRAFTS = [DraftText(0, "He"), DraftText(0, "llo"), DraftText(1, "Hello")]
REASONING = ["They ", "greet."]


def answer(text: str = "", *calls: tuple[str, dict]) -> dict:
    """A message of the model: text, and calls as pairs of a tool and arguments."""
    return {
        "content": text,
        "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": json.dumps(a)}}
            for name, a in calls
        ],
    }


def metrics_and_usage(number: int) -> dict:
    """What response `number` reports; every count differs from its neighbours'."""
    sources = {
        name: {"num_draft_tokens": 0, "num_accepted_draft_tokens": 0}
        for name in SOURCES
    }
    proposed, accepted = 20 + number, 10 + number
    sources["draft_prefix"] = {
        "num_draft_tokens": proposed,
        "num_accepted_draft_tokens": accepted,
    }
    report = {
        "mode": "ssr",
        "reason": "busy" if number % 2 else None,
        "num_reasoning_steps": 8,
        "num_answer_steps": 4,
        "sources": sources,
        "drafts": [{"index": 0}, {"index": 1}],
        "overhead": {
            "num_draft_tokens": 7,
            "num_rejected_tokens": 10,
            "num_prefill_tokens": number,
        },
        "timing": {"answer_time_ms": 2.5},
    }
    block = {
        "num_spec_steps": 3,
        "num_draft_tokens": proposed,
        "num_accepted_draft_tokens": accepted,
    }
    return {
        "metrics": {"ssr": report, "speculative_decoding": block},
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 22 + number,
            "total_tokens": 25 + number,
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
    }


def _settings(request: dict) -> dict:
    return json.loads(request.get("vllm_xargs", {}).get("ssr", "{}"))


class SSRBackend:
    """Gives the answers in turn, the last one for ever."""

    def __init__(self, *answers: dict) -> None:
        self.requests: list[dict] = []
        self.open_streams = 0
        self._answers = answers or (answer("Hello"),)
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @property
    def settings(self) -> list[dict]:
        """The speculation settings of every request."""
        return [_settings(request) for request in self.requests]

    def _begin(self, request: dict) -> tuple[dict, dict, dict]:
        with self._lock:
            number = next(self._numbers)
            self.requests.append(request)
        message = dict(self._answers[min(number, len(self._answers) - 1)])
        message["tool_calls"] = [
            {"id": f"c{number}-{index}", "index": index, **call}
            for index, call in enumerate(message["tool_calls"])
        ]
        head = {"id": f"r{number}", "model": request["model"]}
        return head, message, metrics_and_usage(number)

    def complete(self, request: dict) -> dict:
        head, message, tail = self._begin(request)
        message["reasoning"] = "".join(REASONING)
        choices = [
            {"index": index, "message": message, "finish_reason": "stop"}
            for index in range(request.get("n", 1))
        ]
        return {**head, "choices": choices, **tail}

    async def acomplete(self, request: dict) -> dict:
        return self.complete(request)

    def _chunks(self, request: dict) -> Generator[dict]:
        head, message, tail = self._begin(request)
        deltas = [{"reasoning": REASONING[0]}]
        if _settings(request).get("stream_drafts"):
            deltas += [
                {"ssr_draft": {"index": d.index, "text": d.text}} for d in DRAFTS
            ]
        deltas += [{"reasoning": REASONING[1]}, {"content": message["content"]}]
        deltas += [{"tool_calls": [call]} for call in message["tool_calls"]]
        for delta in deltas:
            yield {**head, "choices": [{"index": 0, "delta": delta}]}
        yield {
            **head,
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        }
        yield {**head, "choices": [], **tail}

    def stream(self, request: dict) -> Generator[dict]:
        self.open_streams += 1
        try:
            yield from self._chunks(request)
        finally:
            self.open_streams -= 1

    async def astream(self, request: dict) -> AsyncGenerator[dict]:
        self.open_streams += 1
        try:
            for chunk in self._chunks(request):
                yield chunk
        finally:
            self.open_streams -= 1


def without_engine(monkeypatch, *answers: dict) -> SSRBackend:
    """As `use`, and nothing else that a model is asked for needs an engine either."""

    async def awarmup(llm: ChatSSR) -> ChatSSR:
        return llm

    stand_ins = {
        "warmup": lambda llm: llm,
        "awarmup": awarmup,
        "engine_info": lambda _: {"max_model_len": 2048, "speculation": True},
        "get_token_ids": lambda _, text: [ord(letter) for letter in text],
        "get_prompt_token_ids": lambda *_, **__: [1, 2, 3],
        "get_num_tokens_from_messages": lambda *_, **__: 3,
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(ChatSSR, name, stand_in)
    return use(monkeypatch, *answers)


def use(monkeypatch, *answers: dict) -> SSRBackend:
    """Let every `ChatSSR` answer from a new backend of this kind."""
    backend = SSRBackend(*answers)
    monkeypatch.setattr(ChatSSR, "_backend", property(lambda _: backend))
    return backend
