"""Counts thinking tokens exactly as vLLM does when it keeps a thinking budget.

vLLM forces the end of the reasoning from its own count, which knows only the start
marker and the text that it forces. It goes on counting where reasoning ended another
way (a tool call, a natural end before a transition phrase), and decides from what is
proposed. So no proposal may cross the budget by *this* count.

Nor may one hold a whole marker: vLLM looks for markers once a step, and where one step
both ends the reasoning and opens it again, it loses the second.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_ssr.engine.lifecycle import Markers


class ThinkingCount:
    """The count for one request with a thinking budget.

    Args:
        markers: The model's reasoning markers.
        prompt: Token ids of the prompt.
        budget: `thinking_token_budget`.
    """

    def __init__(self, markers: Markers, prompt: Sequence[int], budget: int) -> None:
        """Count what the prompt holds already."""
        self._start, self._close = markers.start, markers.close or markers.end
        self._markers = {markers.start, markers.end, self._close}
        self._budget = budget
        self._tail: list[int] = []
        self._count: int | None = None
        self.advance(prompt)

    def advance(self, tokens: Sequence[int]) -> None:
        """Take tokens of prompt or output."""
        keep = max(1, *map(len, self._markers))
        for token in tokens:
            self._tail.append(token)
            del self._tail[:-keep]
            if self._ends_with(self._start):
                self._count = 0
            elif self._count is not None:
                self._count += 1
                if self._ends_with(self._close):
                    self._count = None

    def cut(self, proposal: list[int]) -> list[int]:
        """Return a proposal up to where it would complete a marker."""
        tokens, before = (*self._tail, *proposal), len(self._tail)
        markers = [marker for marker in self._markers if marker]
        for at in range(len(proposal)):
            end = before + at + 1
            if any(tokens[max(0, end - len(m)) : end] == m for m in markers):
                return proposal[:at]
        return proposal

    def _ends_with(self, part: tuple[int, ...]) -> bool:
        return bool(part) and tuple(self._tail[-len(part) :]) == part

    @property
    def room(self) -> int | None:
        """Tokens that may be proposed; None where the budget does not count."""
        if self._count is None:
            return None
        return max(0, self._budget - self._count - 2)
