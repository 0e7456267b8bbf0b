"""Sampled answers follow the model's exact distribution: a short form of the benchmark.

`make distribution` draws 5,000 samples of each kind of request, and of more kinds.
"""

from __future__ import annotations

import pytest

from benchmarks import mixing_model
from benchmarks.distribution import correct, failures, run
from benchmarks.distribution_cases import BY_NAME
from benchmarks.exact_probabilities import Reference
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle

pytestmark = pytest.mark.engine

SAMPLES, LEAST_P, SEED = 250, 1e-4, 0
ENGINE = {"seed": SEED, "max_num_seqs": 128}
"""All requests that run at a time find a place in it, and their drafts, too."""


def test_samples_are_the_models(
    pool: EnginePool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = mixing_model.make(tmp_path_factory.mktemp("mixing"))
    llm = pool.model(str(folder), engine_kwargs=ENGINE)
    reference = Reference(folder)
    outcomes = [
        outcome
        for name in ("seeded", "together")
        for outcome in run(
            llm,
            reference,
            BY_NAME[name],
            num_samples=SAMPLES,
            seed=SEED,
        )
    ]
    assert failures(outcomes, correct(outcomes), LEAST_P) == []
    assert_idle(llm)
