"""What a served request teaches of drafts: a handful of numbers, and no text. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_ssr.engine.lifecycle import Phase

if TYPE_CHECKING:
    from langchain_ssr.engine.request_state import RequestState


@dataclass(frozen=True)
class DraftUse:
    """What one draft brought and cost.

    Attributes:
        position: The position on the schedule at which it was made, in tokens.
        num_accepted_tokens: Its tokens that the answer took over.
        num_steps: Steps of the answer in which its tokens were verified.
        num_computed_tokens: Tokens computed for it: its own, those that it was proposed
            in vain, and what was not cached of its prompt.
    """

    position: int
    num_accepted_tokens: int
    num_steps: int
    num_computed_tokens: int


@dataclass(frozen=True)
class Served:
    """What one request was like.

    Attributes:
        num_reasoning_tokens: Length of its reasoning; None if that did not end.
        num_answer_tokens: Length of its answer.
        num_other_steps: Steps of the answer in which no draft was verified.
        num_other_accepted_tokens: Tokens that other sources brought in these steps.
        drafts: Its drafts, where the schedule was not the user's.
    """

    num_reasoning_tokens: int | None
    num_answer_tokens: int
    num_other_steps: int
    num_other_accepted_tokens: int
    drafts: tuple[DraftUse, ...] = ()


def served(state: RequestState) -> Served | None:
    """Sum a request up that is over; None if it teaches nothing.

    That is so if it failed, did not reason, chose its sources itself, or was left by
    its client while it was thinking.
    """
    settings, cycle = state.settings, state.lifecycle
    answered = state.phase is Phase.ANSWER
    if state.failed or not settings.speculation or settings.sources is not None:
        return None
    if not cycle.has_reasoned or not (answered or state.has_ended):
        return None
    on_schedule = settings.draft_budget == "auto" and settings.draft_interval is None
    of_drafts = sum(draft.num_verified_steps for draft in cycle.drafts)
    return Served(
        num_reasoning_tokens=cycle.num_reasoning_tokens if answered else None,
        num_answer_tokens=cycle.num_answer_tokens,
        num_other_steps=max(0, state.num_steps[Phase.ANSWER] - of_drafts),
        num_other_accepted_tokens=state.num_accepted_of_others,
        drafts=tuple(
            DraftUse(
                draft.budget,
                draft.num_accepted_tokens,
                draft.num_verified_steps,
                draft.num_computed_tokens,
            )
            for draft in (cycle.drafts if on_schedule else ())
        ),
    )
