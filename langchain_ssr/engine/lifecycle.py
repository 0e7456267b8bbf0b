"""The state machine of one request: where it is, and which draft runs beside it.

A request may open its reasoning in the prompt, open it itself, or not reason at all.
Reasoning ends with a marker or, without one, with a token that already belongs to the
answer (a tool call). Speculation delivers bursts, so every boundary may lie inside one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

OPENING_TOKENS = 8
"""Tokens within which a model that opens its reasoning itself does so; and the length
of the prompt's end in which a closing marker says that there will be none."""


class Phase(StrEnum):
    """Where a request is."""

    OPENING = "opening"
    """Reasoning may still be opened by the model itself."""
    REASONING = "reasoning"
    ANSWER = "answer"


class DraftEnd(StrEnum):
    """Why a draft ended; the names are those of the statistics."""

    STOP = "stop"
    LENGTH = "length"
    CUT = "cut"
    """The answer began, the next draft began, or the request ended."""
    DROPPED = "dropped"
    """Other requests needed the engine."""
    PREEMPTED = "preempted"


@dataclass(frozen=True)
class Markers:
    """Token ids that delimit reasoning.

    Attributes:
        start: Opens reasoning.
        end: Ends reasoning; belongs to neither side.
        implicit: Tokens that end reasoning and are the first of the answer.
        close: What is appended to a half-way reasoning to make a draft's prompt. It
            holds `end`, perhaps after a transition phrase and before a blank line.
    """

    start: tuple[int, ...]
    end: tuple[int, ...]
    implicit: frozenset[int] = frozenset()
    close: tuple[int, ...] = ()

    @property
    def after_end(self) -> tuple[int, ...]:
        """What follows the end marker in `close`."""
        at = _last_index(self.close, self.end)
        return self.close[at + len(self.end) :] if at >= 0 else ()


@dataclass(frozen=True)
class Span:
    """Consecutive tokens of one phase; markers belong to none."""

    phase: Phase
    tokens: list[int]


@dataclass
class Draft:
    """A draft of the answer, running or ended.

    Attributes:
        index: Its number within the request.
        budget: The draft budget that was reached, in reasoning tokens.
        num_reasoning_tokens: Reasoning tokens that it was drafted from.
        tokens: The drafted token ids.
        num_steps: Engine steps that gave it tokens.
        num_prompt_tokens: Length of its prompt.
        num_cached_tokens: Of these, tokens that were not computed again.
        num_rejected_tokens: Tokens that it was proposed in vain.
        num_accepted_tokens: Tokens of it that went into the answer.
        num_verified_steps: Steps of the answer in which it was proposed from.
        end: Why it ended; None while it runs.
    """

    index: int
    budget: int
    num_reasoning_tokens: int
    tokens: list[int] = field(default_factory=list)
    num_steps: int = 0
    num_prompt_tokens: int = 0
    num_cached_tokens: int = 0
    num_rejected_tokens: int = 0
    num_accepted_tokens: int = 0
    num_verified_steps: int = 0
    end: DraftEnd | None = None

    @property
    def num_prefill_tokens(self) -> int:
        """Tokens of its prompt that were computed for it."""
        return self.num_prompt_tokens - self.num_cached_tokens if self.num_steps else 0

    @property
    def num_computed_tokens(self) -> int:
        """All tokens that were computed for it."""
        return len(self.tokens) + self.num_rejected_tokens + self.num_prefill_tokens


