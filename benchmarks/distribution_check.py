"""Compares samples with exact probabilities, and says how far drafts were at work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.common import BenchmarkError
from benchmarks.distribution_cases import NUM_TESTED, Asked
from benchmarks.distribution_samples import Sample
from benchmarks.exact_probabilities import Array, constrain
from benchmarks.goodness_of_fit import Fit, Row, fit

STRATA = ("prefix", "resumed")
"""Tokens before which the whole answer came from a draft, its first token included; and
tokens before which a token had not, so that proposals are looked up anew."""
LEAST_VERIFIED, LEAST_EACH = 0.5, 0.1
"""Least shares of samples with a draft verified from the answer's first token on; with
one accepted token at least, with a rejected one, with a proposal after the mismatch."""
Logits = Callable[[Sequence[Sequence[int]], int, Sequence[int]], Array]


@dataclass(frozen=True)
class Exercise:
    """Samples in which drafts did something.

    Attributes:
        samples: All.
        verified: Tokens of a draft were proposed at the beginning of the answer.
        accepted: Draft tokens were accepted.
        rejected: Draft tokens were rejected.
        resumed: Draft tokens were proposed elsewhere, as after a rejected one.
    """

    samples: int
    verified: int
    accepted: int
    rejected: int
    resumed: int

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Exercise:
        """Count."""
        return cls(
            len(samples),
            sum(s.proposed[0] > 0 for s in samples),
            sum(sum(s.accepted) > 0 for s in samples),
            sum(sum(s.proposed) > sum(s.accepted) for s in samples),
            sum(s.proposed[1] > 0 for s in samples),
        )

    @property
    def suffices(self) -> bool:
        """Whether the samples say something about speculation."""
        least = min(self.accepted, self.rejected, self.resumed)
        return (
            self.verified >= LEAST_VERIFIED * self.samples
            and least >= LEAST_EACH * self.samples
        )


@dataclass(frozen=True)
class Outcome:
    """What the samples of one kind of request showed."""

    asked: Asked
    exercise: Exercise
    fits: dict[str, Fit]
    malformed: int
    """Samples that hold a token that was not allowed, or too few tokens."""
    unclear: int
    """Draws that are left out: rounding decides what top-k or top-p leaves."""

    def to_dict(self) -> dict[str, Any]:
        """Return what a report says of it."""
        return {
            "name": self.asked.name,
            "sampling": asdict(self.asked.sampling),
            "seeded": self.asked.seeded,
            "num_reasoning_tokens": self.asked.num_reasoning,
            "speculation": dict(self.asked.drafts),
            "exercise": asdict(self.exercise),
            "malformed": self.malformed,
            "unclear": self.unclear,
            "strata": {name: each.to_dict() for name, each in self.fits.items()},
        }


def check(asked: Asked, samples: Sequence[Sample], logits: Logits) -> Outcome:
    """Test the first answer tokens of samples, each given all tokens before it.

    A row of the test holds what followed the same answer so far, after any reasoning.
    Both the answer so far and the stratum are known before a token is drawn, so the
    token's distribution is the model's.

    Args:
        asked: What was asked for.
        samples: What came.
        logits: The model's logits, as `Reference.logits`.

    Raises:
        BenchmarkError: A report does not fit its tokens.
    """
    good = [sample for sample in samples if _as_asked(sample, asked)]
    rows, unclear = _rows(asked, good, logits)
    return Outcome(
        asked=asked,
        exercise=Exercise.of(samples),
        fits={name: fit(rows[name]) for name in STRATA},
        malformed=len(samples) - len(good),
        unclear=unclear,
    )


def _as_asked(sample: Sample, asked: Asked) -> bool:
    if len(sample.from_draft) != len(sample.tokens):
        raise BenchmarkError(f"{asked.name}: spans do not add up: {sample}")
    # What ends the reasoning is the only token that is not allowed.
    odd = [i for i, t in enumerate(sample.tokens) if t not in asked.sampling.allowed]
    length = asked.num_reasoning + 1 + NUM_TESTED
    return odd == [asked.num_reasoning] and len(sample.tokens) >= length


def _rows(
    asked: Asked, samples: Sequence[Sample], logits: Logits
) -> tuple[dict[str, list[Row]], int]:
    """Return the rows by stratum, and how many draws were left out."""
    allowed = asked.sampling.allowed
    index = {token: i for i, token in enumerate(allowed)}
    begin = asked.num_reasoning + 1
    texts = [(*s.prompt, *s.tokens[: begin + NUM_TESTED]) for s in samples]
    all_logits = logits(texts, NUM_TESTED, allowed)
    draws: dict[tuple[str, tuple[int, ...]], list[tuple[int, Array]]]
    draws, unclear = defaultdict(list), 0
    for position in range(NUM_TESTED):
        probabilities, clear = constrain(all_logits[:, position], asked.sampling)
        for number, sample in enumerate(samples):
            if not clear[number]:
                unclear += 1
                continue
            before = slice(begin, begin + position)
            stratum = STRATA[not all(sample.from_draft[before])]
            token = index[sample.tokens[begin + position]]
            row = draws[stratum, sample.tokens[before]]
            row.append((token, probabilities[number]))
    rows: dict[str, list[Row]] = {name: [] for name in STRATA}
    for (stratum, _), row in sorted(draws.items()):
        tokens, distributions = zip(*row, strict=True)
        rows[stratum].append(Row.of(tokens, np.array(distributions)))
    return rows, unclear
