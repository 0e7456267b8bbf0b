"""What one more token in an engine step costs, measured while serving. Pure."""

from __future__ import annotations

DEFAULT = 0.05
"""A guess, taken until enough was measured."""
LEAST, MOST = 0.001, 1.0
MIN_STEPS = 64
"""Steps before a measurement counts."""
MAX_TOKENS = 256
"""Larger steps, long prompts' chunks, are not the ones to choose about."""
_MEMORY = 1 / 512
"""Weight of the latest step."""
_OUTLIER = 4.0
"""A step counts as at most this many times the expected: machines stall."""


class StepCost:
    """Fits `seconds = a + b * tokens` to the latest steps (exponentially weighted)."""

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._num = 0
        self._tokens = self._seconds = 0.0
        self._var = self._cov = 0.0
        self._began: float | None = None
        self._in_flight = 0

    def begin(self, now: float) -> None:
        """Note that a step was handed to the worker.

        Args:
            now: A clock, in seconds.
        """
        self._in_flight += 1
        self._began = now if self._in_flight == 1 else None  # None: they overlap

    def end(self, now: float, num_tokens: int) -> None:
        """Note that the oldest step came back.

        Args:
            now: The clock of `begin`, in seconds.
            num_tokens: Tokens that the step computed.
        """
        self._in_flight = max(0, self._in_flight - 1)
        if self._began is not None:
            self.record(num_tokens, now - self._began)
        self._began = None

    def record(self, num_tokens: int, seconds: float) -> None:
        """Take one step's measurement."""
        if not (0 < num_tokens <= MAX_TOKENS and seconds > 0):
            return
        if self._num >= MIN_STEPS:
            seconds = min(seconds, _OUTLIER * self._expected(num_tokens))
        self._num += 1
        weight = max(_MEMORY, 1 / self._num)
        tokens, late = num_tokens - self._tokens, seconds - self._seconds
        self._tokens += weight * tokens
        self._seconds += weight * late
        self._var += weight * (tokens * (num_tokens - self._tokens) - self._var)
        self._cov += weight * (tokens * (seconds - self._seconds) - self._cov)

    @property
    def token(self) -> float:
        """Cost of one more token, in one-token steps; `DEFAULT` until it is known."""
        return self._measured if self._is_known else DEFAULT

    def verification(self, num_requests: int) -> float:
        """Return what verifying one more token costs, against what a hit saves.

        A token that is accepted saves its request one token of a later step, and that
        request's part of what a step costs in any case. With few requests that part is
        most of it, with many it is little.

        Args:
            num_requests: Requests that share a step.

        Returns:
            From 0 to 1; 0 until it is known.
        """
        if not self._is_known:
            return 0.0
        shared = self._measured * num_requests
        return shared / (1 - self._measured + shared)

    @property
    def _is_known(self) -> bool:
        return self._num >= MIN_STEPS and self._var >= 1

    @property
    def _measured(self) -> float:
        return min(MOST, max(LEAST, self._slope / self._expected(1)))

    @property
    def _slope(self) -> float:
        return self._cov / self._var if self._var > 0 else 0.0

    def _expected(self, num_tokens: int) -> float:
        """Return the seconds of a step, as fitted so far."""
        fitted = self._seconds + self._slope * (num_tokens - self._tokens)
        return fitted if fitted > 0 else self._seconds
