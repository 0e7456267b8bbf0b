"""What the scheduler knows of one request: phase, sources, drafts, counts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_ssr.engine.budget import DraftBudget
from langchain_ssr.engine.draft_policy import Plan
from langchain_ssr.engine.draft_text import WINDOW
from langchain_ssr.engine.lifecycle import (
    Draft,
    DraftEnd,
    Lifecycle,
    Markers,
    Phase,
    Span,
)
from langchain_ssr.engine.matcher import Matcher, Proposal
from langchain_ssr.engine.record import Record
from langchain_ssr.engine.report_history import ReportHistory
from langchain_ssr.engine.report_pace import ReportPace
from langchain_ssr.engine.thinking_count import ThinkingCount
from langchain_ssr.settings import SpeculationSettings
from langchain_ssr.sources import OF_DRAFTS, SOURCES, Source

_PASSING = frozenset({None, "busy", "no_gain", "clamped"})
"""Reasons that do not forbid the next draft."""


@dataclass
class SourceCount:
    """Proposed and accepted tokens of one source."""

    num_draft_tokens: int = 0
    num_accepted_draft_tokens: int = 0


class RequestState:
    """Speculation for one request, from its first step to its last.

    Args:
        settings: The request's settings.
        markers: The model's reasoning markers; None if it has none.
        prompt: Token ids of the prompt.
        prediction: Token ids of the text that the user expects.
        asked: Whether the client wants a report.
        reason: Why this request may not draft, if it may not.
        thinking_budget: The request's `thinking_token_budget`.
    """

    def __init__(
        self,
        settings: SpeculationSettings,
        markers: Markers | None,
        prompt: Sequence[int],
        *,
        prediction: Sequence[int] | None = None,
        asked: bool = False,
        reason: str | None = None,
        thinking_budget: int | None = None,
    ) -> None:
        """Begin with the prompt."""
        self.settings = settings
        self.asked = asked
        self.reason = reason
        self.failed = False
        self.has_ended = False
        """Whether the engine ended it, and not the client."""
        self.counted = asked
        """Whether the front end takes a report, for the client or for its metrics."""
        self.adapter: str | None = None
        """The name of its LoRA adapter; None for the model itself."""
        self.clamped: dict[str, Any] = {}
        """Settings that the client wanted more of, as they are in force."""
        self.report_pace = ReportPace()
        self.history: ReportHistory | None = None
        """Kept where each step of the answer is reported."""
        self.lifecycle = Lifecycle(markers, prompt)
        self.budget = DraftBudget(settings)
        self.plan: Plan | None = None
        """What was learned for its drafts, where it leaves them to us."""
        self.thinking: ThinkingCount | None = None
        if thinking_budget is not None and markers is not None:
            self.thinking = ThinkingCount(markers, prompt, thinking_budget)
        self.counts = {source: SourceCount() for source in Source}
        self.child_id: str | None = None
        self.num_steps = dict.fromkeys(Phase, 0)
        self.num_tokens = 0
        self.num_rejected_tokens = 0
        self.num_accepted_of_others = 0
        """Accepted tokens of the answer that were not proposed from its drafts."""
        self.record = Record(detailed=settings.speculation_stats == "detailed")
        sources = SOURCES if settings.sources is None else settings.sources
        if not settings.speculation:
            sources = ()
        self._matcher = Matcher(prompt, prediction, sources) if sources else None
        self._uses_drafts = not OF_DRAFTS.isdisjoint(sources)
        self._numbers: list[int] = []  # the drafts' numbers in the matcher
        self._opening: list[int] = []
        self._shown: dict[int, int] = {}
        self._proposal: Proposal | None = None
        if self.phase is Phase.ANSWER and self._matcher:
            self._matcher.start_answer()

    @property
    def phase(self) -> Phase:
        """Where the request is."""
        return self.lifecycle.phase

    # --- proposals ------------------------------------------------------------------

    def propose(self, limit: int, cost: float = 0.0) -> list[int]:
        """Propose the next tokens.

        Args:
            limit: The most that fit into this step, in tokens.
            cost: Measured cost of verifying a token, in what an accepted one saves.
        """
        self._proposal = None
        limit = min(limit, self.settings.num_speculative_tokens)
        if self.thinking is not None and (room := self.thinking.room) is not None:
            limit = min(limit, room)
        if self._matcher is None or limit < 1 or self.phase is Phase.OPENING:
            return []
        if self.phase is Phase.REASONING and not self.settings.speculate_reasoning:
            return []
        proposal = self._matcher.propose(limit, cost)
        tokens = proposal.tokens if proposal else []
        if self.thinking is not None:
            tokens = self.thinking.cut(tokens)
        self._proposal = proposal if tokens else None
        return tokens

    def count_proposal(self, num_proposed: int, num_accepted: int) -> None:
        """Count what became of the last proposal, before stops cut it."""
        if self._proposal is None or not num_proposed:
            return
        count = self.counts[self._proposal.source]
        count.num_draft_tokens += num_proposed
        count.num_accepted_draft_tokens += num_accepted
        self.num_rejected_tokens += num_proposed - num_accepted
        if self.phase is not Phase.ANSWER:
            return
        if self._proposal.draft not in self._numbers:
            self.num_accepted_of_others += num_accepted
            return
        draft = self.lifecycle.drafts[self._numbers.index(self._proposal.draft)]
        draft.num_verified_steps += 1
        draft.num_accepted_tokens += num_accepted

    # --- the request's own tokens -----------------------------------------------------

    def advance(self, tokens: Sequence[int], num_accepted: int) -> bool:
        """Take the tokens of one step.

        Args:
            tokens: New token ids.
            num_accepted: How many of them were proposed.

        Returns:
            Whether the answer began in this step.
        """
        before = self.phase
        self.num_steps[before] += 1
        self.num_tokens += len(tokens)
        source = str(self._proposal.source) if self._proposal else "decoded"
        self.record.step(source, len(tokens), num_accepted)
        if self.thinking is not None:
            self.thinking.advance(tokens)
        spans = self.lifecycle.advance(tokens)
        began = before is not Phase.ANSWER and self.phase is Phase.ANSWER
        if self._matcher is not None:
            self._feed(self._matcher, before, spans)
        if began and self.lifecycle.has_reasoned:
            self.record.reasoning_ended(_num_at_end(tokens, spans))
        return began

    def _feed(self, matcher: Matcher, before: Phase, spans: list[Span]) -> None:
        """Give the matcher a step's tokens.

        Text before reasoning that the model opens itself is no source: it is not known
        to be the answer until the opening has passed.
        """
        reasoned = before is Phase.REASONING
        answer: list[int] = []
        for span in spans:
            if span.phase is Phase.REASONING:
                reasoned = True
                answer.clear()
                self._opening.clear()
                matcher.extend_reasoning(span.tokens)
            else:
                answer += span.tokens
        if self.phase is Phase.REASONING:
            self._opening.clear()
            return
        if self.phase is Phase.OPENING:
            self._opening += answer
            return
        if before is not Phase.ANSWER:
            matcher.start_answer()
            if not reasoned:
                answer = self._opening + answer
        if answer:
            matcher.extend_answer(answer)

    # --- drafts -----------------------------------------------------------------------

    def draft_due(self) -> int | None:
        """Return the draft budget that was reached since the last call, if any."""
        if self.phase is not Phase.REASONING:
            return None
        if self.reason not in _PASSING or not self._uses_drafts:
            return None
        return self.budget.due(self.lifecycle.num_reasoning_tokens)

    def begin_draft(
        self, budget: int, num_prompt_tokens: int, opening: Sequence[int] | None = None
    ) -> Draft:
        """Note that a draft was forked.

        Args:
            budget: The draft budget that was reached.
            num_prompt_tokens: Length of the draft's prompt.
            opening: Tokens of that prompt which already belong to the answer. Default:
                what follows the marker in the close text.
        """
        draft = self.lifecycle.begin_draft(budget)
        draft.num_prompt_tokens = num_prompt_tokens
        markers = self.lifecycle.markers
        if opening is None:
            opening = markers.after_end if markers else ()
        if self._matcher is not None:
            self._numbers.append(self._matcher.add_draft(opening))
        self.record.draft_started(draft.index)
        return draft

    def extend_draft(self, tokens: Sequence[int]) -> None:
        """Take one step's tokens of the running draft."""
        draft = self.lifecycle.running
        if draft is None or not tokens:
            return
        self.record.drafted()
        self.lifecycle.extend_draft(tokens)
        if self._matcher is not None:
            self._matcher.extend_draft(self._numbers[draft.index], tokens)

    def end_draft(self, reason: DraftEnd) -> None:
        """Note that the running draft has ended, if one runs."""
        draft = self.lifecycle.end_draft(reason)
        self.child_id = None
        if draft is not None:
            self.record.draft_ended(draft.index, str(reason))

    def draft_window(self) -> dict[str, Any] | None:
        """Return tokens of a draft that were not returned yet, for who watches drafts.

        It may have ended in this step. What is returned overlaps with what was
        returned before, for reports may be lost on the way.
        """
        if not self.settings.stream_drafts:
            return None
        news = (
            draft
            for draft in self.lifecycle.drafts
            if len(draft.tokens) > self._shown.get(draft.index, 0)
        )
        if (draft := next(news, None)) is None:
            return None
        offset = max(0, self._shown.get(draft.index, 0) - WINDOW)
        self._shown[draft.index] = len(draft.tokens)
        return {
            "index": draft.index,
            "offset": offset,
            "token_ids": draft.tokens[offset:],
        }

    @property
    def num_draft_tokens(self) -> int:
        """Tokens of all drafts."""
        return sum(len(draft.tokens) for draft in self.lifecycle.drafts)

    @property
    def num_prefill_tokens(self) -> int:
        """Tokens that drafts computed of their prompts."""
        return sum(draft.num_prefill_tokens for draft in self.lifecycle.drafts)

    def add_source(self, tokens: Sequence[int]) -> None:
        """Add a finished draft of somebody else as a source."""
        if self._matcher is not None:
            self._matcher.add_draft(tokens)

    def earlier_drafts(self) -> list[list[int]]:
        """Return the tokens of ended drafts, oldest first."""
        return [d.tokens for d in self.lifecycle.drafts if d.end is not None]


def _num_at_end(tokens: Sequence[int], spans: Sequence[Span]) -> int:
    """Return how many tokens at the end of a step are the answer's."""
    last = spans[-1].tokens if spans and spans[-1].phase is Phase.ANSWER else []
    # What was written before the reasoning is not at the end: a marker follows.
    return len(last) if last and list(tokens[-len(last) :]) == last else 0
