"""When and how long to draft: what `draft_budget="auto"` learns. Pure.

Only running figures over requests are kept, for each model of one engine: no text, no
token, nothing of a single request. A LoRA adapter is a model of its own: it thinks and
answers in its own way. The same requests in the same order lead to the same plans; the
one clock in it is that of `StepCost`.

**What a draft is worth.** In S steps of the answer it brought A tokens, and each step
one more. Other sources (prompt, reasoning, the answer so far) might have had them, too:
in steps without a draft they bring a mean of r tokens. Without the draft its stretch
would have taken (A + S) / (1 + r) steps, so it saved

    (A + S) / (1 + r) - S

steps, which may be less than none. The rule supposes that the others do as well there
as elsewhere. Against that stand the tokens that it computed, each a share of a step.

Drafts of one request help each other (a later one follows an earlier one in bursts),
and the answer follows the newest that fits. A position is credited with what its own
drafts brought, among the others that were made beside them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from langchain_ssr.engine.budget import AUTO_FIRST
from langchain_ssr.engine.running import Lengths, Mean
from langchain_ssr.engine.served import DraftUse, Served
from langchain_ssr.engine.step_cost import StepCost

MIN_REQUESTS = 8
"""Requests before their lengths say anything, and drafts at a position before their
gain decides."""
TRY_AGAIN = 16
"""One request of so many drafts on the whole schedule, to see what has changed."""
MOST_MODELS = 64
"""Models that are remembered; of more, the longest unused is forgotten."""
EARLIEST = 16
"""First position where reasoning is short, in tokens."""
LAST = 1 << 24
"""Positions after this one are out of every model's reach."""
SHORTEST = 64
"""No draft is cut to fewer tokens than this."""
_LONG = 0.95
"""Share of all answer tokens that lie in answers which drafts may be as long as."""
_MEMORY = 1 / 16
"""Weight of the latest request in what drafts bring and cost."""
_LENGTHS_MEMORY = 1 / 64
"""The same for lengths: long answers are rare, and matter most."""


@dataclass(frozen=True)
class Plan:
    """What one request does about drafts.

    Attributes:
        positions: Reasoning tokens before each draft, ascending.
        max_draft_tokens: Longest draft, in tokens; None: as long as the answer may be.
    """

    positions: tuple[int, ...]
    max_draft_tokens: int | None = None


class _Position:
    """Running means of the drafts that were made at one position."""

    def __init__(self) -> None:
        self.accepted = Mean(_MEMORY)
        self.steps = Mean(_MEMORY)
        self.computed = Mean(_MEMORY)

    def add(self, draft: DraftUse) -> None:
        self.accepted.add(draft.num_accepted_tokens)
        self.steps.add(draft.num_steps)
        self.computed.add(draft.num_computed_tokens)


class DraftPolicy:
    """Plans drafts for one model's requests, and learns from those that it served.

    - Positions double: 128, 256, 512, ... If typical reasoning is over before the
      first, they begin at a quarter to a half of it.
    - A position where drafts have not paid is left out. One that few have reached is
      kept: its drafts cost nothing until it is reached.
    - A draft gets no longer than answers are.
    - One request in 16 drafts at all positions, at any length.
    """

    def __init__(self, cost: StepCost) -> None:
        """Begin with no experience: the whole schedule.

        Args:
            cost: What a token costs in a step, measured elsewhere.
        """
        self._cost = cost
        self._reasoning = Lengths(_LENGTHS_MEMORY)
        self._answers = Lengths(_LENGTHS_MEMORY)
        self._other_accepted = Mean(_MEMORY)
        self._other_steps = Mean(_MEMORY)
        self._positions: dict[int, _Position] = {}
        self._passed = 0

    @property
    def first(self) -> int:
        """The first position of the schedule, in tokens."""
        if self._reasoning.num < MIN_REQUESTS:
            return AUTO_FIRST
        typical = self._reasoning.quantile(0.5)
        return AUTO_FIRST if typical > AUTO_FIRST else max(EARLIEST, typical // 4)

    @property
    def max_draft_tokens(self) -> int | None:
        """The longest draft that an answer may need, in tokens; None: not known."""
        if self._answers.num < MIN_REQUESTS:
            return None
        return max(SHORTEST, self._answers.quantile(_LONG))

    @property
    def others(self) -> float:
        """Tokens that other sources bring per step of the answer, in the mean."""
        steps = self._other_steps.value
        return self._other_accepted.value / steps if steps > 0 else 0.0

    def gain(self, position: int) -> float:
        """Return what drafts at a position gained, in steps per draft; 0: not known."""
        seen = self._positions.get(position)
        if seen is None:
            return 0.0
        steps = seen.steps.value
        saved = (seen.accepted.value + steps) / (1 + self.others) - steps
        return saved - self._cost.token * seen.computed.value

    def plan(self, most: int) -> Plan:
        """Plan the next request. Call once for each that could draft.

        Args:
            most: The most drafts that it may make.
        """
        whole = Plan(tuple(itertools.islice(self._schedule(), most)))
        paying = filter(self._may_pay, self._schedule())
        learned = Plan(tuple(itertools.islice(paying, most)), self.max_draft_tokens)
        if learned == whole:
            return whole
        self._passed = (self._passed + 1) % TRY_AGAIN
        return learned if self._passed else whole

    def record(self, request: Served) -> None:
        """Learn from a request that is over."""
        if request.num_reasoning_tokens is not None:
            self._reasoning.add(request.num_reasoning_tokens)
        if request.num_answer_tokens:
            # By tokens, not by answers: few long ones may be most of the work.
            self._answers.add(request.num_answer_tokens, request.num_answer_tokens)
        if request.num_other_steps:
            self._other_steps.add(request.num_other_steps)
            self._other_accepted.add(request.num_other_accepted_tokens)
        for draft in request.drafts:
            self._positions.setdefault(draft.position, _Position()).add(draft)

    def _schedule(self) -> Iterator[int]:
        position = self.first
        while position <= LAST:
            yield position
            position *= 2

    def _may_pay(self, position: int) -> bool:
        seen = self._positions.get(position)
        few = seen is None or seen.accepted.num < MIN_REQUESTS
        return few or self.gain(position) > 0


class DraftPolicies:
    """The policies of an engine's models, which share the measured cost of a step.

    Attributes:
        cost: What a token costs in a step. The same for all: a step mixes the models.
    """

    def __init__(self) -> None:
        """Begin with nothing measured and no model known."""
        self.cost = StepCost()
        self._of: dict[str | None, DraftPolicy] = {}

    def of(self, adapter: str | None) -> DraftPolicy:
        """Return the policy of a model.

        Args:
            adapter: The name of a LoRA adapter; None for the model itself.
        """
        policy = self._of.pop(adapter, None) or DraftPolicy(self.cost)
        self._of[adapter] = policy  # the latest used is last
        if len(self._of) > MOST_MODELS:
            del self._of[next(iter(self._of))]
        return policy
