"""Compares greedy answers of two engines token by token, under the tie rule.

Two float32 runs with different batch shapes may differ by a rounding tie. So three
things are counted: equal; tie (at the first difference the plain engine's own
logprobs of the two tokens are within `TIE`); different.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.exactness.asking import Answer, Case, Choice, Outcome

TIE = 1e-3
PLAIN: dict[str, Any] = {"logprobs_mode": "processed_logprobs"}
"""Engine setting of the plain engine: logprobs after penalties and masks, for it is
those whose maximum is taken."""
FLOOR = -80.0
"""Logprobs below are not told apart. float32 has no probability for some of them: where
vLLM takes the logarithm of a probability, they are -inf (-9999 in a response), where it
does not, they are numbers."""
OUTCOMES = ("equal", "tie", "different")


def compare(plain: Answer, other: Outcome, *, logprobs: bool = False) -> str:
    """Say whether two answers are "equal", a "tie" or "different".

    Args:
        plain: The plain engine's answer, with logprobs.
        other: The other engine's.
        logprobs: Whether logprobs must agree, too, within `TIE`: those of the tokens
            and of the likeliest others. Every token must have some.
    """
    if isinstance(other, Exception) or len(plain.choices) != len(other.choices):
        return "different"
    outcomes = [
        _compare(one, two, logprobs=logprobs)
        for one, two in zip(plain.choices, other.choices, strict=True)
    ]
    return max(outcomes, key=OUTCOMES.index)


def _compare(plain: Choice, other: Choice, *, logprobs: bool) -> str:
    at = first_difference(plain.token_ids, other.token_ids)
    if logprobs and not _same_logprobs(plain, other, at):
        return "different"
    if at < min(len(plain.token_ids), len(other.token_ids)):
        own, token = plain.logprobs[at], other.token_ids[at]
        if token in own and abs(own[plain.token_ids[at]] - own[token]) <= TIE:
            return "tie"
        return "different"
    same = plain.token_ids == other.token_ids and plain.text == other.text
    return "equal" if same else "different"


def _same_logprobs(plain: Choice, other: Choice, num_tokens: int) -> bool:
    """Whether the logprobs of the first tokens agree, and none are left out."""
    if any(len(each.logprobs) != len(each.token_ids) for each in (plain, other)):
        return False
    pairs = zip(plain.logprobs, other.logprobs, strict=False)
    return all(_agree(*pair) for pair in itertools.islice(pairs, num_tokens))


def _agree(own: Mapping[int, float], its: Mapping[int, float]) -> bool:
    """Whether two lists of the likeliest tokens agree.

    Of two that are as likely, either may be the last one.
    """
    return all(
        abs(_floored(one[token]) - _floored(other.get(token, min(other.values()))))
        <= TIE
        for one, other in ((own, its), (its, own))
        for token in one
    )


def _floored(logprob: float) -> float:
    return max(FLOOR, logprob)


def first_difference(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two answers have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def describe(case: Case, plain: Answer, other: Outcome) -> str:
    """Describe a difference so that it can be reproduced."""
    if isinstance(other, Exception):
        return f"{case}\n {type(other).__name__}: {other}"
    lines = [str(case)]
    for one, two in zip(plain.choices, other.choices, strict=False):
        at = first_difference(one.token_ids, two.token_ids)
        part = slice(max(0, at - 3), at + 4)
        lines.append(
            f"equal up to token {at}: plain {one.token_ids[part]} of "
            f"{len(one.token_ids)} {one.text}, ssr {two.token_ids[part]} of "
            f"{len(two.token_ids)} {two.text}"
        )
        if at < len(one.logprobs):
            lines.append(f"the plain engine's logprobs there: {one.logprobs[at]}")
        pairs = enumerate(zip(one.logprobs[:at], two.logprobs, strict=False))
        for index, pair in pairs:
            if not _agree(*pair):
                lines.append(
                    f"logprobs at token {index}: plain {pair[0]}, ssr {pair[1]}"
                )
                break
    return "\n ".join([*lines, str(other.speculation)])


def check_statistics(answer: Answer) -> None:
    """Check the arithmetic of one answer's statistics.

    Raises:
        AssertionError: If it is wrong.
    """
    stats = answer.speculation
    length = sum(len(choice.token_ids) for choice in answer.choices)
    steps = stats["num_reasoning_steps"] + stats["num_answer_steps"]
    assert steps + stats["num_saved_steps"] == length, stats
    tokens = stats["num_reasoning_tokens"] + stats["num_answer_tokens"]
    assert tokens == length, stats
    sources = stats["sources"].values()
    proposed = sum(source["num_draft_tokens"] for source in sources)
    accepted = sum(source["num_accepted_draft_tokens"] for source in sources)
    assert accepted <= proposed, stats
    vllm = stats["speculative_decoding"]
    if vllm and stats["mode"] == "ssr":  # else there is no report to agree with it
        assert vllm["num_draft_tokens"] == proposed, stats
        assert vllm["num_accepted_draft_tokens"] == accepted, stats
        assert sum(vllm["acceptance_histogram"]) == vllm["num_spec_steps"], stats
    # Drafts that follow earlier ones are proposed tokens in vain, too.
    in_drafts = stats["overhead"]["num_rejected_tokens"] - (proposed - accepted)
    assert in_drafts >= 0, stats
    assert in_drafts == 0 or len(stats["drafts"]) > 1, stats
    if "spans" in stats:
        assert sum(count for _, count in stats["spans"]) == length, stats
    json.dumps(stats, allow_nan=False)
