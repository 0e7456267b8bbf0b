"""Least lengths count a proposal's tokens at the token after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

pytest.importorskip("vllm")

import torch
from vllm.v1.sample.logits_processor import LogitsProcessors
from vllm.v1.sample.logits_processor.builtin import MinTokensLogitsProcessor
from vllm.v1.sample.metadata import SamplingMetadata

from langchain_ssr.engine.min_tokens import at_bonus_tokens
from tests.exactness.asking import Case, ask_all
from tests.exactness.equality import PLAIN, compare, describe
from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

STOP, LEAST = 3, 5


def processor(lengths: dict[int, int], *, structured: bool = False):
    """Return vLLM's processor for requests that have so many tokens, by row."""
    made = MinTokensLogitsProcessor(None, torch.device("cpu"), False)  # noqa: FBT003
    made.min_toks = {
        row: (LEAST, [0] * length, {STOP}, structured)
        for row, length in lengths.items()
    }
    made.update_state(None)
    return made


def masked(found, logits: torch.Tensor) -> list[int]:
    """Return the rows in which the stop token is masked."""
    return [int(row) for row in torch.isneginf(found.apply(logits)[:, STOP]).nonzero()]


def metadata(*processors) -> SamplingMetadata:
    made = SamplingMetadata.__new__(SamplingMetadata)
    fields = dict.fromkeys(SamplingMetadata.__dataclass_fields__)
    made.__dict__.update(fields, logitsprocs=LogitsProcessors(processors))
    return made


@pytest.mark.parametrize("structured", [False, True])
def test_a_proposal_counts_at_the_token_after_it(structured: bool) -> None:
    own = processor({0: 3, 1: 3, 2: 4}, structured=structured)
    (found,) = at_bonus_tokens(metadata(own), [1, 2, 0]).logitsprocs.all
    assert masked(found, torch.zeros(3, 8)) == [0, 2]
    assert len(own.min_toks) == 3


def test_a_stop_token_that_is_all_there_is_stays() -> None:
    own = processor({0: 3}, structured=True)
    (found,) = at_bonus_tokens(metadata(own), [1]).logitsprocs.all
    logits = torch.full((1, 8), float("-inf"))
    logits[0, STOP] = 1.0
    assert masked(found, logits) == []


def test_without_least_lengths_nothing_is_made() -> None:
    given = metadata(processor({}))
    assert at_bonus_tokens(given, [1]) is given


def test_vllm_still_does_it_wrong() -> None:
    """If this fails, vLLM has mended it, and `MinTokens` can go."""
    own = processor({0: 3})
    own.logits_slice = (torch.tensor([0]), torch.tensor([STOP]))
    assert masked(own, torch.zeros(1, 8)) == [0]


@pytest.mark.embedded
def test_a_request_ends_where_it_would_without_speculation(pool: EnginePool) -> None:
    """Proposals from the reasoning end just before, at and after the least length."""
    llm = pool.model("qwen3", engine_kwargs=PLAIN)
    cases = [
        Case(
            "What is 2+2? Count to ten: 1 2 3 4",
            {
                "frequency_penalty": 2.0,
                "max_tokens": 90,
                "thinking_budget": 24,
                "extra_body": {
                    "allowed_token_ids": [70, 71],
                    "stop_token_ids": [71],
                    "min_tokens": least,
                },
            },
            {"num_speculative_tokens": width},
        )
        for least in range(28, 44)
        for width in (2, 5)
    ]
    plainly = [
        replace(case, settings={**case.settings, "speculation": False})
        for case in cases
    ]
    plain = asyncio.run(ask_all(llm, plainly, speculate=False, at_once=16))
    ours = asyncio.run(ask_all(llm, cases, speculate=True, at_once=16))
    for case, one, other in zip(cases, plain, ours, strict=True):
        assert compare(one, other) != "different", describe(case, one, other)
    assert all(choice.stop_reason == 71 for one in plain for choice in one.choices)
