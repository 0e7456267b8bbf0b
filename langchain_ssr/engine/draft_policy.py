"""Whether drafts pay for themselves: what `draft_budget="auto"` learns. Pure.

Only running figures over requests are kept, for each model of one engine: no text, no
token, nothing of a single request. A LoRA adapter is a model of its own: it thinks and
answers in its own way.
"""

from __future__ import annotations

from langchain_ssr.engine.step_cost import StepCost

MIN_REQUESTS = 8
"""Requests that draft before anything is decided."""
TRY_AGAIN = 16
"""Where drafts do not pay, one request of so many drafts, to see whether that holds."""
_MEMORY = 1 / 16
"""Weight of the latest request."""
MOST_MODELS = 64
"""Models that are remembered; of more, the longest unused is forgotten."""


class DraftPolicy:
    """Decides for requests that leave the budget to us, and learns from all that draft.

    A draft saves engine steps, one for each of its tokens that the answer takes over.
    It costs the tokens that it computes, each a share of a step (`StepCost`). While the
    mean of the difference is positive, requests draft.
    """

    def __init__(self, cost: StepCost) -> None:
        """Begin with no experience: requests draft.

        Args:
            cost: What a token costs in a step, measured elsewhere.
        """
        self._cost = cost
        self._num = 0
        self._gain = 0.0
        self._passed = 0

    @property
    def gain(self) -> float:
        """What drafts gained in the mean of the latest requests, in engine steps."""
        return self._gain

    def wants_drafts(self) -> bool:
        """Whether the next request should draft. Call once for each that could."""
        if self._num < MIN_REQUESTS or self._gain > 0:
            return True
        self._passed += 1
        if self._passed < TRY_AGAIN:
            return False
        self._passed = 0
        return True

    def record(self, num_saved_steps: int, num_tokens: int) -> None:
        """Learn from a request that drafted.

        Args:
            num_saved_steps: Tokens of its drafts that the answer took over.
            num_tokens: Tokens computed for its drafts: their own, and what was not
                cached of their prompts.
        """
        self._num += 1
        gain = num_saved_steps - self._cost.token * num_tokens
        self._gain += max(_MEMORY, 1 / self._num) * (gain - self._gain)


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
