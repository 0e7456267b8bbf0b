"""What happened to one request, and when: times, and the details that a client may ask.

The report that leaves the engine is put together in report.py.
"""

from __future__ import annotations

import time
from typing import Any


class Record:
    """Times and events of one request.

    Args:
        detailed: Whether spans and a timeline are kept, too.
    """

    def __init__(self, *, detailed: bool) -> None:
        """Begin now."""
        self.detailed = detailed
        self.spans: list[list[Any]] = []
        """`[source or "decoded", number of tokens]`, in order. The answer begins with
        a span of its own."""
        self.timeline: list[dict[str, Any]] = []
        self._num_tokens = 0
        self._next_is_apart = False
        self._start = self._last = time.monotonic()
        self._reasoned: float | None = None
        self._drafted: float | None = None
        self._drafts: list[tuple[float, float | None]] = []

    def step(self, source: str, num_tokens: int, num_accepted: int) -> None:
        """Note a step's tokens.

        Args:
            source: What was proposed from.
            num_tokens: New tokens.
            num_accepted: Accepted tokens, before stops cut them.
        """
        self._last = time.monotonic()
        if not self.detailed:
            return
        self._num_tokens += num_tokens
        accepted = min(num_accepted, num_tokens)
        if accepted:
            self._event("verified", source=source, num_tokens=accepted)
        for name, count in ((source, accepted), ("decoded", num_tokens - accepted)):
            if count:
                self._add_span(name, count)

    def _add_span(self, name: str, count: int) -> None:
        if self.spans and self.spans[-1][0] == name and not self._next_is_apart:
            self.spans[-1][1] += count
        else:
            self.spans.append([name, count])
        self._next_is_apart = False

    def reasoning_ended(self, num_answer_tokens: int) -> None:
        """Note that the last step ended the reasoning.

        Args:
            num_answer_tokens: Tokens of that step which are the answer's.
        """
        self._reasoned = self._last
        if self.detailed:
            self._split_spans(num_answer_tokens)
        self._event("reasoning_ended", num_tokens=self._num_tokens - num_answer_tokens)

    def _split_spans(self, num_answer_tokens: int) -> None:
        """Let the answer begin with a span of its own."""
        self._next_is_apart = not num_answer_tokens
        answer: list[list[Any]] = []
        while num_answer_tokens > 0:
            source, count = self.spans.pop()
            of_answer = min(count, num_answer_tokens)
            num_answer_tokens -= of_answer
            answer.insert(0, [source, of_answer])
            if count > of_answer:
                self.spans.append([source, count - of_answer])
        self.spans += answer

    def draft_started(self, index: int) -> None:
        """Note the start of a draft; they start in order."""
        self._drafts.append((time.monotonic(), None))
        self._event("draft_started", index=index)

    def drafted(self) -> None:
        """Note that the running draft got tokens."""
        if self._drafted is None:
            self._drafted = time.monotonic()

    def draft_ended(self, index: int, finish_reason: str) -> None:
        """Note the end of a draft."""
        self._drafts[index] = (self._drafts[index][0], time.monotonic())
        self._event("draft_ended", index=index, finish_reason=finish_reason)

    def _event(self, name: str, **fields: Any) -> None:
        if self.detailed:
            at = (time.monotonic() - self._start) * 1e3
            self.timeline.append({"event": name, "t_ms": at, **fields})

    def draft_ms(self, index: int) -> float:
        """Return how long a draft ran, in milliseconds."""
        start, end = self._drafts[index]
        return ((end or time.monotonic()) - start) * 1e3

    def timing(self, *, thinks: bool) -> dict[str, float | None]:
        """Return durations in milliseconds, as the engine saw them.

        Args:
            thinks: Whether the request still thinks.
        """
        reasoned = self._last if thinks else self._reasoned
        answering = self._reasoned or (None if thinks else self._start)
        return {
            "time_to_first_draft_ms": _milliseconds(self._start, self._drafted),
            "reasoning_time_ms": _milliseconds(self._start, reasoned),
            "answer_time_ms": _milliseconds(answering, self._last),
        }


def _milliseconds(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else (end - start) * 1e3
