"""A cell of the grid: what came of the requests of one shape on one engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.exactness.asking import Answer, Case, Outcome
from tests.exactness.equality import check_statistics, compare, describe


@dataclass
class Cell:
    """What was counted; all of it plain JSON."""

    shape: str
    engine: str
    requests: int = 0
    equal: int = 0
    ties: int = 0
    different: int = 0
    speculated: int = 0
    """Requests that could be speculated: not switched off, one choice only."""
    greedy: int = 0
    """Those of them without temperature: only there can a tie be told."""
    drafted: int = 0
    """Requests with at least one draft of at least one token."""
    saved_steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    resets: int = 0
    preemptions: int | None = None
    """Requests that vLLM preempted, drafts included; None where a server counts."""
    longest: int = 0
    """The longest proposal that was accepted whole or in part, in accepted tokens."""
    adapted: int = 0
    """Requests that an adapter answered otherwise than the model itself."""
    leaked: bool = False
    """Whether requests or cache blocks were left behind."""
    ends: dict[str, int] = field(default_factory=dict)
    """Requests by how they ended on the plain engine."""
    drafts: dict[str, int] = field(default_factory=dict)
    """Drafts by the reason why they ended."""
    different_cases: list[str] = field(default_factory=list)
    wrong_statistics: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What a reader knows it by."""
        return f"{self.shape}, {self.engine}"

    def add(
        self, case: Case, plain: Answer, other: Outcome, *, end: str, logprobs: bool
    ) -> None:
        """Count one request.

        Args:
            case: The request.
            plain: The plain engine's answer.
            other: The answer of the engine with SSR.
            end: How the answer ended.
            logprobs: Whether logprobs must agree, too, if the request wants them.
        """
        logprobs &= case.ssr.get("extra_body", {}).get("logprobs", True)
        self.requests += 1
        self.ends = dict(Counter(self.ends) + Counter([end]))
        match compare(plain, other, logprobs=logprobs):
            case "equal":
                self.equal += 1
            case "tie":
                self.ties += 1
            case _:
                self.different += 1
                self.different_cases.append(describe(case, plain, other))
        if isinstance(other, Answer):
            self._count(case, other)

    def _count(self, case: Case, answer: Answer) -> None:
        stats = answer.speculation
        try:
            check_statistics(answer)
        except AssertionError as error:
            self.wrong_statistics.append(f"{case}: {error}")
        speculated = stats["mode"] == "ssr"
        self.speculated += speculated
        self.greedy += speculated and "temperature" not in case.settings
        self.drafted += any(draft["num_tokens"] for draft in stats["drafts"])
        if block := stats["speculative_decoding"]:
            counts = enumerate(block["acceptance_histogram"])
            self.longest = max([self.longest, *(n for n, steps in counts if steps)])
        self.saved_steps += stats["num_saved_steps"]
        self.tokens += sum(len(choice.token_ids) for choice in answer.choices)
        ended = Counter(str(draft["finish_reason"]) for draft in stats["drafts"])
        self.drafts = dict(Counter(self.drafts) + ended)
