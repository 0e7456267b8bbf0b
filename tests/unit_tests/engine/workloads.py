"""Simulated requests: how long they think, and how far drafts and answers agree.

A draft gets a token a step until the next one or the answer begins. The answer follows
the newest draft that still agrees; a draft that does not agree costs it one step in
vain. Elsewhere the other sources bring their share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from langchain_ssr.engine.draft_policy import DraftPolicy, Plan
from langchain_ssr.engine.served import DraftUse, Served

BURST = 32
"""Most tokens that are verified in a step."""


@dataclass(frozen=True)
class Workload:
    """Requests of one kind.

    Attributes:
        reasoning: Lengths of the reasoning, one after the other and again.
        answer: Length of the answer.
        agrees: Share of the answer that a draft has right from the start, by the
            position at which it was made.
        others: Tokens that other sources bring per step.
        rambles: How many times as long as the answer a draft would get.
    """

    reasoning: tuple[int, ...]
    answer: int
    agrees: Callable[[int], float]
    others: float = 0.0
    rambles: float = 1.0

    def serve(self, number: int, plan: Plan) -> Served:
        """Return what the policy would hear of a request."""
        thinks = self.reasoning[number % len(self.reasoning)]
        made = [position for position in plan.positions if position < thinks]
        ends = [*made[1:], thinks][: len(made)]
        most = plan.max_draft_tokens or 10**6
        longest = min(most, int(self.rambles * self.answer))
        sizes = [min(longest, e - p) for p, e in zip(made, ends, strict=True)]
        reach = [
            min(size, int(self.agrees(position) * self.answer))
            for position, size in zip(made, sizes, strict=True)
        ]
        accepted, steps = [0] * len(made), [0] * len(made)
        at = other_steps = other_accepted = 0
        share = 0.0
        while at < self.answer:
            useful = [i for i in reversed(range(len(made))) if reach[i] > at]
            failed = [i for i in reversed(range(len(made))) if not reach[i] + steps[i]]
            if failed:  # followed once, for it is the newest
                steps[failed[0]] += 1
                at += 1
            elif useful:
                burst = min(BURST, reach[useful[0]] - at)
                accepted[useful[0]] += burst
                steps[useful[0]] += 1
                at += burst + 1
            else:
                share += self.others
                brought, share = int(share), share - int(share)
                other_steps += 1
                other_accepted += brought
                at += brought + 1
        drafts = zip(made, accepted, steps, sizes, strict=True)
        return Served(
            thinks,
            self.answer,
            other_steps,
            other_accepted,
            tuple(DraftUse(*d) for d in drafts),
        )


def cost_of(request: Served, token: float) -> float:
    """Return the steps of the answer, and of the drafts' tokens, at a token's cost."""
    steps = request.num_other_steps + sum(draft.num_steps for draft in request.drafts)
    computed = sum(draft.num_computed_tokens for draft in request.drafts)
    return steps + token * computed


def run(
    workload: Workload, policy: DraftPolicy, num: int, most: int = 8
) -> tuple[list[Plan], list[Served]]:
    """Serve requests one after the other; return their plans and what was served."""
    plans, all_served = [], []
    for number in range(num):
        plans.append(policy.plan(most))
        all_served.append(workload.serve(number, plans[-1]))
        policy.record(all_served[-1])
    return plans, all_served
