"""The requests of the soak test, each drawn from a seed and its own number.

An answer is compared with a stock engine's answer to the same request. So prompts and
sampling settings come from a list of cases, whose plain answers are asked for once;
speculation settings are drawn anew for each request.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.exactness.asking import Case, merge
from tests.exactness.material import SCHEMA, few_tokens
from tests.integration_tests import tiny_models as tiny

MAX_MODEL_LEN = 1024
WORDS = (
    *("hello", "there", "tell", "me", "more", "about", "it", "and", "then", "some"),
    *("1", "2", "3", "4", "five", "six"),
)
KINDS = {
    "compared": 60,
    "streamed": 6,
    "sampled": 8,
    "cancelled": 14,
    "left": 6,
    "malformed": 6,
}
"""What is done with a request, and how often of a hundred times."""
MALFORMED: Sequence[Mapping[str, Any]] = (
    {"max_tokens": 100_000},
    {"temperature": -1.0},
    {"top_p": 5.0},
    {"n": 0},
    {"min_p": 0.5},
    {"draft_budget": 0},
    {"draft_bugdet": 8},
    {"extra_body": {"logit_bias": {"70": 1.0}}},
    {"extra_body": {"allowed_token_ids": []}},
    {"extra_body": {"allowed_token_ids": [10**6]}},
    {"extra_body": {"min_tokens": 60}, "max_tokens": 20},
    {"extra_body": {"structured_outputs": {"regex": "("}}},
    {"extra_body": {"vllm_xargs": {"ssr": "no JSON"}}},
    {"extra_body": {"vllm_xargs": {"ssr": '{"draft_budget": -1}'}}},
)
"""Settings that are refused."""
TOO_LONG = "x" * (2 * MAX_MODEL_LEN)


@dataclass(frozen=True)
class Planned:
    """A request, and what is done with it.

    Attributes:
        kind: One of `KINDS`.
        index: Which of the cases it is.
        case: The case, with speculation settings.
        seconds: When it is cancelled.
        chunks: After how many chunks its stream is left.
    """

    kind: str
    index: int
    case: Case
    seconds: float
    chunks: int

    @property
    def call(self) -> dict[str, Any]:
        """Settings of a call, those of speculation among them."""
        call: dict[str, Any] = {}
        merge(call, self.case.settings)
        merge(call, self.case.ssr)
        return call


def plan(seed: int, number: int, cases: Sequence[Case]) -> Planned:
    """Return the request with a number; it depends on nothing else."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    index = rng.randrange(len(cases))
    case = replace(cases[index], ssr=_speculation(rng))
    if kind == "malformed":
        case = Case(case.prompt, rng.choice(MALFORMED))
        if rng.random() < 1 / len(MALFORMED):
            case = Case(TOO_LONG)
    if kind == "sampled":
        case = replace(case, settings={"max_tokens": 60, "temperature": 1.0})
    return Planned(kind, index, case, rng.expovariate(3), rng.randint(0, 40))


def make_cases(seed: int, count: int) -> list[Case]:
    """Draw prompts and sampling settings; all of them greedy."""
    rng = random.Random(seed)
    return [Case(_prompt(rng), _sampling(rng)) for _ in range(count)]


def _prompt(rng: random.Random) -> str:
    length = int(2 ** rng.uniform(0, 6.5))  # in words; a tiny model's token is a byte
    return " ".join(rng.choices(WORDS, k=length))


def _sampling(rng: random.Random) -> dict[str, Any]:
    settings: dict[str, Any] = {"temperature": 0, "enable_thinking": True}
    settings["max_tokens"] = int(2 ** rng.uniform(1, 7.5))
    ends = few_tokens(tiny.TEXT, tiny.THINK_END, tiny.IM_END, letters=3)
    ends["extra_body"]["min_tokens"] = min(70, settings["max_tokens"])
    more: dict[str, Any] = rng.choice(
        [
            {},
            few_tokens(tiny.TEXT, tiny.THINK_END),  # ends its reasoning by itself
            ends,  # and its answer
            {"frequency_penalty": 0.7, "repetition_penalty": 1.1},
            {"stop": ["a", "b", "e", "TE"]},
            {"response_format": SCHEMA},
            {"temperature": 1.0, "top_k": 1, "n": 2},
            {"enable_thinking": False},
        ]
    )
    if "allowed_token_ids" not in more.get("extra_body", {}):
        settings["thinking_budget"] = int(2 ** rng.uniform(1, 7)) - 2
    return {**settings, **more}


def _speculation(rng: random.Random) -> dict[str, Any]:
    axes: dict[str, list[Any]] = {
        "draft_budget": [1, 3, 5, 8, 12, 40, [2, 9, 17], "auto"],
        "draft_interval": [None, None, 1, 6],
        "iterative": [True, True, False],
        "max_drafts": [8, 8, 8, 2, 0],
        "max_draft_tokens": [None, None, 1, 20],
        "draft_temperature": [None, None, 1.0],
        "num_speculative_tokens": [None, None, 1, 2, 8],
        "speculate_reasoning": [True, True, False],
        "prediction": [None, None, None, "hello there tell me more " * 4],
        "speculation_stats": ["summary", "summary", "detailed", "none"],
        "sources": [None] * 6 + [["draft_prefix"], ["draft_suffix"], ["prompt"], []],
        "speculation": [True] * 9 + [False],
    }
    drawn = {name: rng.choice(values) for name, values in axes.items()}
    if isinstance(drawn["draft_budget"], list):  # names every draft
        drawn |= dict.fromkeys(("draft_interval", "iterative", "max_drafts"))
    return {name: value for name, value in drawn.items() if value is not None}
