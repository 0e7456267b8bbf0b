"""When to draft: positions in the reasoning, in tokens since it began."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from langchain_ssr.settings import SpeculationSettings

AUTO_FIRST = 128
"""First budget of "auto"; each further one doubles."""


class DraftBudget:
    """The positions at which a request is forked, in ascending order.

    - a list: exactly these;
    - a number: this, and with `iterative` every `draft_interval` tokens after it;
    - "auto": 128, 256, 512, ..., or with a `draft_interval` at that distance.

    At most `max_drafts` of them. A position that was passed without a fork (several in
    one burst of tokens, or a busy engine) is not made up for.

    Attributes:
        most: The most drafts, a list of budgets aside.
    """

    def __init__(self, settings: SpeculationSettings, first: int = AUTO_FIRST) -> None:
        """Lay the positions out for one request.

        Args:
            settings: The request's settings.
            first: The first budget of "auto", in tokens.
        """
        most = settings.max_drafts
        self.most = most if settings.iterative else min(1, most)
        self._positions = _positions(settings, first, self.most)
        self._next = next(self._positions, None)
        self._now = 0

    def follow(self, positions: Iterable[int]) -> None:
        """Go on with other positions; those that were passed are left out.

        Args:
            positions: In tokens, ascending.
        """
        self._positions = (one for one in positions if one > self._now)
        self._next = next(self._positions, None)

    def due(self, num_reasoning_tokens: int) -> int | None:
        """Return the latest position that has been reached since the last call.

        Args:
            num_reasoning_tokens: Tokens generated since the reasoning began.

        Returns:
            The position, in tokens; None if no further one was reached.
        """
        reached = None
        self._now = num_reasoning_tokens
        while self._next is not None and self._next <= num_reasoning_tokens:
            reached = self._next
            self._next = next(self._positions, None)
        return reached


def _positions(settings: SpeculationSettings, first: int, most: int) -> Iterator[int]:
    budget = settings.draft_budget
    if isinstance(budget, list):
        return iter(budget)
    first = first if budget == "auto" else budget
    if budget == "auto" and settings.draft_interval is None:
        endless: Iterator[int] = (first << i for i in itertools.count())
    else:
        endless = itertools.count(first, settings.draft_interval or first)
    return itertools.islice(endless, most)
