"""A seed gives the same tokens, however many chunks its prompt is computed in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vllm")

import torch

from langchain_ssr.engine import seeds
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle

pytestmark = pytest.mark.engine

CHUNKS: dict[str, Any] = {"max_num_batched_tokens": 40, "max_num_seqs": 8}
LONG = "one two three four five six seven eight nine ten " * 16


def test_only_the_seeds_of_sampled_rows_are_there() -> None:
    sampled, discarded = torch.Generator(), torch.Generator()
    batch = SimpleNamespace(generators={0: sampled, 2: discarded})
    with seeds.resting(batch, np.array([False, True, True])):
        assert batch.generators == {0: sampled}
    assert batch.generators == {0: sampled, 2: discarded}


def test_seeds_come_back_after_an_error() -> None:
    batch = SimpleNamespace(generators={1: torch.Generator()})
    with pytest.raises(ValueError, match="sampler"):  # noqa: SIM117
        with seeds.resting(batch, np.array([False, True])):
            raise ValueError("sampler")
    assert list(batch.generators) == [1]


@pytest.mark.parametrize("speculation", [True, False])
def test_seeded_request_with_a_prompt_in_chunks(
    pool: EnginePool, *, speculation: bool
) -> None:
    llm = pool.model("smollm2", engine_kwargs=CHUNKS)
    seeded = llm.bind(temperature=1, speculation=speculation, max_tokens=16)
    first, again, other = (seeded.invoke(LONG, seed=seed) for seed in (7, 7, 8))
    assert first.usage_metadata["input_tokens"] > 3 * CHUNKS["max_num_batched_tokens"]
    assert first.text == again.text != ""
    assert first.text != other.text
    assert_idle(llm)