class Lifecycle:
    """Follows one request through its phases. At most one draft runs at a time.

    Attributes:
        phase: Where the request is.
        num_opened_tokens: Prompt tokens after a marker that the prompt left open.
        num_reasoning_tokens: Generated reasoning tokens, markers not counted.
        num_answer_tokens: Generated answer tokens.
        has_reasoned: Whether reasoning was ever open.
        drafts: All drafts, oldest first.
        running: The draft that runs, if one does.
        finished: Whether the request has ended.
    """

    def __init__(self, markers: Markers | None, prompt: Sequence[int]) -> None:
        """Find out from the prompt where the request begins.

        Args:
            markers: The model's markers; None if it has none, so that everything is
                answer.
            prompt: Token ids of the prompt.
        """
        self.markers = markers
        self._ends = {*markers.end[:1], *markers.implicit} if markers else set()
        self.num_reasoning_tokens = 0
        self.num_answer_tokens = 0
        self.drafts: list[Draft] = []
        self.running: Draft | None = None
        self.finished = False
        self._held: list[int] = []  # tokens that may be the beginning of a marker
        self._num_opening = 0
        self.phase, self.num_opened_tokens = _start(markers, prompt)
        self.has_reasoned = self.phase is Phase.REASONING

    def advance(self, tokens: Sequence[int]) -> list[Span]:
        """Take generated tokens.

        Args:
            tokens: New token ids of the request, in order.

        Returns:
            The tokens by phase, without markers. Tokens before a model opens its
            reasoning are the answer's, for they may be all there is.
        """
        if self.phase is Phase.ANSWER:  # nothing ends it: no need to look
            self.num_answer_tokens += len(tokens)
            return [Span(Phase.ANSWER, list(tokens))] if tokens else []
        at_rest = self.phase is Phase.REASONING and not self._held
        if at_rest and self._ends.isdisjoint(tokens):  # nor does any of these end it
            self.num_reasoning_tokens += len(tokens)
            return [Span(Phase.REASONING, list(tokens))] if tokens else []
        spans: list[Span] = []
        for token in tokens:
            self._step(token, spans)
        return spans

    def _step(self, token: int, spans: list[Span]) -> None:
        markers = self.markers
        if markers is None or self.phase is Phase.ANSWER:
            self._take(Phase.ANSWER, token, spans)
            return
        opening = self.phase is Phase.OPENING
        text = Phase.ANSWER if opening else Phase.REASONING
        marker = markers.start if opening else markers.end
        self._held.append(token)
        if token in markers.implicit:
            *before, _ = self._release(len(self._held))
            self._take_all(text, before, spans)
            self.phase = Phase.ANSWER
            self._take(Phase.ANSWER, token, spans)
            return
        if tuple(self._held) == marker:
            self._held.clear()
            self.phase = Phase.REASONING if opening else Phase.ANSWER
            self.has_reasoned = True
            return
        while self._held and tuple(self._held) != marker[: len(self._held)]:
            self._take_all(text, self._release(1), spans)
        self._num_opening += opening
        if opening and self._num_opening >= OPENING_TOKENS:
            self._take_all(text, self._release(len(self._held)), spans)
            self.phase = Phase.ANSWER

    def _release(self, count: int) -> list[int]:
        released = self._held[:count]
        del self._held[:count]
        return released

    def _take_all(self, phase: Phase, tokens: list[int], spans: list[Span]) -> None:
        for token in tokens:
            self._take(phase, token, spans)

    def _take(self, phase: Phase, token: int, spans: list[Span]) -> None:
        if phase is Phase.REASONING:
            self.num_reasoning_tokens += 1
        else:
            self.num_answer_tokens += 1
        if spans and spans[-1].phase is phase:
            spans[-1].tokens.append(token)
        else:
            spans.append(Span(phase, [token]))

    def begin_draft(self, budget: int) -> Draft:
        """Start the next draft.

        Raises:
            RuntimeError: If a draft runs, or there is no reasoning to draft from.
        """
        if self.running is not None or self.finished:
            raise RuntimeError("a draft runs already, or the request has ended")
        if self.phase is not Phase.REASONING:
            raise RuntimeError(f"no draft can begin in phase {self.phase}")
        draft = Draft(len(self.drafts), budget, self.num_reasoning_tokens)
        self.drafts.append(draft)
        self.running = draft
        return draft

    def extend_draft(self, tokens: Sequence[int]) -> None:
        """Append one step's tokens to the running draft; nothing if none runs."""
        if self.running is not None:
            self.running.tokens.extend(tokens)
            self.running.num_steps += 1

    def end_draft(self, reason: DraftEnd) -> Draft | None:
        """End the running draft and return it; None if none runs."""
        draft, self.running = self.running, None
        if draft is not None:
            draft.end = reason
        return draft

    def finish(self) -> None:
        """End the request and whatever draft runs beside it."""
        self.end_draft(DraftEnd.CUT)
        self.finished = True


def _start(markers: Markers | None, prompt: Sequence[int]) -> tuple[Phase, int]:
    """Return the first phase and how many prompt tokens follow an open marker."""
    if markers is None or not markers.end:
        return Phase.ANSWER, 0
    opened = _last_index(prompt, markers.start) if markers.start else -1
    closed = max(
        _last_index(prompt, markers.end),
        max((_last_index(prompt, (token,)) for token in markers.implicit), default=-1),
    )
    if opened > closed:
        return Phase.REASONING, len(prompt) - opened - len(markers.start)
    tail = len(prompt) - OPENING_TOKENS
    return (Phase.ANSWER if closed >= max(0, tail) else Phase.OPENING), 0


def _last_index(tokens: Sequence[int], part: Sequence[int]) -> int:
    """Return where `part` begins last in `tokens`, or -1."""
    size = len(part)
    if not size:
        return -1
    for start in range(len(tokens) - size, -1, -1):
        if tokens[start] == part[0] and list(tokens[start : start + size]) == list(
            part
        ):
            return start
    return -1
