"""What SSR could save on a user's own requests: from logs alone, without an engine.

The recorded texts stand in for the model. In each step the matcher proposes from the
prompt, reasoning and answer, the longest correct beginning is accepted, and the engine
adds a token of its own. Drafts cannot be replayed from a log, for they depend on the
model. In the answer they can bring at most that every step is full: one token more than
are proposed. While the model thinks, drafts are proposed from too, and no log says what
that brings; the reasoning counts as replayed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from langchain_ssr.bench.logs import Logged
from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.engine.suffix_index import common_prefix

Tokenize = Callable[[str], Sequence[int]]
"""Turns a text into token ids."""
_PIECES = re.compile(r" ?[A-Za-z]{1,8}| ?\d| ?[^\sA-Za-z\d]|\s+|[A-Za-z]+")


class Pieces:
    """Stands in for a tokenizer: short words, digits, signs and spaces.

    English text and code have about as many of these as tokens of a large vocabulary;
    give the model's own tokenizer where it is at hand.
    """

    def __init__(self) -> None:
        """Begin with no known piece."""
        self._ids: dict[str, int] = {}

    def __call__(self, text: str) -> list[int]:
        """Return ids of a text's pieces; equal pieces have equal ids."""
        return [
            self._ids.setdefault(piece, len(self._ids))
            for piece in _PIECES.findall(text)
        ]


@dataclass(frozen=True)
class Advice:
    """What the logs say.

    Attributes:
        requests: Requests with an answer.
        with_reasoning: Those with reasoning in the log.
        reasoning_tokens: In all.
        answer_tokens: In all.
        answer_share: Answer tokens over all tokens, from 0 to 1.
        most_saved: The share of decode steps that is saved if the reasoning goes as in
            the replay, and every step of the answer is full. In the answer no draft can
            save more; in the reasoning, where drafts are a source as well, one might.
        replayed_saved: The share of decode steps that proposals from prompt, reasoning
            and answer save without any draft.
        reasoning_tokens_per_step: In the replay.
        answer_tokens_per_step: In the replay.
    """

    requests: int
    with_reasoning: int
    reasoning_tokens: int
    answer_tokens: int
    answer_share: float
    most_saved: float
    replayed_saved: float
    reasoning_tokens_per_step: float | None
    answer_tokens_per_step: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


def advise(logged: Sequence[Logged], tokenize: Tokenize, max_spec: int = 32) -> Advice:
    """Replay logged requests.

    Args:
        logged: The requests; at least one.
        tokenize: The tokenizer.
        max_spec: Most proposed tokens of a step.
    """
    reasoning_tokens = reasoning_steps = answer_tokens = answer_steps = 0
    least_answer_steps = 0
    for each in logged:
        reasoning, answer = tokenize(each.reasoning), tokenize(each.answer)
        matcher = Matcher(tokenize(each.prompt))
        reasoning_tokens += len(reasoning)
        answer_tokens += len(answer)
        reasoning_steps += num_steps(
            matcher, matcher.extend_reasoning, reasoning, max_spec
        )
        matcher.start_answer()
        least_answer_steps += -(-len(answer) // (max_spec + 1))
        answer_steps += num_steps(matcher, matcher.extend_answer, answer, max_spec)
    tokens = reasoning_tokens + answer_tokens
    return Advice(
        requests=len(logged),
        with_reasoning=sum(bool(each.reasoning) for each in logged),
        reasoning_tokens=reasoning_tokens,
        answer_tokens=answer_tokens,
        answer_share=answer_tokens / tokens,
        most_saved=1 - (reasoning_steps + least_answer_steps) / tokens,
        replayed_saved=1 - (reasoning_steps + answer_steps) / tokens,
        reasoning_tokens_per_step=(
            reasoning_tokens / reasoning_steps if reasoning_steps else None
        ),
        answer_tokens_per_step=answer_tokens / answer_steps,
    )


def num_steps(
    matcher: Matcher,
    extend: Callable[[Sequence[int]], None],
    tokens: Sequence[int],
    max_spec: int,
) -> int:
    """Replay recorded tokens and count the engine's steps.

    Args:
        matcher: Proposes.
        extend: Takes in the tokens of a step.
        tokens: What the model wrote.
        max_spec: Most proposed tokens of a step.
    """
    done = steps = 0
    while done < len(tokens):
        rest = tokens[done : done + max_spec + 1]
        proposal = matcher.propose(max_spec)
        accepted = common_prefix(proposal.tokens, rest) if proposal else 0
        emitted = list(rest[: accepted + 1])
        extend(emitted)
        done += len(emitted)
        steps += 1
    return steps
