"""How many tokens to propose: a question of cost."""

from __future__ import annotations

_MEMORY = 128
"""Tokens over which the past is forgotten."""
_CHEAP = 0.2
"""Cost up to which proposals have their full length: below it a measured cost changes
little, and how many steps an answer takes does not depend on the machine."""


class Pace:
    """Turns the confidence of a match into the length of a proposal.

    Let the token after a match of L tokens be wrong with a chance of about 1/L (texts
    have edits on all scales). Then the first n proposed tokens are all right with a
    chance of about L/(L + n). Proposing pays while that exceeds the cost c of verifying
    one token, in steps saved: n = L(1/c - 1), in proportion to L. The proportion falls
    while more is proposed than the text grows, so that the cost stays in bounds on
    texts that match nothing well, and where the measured cost is high, to nothing
    where a token to verify costs as much as it can save.
    """

    def __init__(self) -> None:
        self._proposed = self._emitted = _MEMORY / 2

    def record(self, proposed: int, emitted: int) -> None:
        """Count the tokens that one step proposed and those it added to the text."""
        keep = _MEMORY / (_MEMORY + emitted)
        self._proposed = self._proposed * keep + proposed
        self._emitted = self._emitted * keep + emitted

    def length(self, confidence: float, factor: float, cost: float = 0.0) -> int:
        """Return how many tokens to propose.

        Args:
            confidence: Length of the match, in tokens.
            factor: Tokens to propose per token of confidence where they are cheap.
            cost: Measured cost of verifying a token, in what an accepted one saves.
        """
        thrift = min(1.0, self._emitted / self._proposed)
        if cost > _CHEAP:
            thrift *= (1 / cost - 1) / (1 / _CHEAP - 1)
        return int(factor * thrift * confidence)
