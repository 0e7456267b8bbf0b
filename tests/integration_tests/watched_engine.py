"""A fake engine that notes in each step whom drafts and proposals stand in the way of.

A *fault* is what must never happen to a real request:

- `waits`: it waits while a draft computes, or while a draft has a seat or cache blocks
  in a step that has tokens left;
- `preempted by a draft`: it loses its cache in a step that computes a draft;
- `preempted by a proposal`: the same, where proposals took new blocks;
- `fork`: a draft begins while it waits.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from vllm.utils.math_utils import cdiv
from vllm.v1.core.sched.scheduler import Scheduler

from tests.integration_tests.fake_engine import FakeEngine, make_scheduler
from tests.integration_tests.fake_worker import BLOCK, START

Plan = list[tuple[int, str, dict[str, Any]]]
"""Requests: the engine step in which each arrives, its id, arguments of `add`."""


class WatchedEngine(FakeEngine):
    """A fake engine that counts faults.

    Attributes:
        faults: How often each happened.
        preempted: How often each real request was preempted.
        first: The step after which each request had its first token.
        last: The step after which each request had its last token.
        busy: How many real requests ran in each step.
    """

    def __init__(self, scheduler: Scheduler, model: Any = None) -> None:
        super().__init__(scheduler, model)
        self.faults: Counter[str] = Counter()
        self.preempted: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.busy: list[int] = []
        self.children: Any = getattr(scheduler, "_parent_of", {})
        self._victims: list[str] = []
        self._schedule, scheduler.schedule = scheduler.schedule, self._watch
        self._preempt = scheduler._preempt_request
        scheduler._preempt_request = self._note_preemption

    def play(self, plan: Plan) -> WatchedEngine:
        """Run requests that arrive in given steps."""
        for at, request_id, of in sorted(plan, key=lambda each: each[0]):
            self.run(lambda at=at: len(self.busy) >= at or not self._works)
            self.add(request_id, **dict(of))
        self.run()
        self.assert_idle()
        return self

    @property
    def _works(self) -> bool:
        return bool(self.scheduler.has_requests() or self.out)

    def take(self) -> None:
        """Take in the oldest step, and note who got tokens."""
        before, waiting = set(self.children), self._waiting()
        super().take()
        if waiting and set(self.children) - before:
            self.faults["fork"] += 1
        for request_id, tokens in self.tokens.items():
            if tokens:
                self.first.setdefault(request_id, len(self.busy))
        for request_id in self.finished:
            self.last.setdefault(request_id, len(self.busy))

    def _waiting(self) -> list[str]:
        waiting = [request.request_id for request in self.scheduler.waiting]
        return [each for each in waiting if each not in self.children]

    def _note_preemption(self, request: Any, *args: Any, **kwargs: Any) -> None:
        if request.request_id not in self.children:
            self._victims.append(request.request_id)
            self.preempted[request.request_id] += 1
        self._preempt(request, *args, **kwargs)

    def _watch(self, *args: Any, **kwargs: Any) -> Any:
        self._victims.clear()
        out = self._schedule(*args, **kwargs)
        running = {request.request_id for request in self.scheduler.running}
        self.busy.append(len(running - set(self.children)))
        drafts = set(self.children) & set(out.num_scheduled_tokens)
        left = self.scheduler.max_num_scheduled_tokens - out.total_num_scheduled_tokens
        held = set(self.children) & running and left
        if self._waiting() and (drafts or held):
            self.faults["waits"] += 1
        if self._victims and drafts:
            self.faults["preempted by a draft"] += 1
        if self._victims and self._num_blocks_of_proposals(out):
            self.faults["preempted by a proposal"] += 1
        return out

    def _num_blocks_of_proposals(self, out: Any) -> int:
        count = 0
        for request_id, proposed in out.scheduled_spec_decode_tokens.items():
            after = self.scheduler.requests[request_id].num_computed_tokens
            count += cdiv(after, BLOCK) - cdiv(after - len(proposed), BLOCK)
        return count


def play(
    cls: type[Scheduler],
    plan: Plan,
    model: Any = None,
    *,
    step_tokens: int = 256,
    **limits: Any,
) -> WatchedEngine:
    """Run requests on a scheduler with limits.

    Args:
        cls: The scheduler.
        plan: The requests.
        model: The model; default: the usual script.
        step_tokens: Most tokens of one engine step.
        limits: See `make_scheduler`.
    """
    # Two settings of vLLM; it sets the second one to the first if it is not given.
    steps = {f"max_num_{name}_tokens": step_tokens for name in ("batched", "scheduled")}
    return WatchedEngine(make_scheduler(cls, **steps, **limits), model).play(plan)


def prompt(request_id: str, num_words: int) -> list[int]:
    """Return a prompt that shares no cache block with another request's."""
    words = [40 + i % 150 for i in range(num_words)]
    return [10, *map(ord, request_id), *words, START]
