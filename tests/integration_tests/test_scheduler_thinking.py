"""No proposal crosses a thinking budget."""

from __future__ import annotations

import pytest

from langchain_ssr.engine.scheduler import SSRScheduler
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
)
from tests.integration_tests.fake_worker import END, START, Script

pytestmark = pytest.mark.engine

WORDS = [*range(40, 70)]
BUDGET = 33  # the script's phrase of 23 words comes back before


@pytest.mark.parametrize("cls", SCHEDULERS)
@pytest.mark.kind(4)
def test_no_proposal_crosses_it(cls):
    engine = FakeEngine(make_scheduler(cls), Script(budgets={11: BUDGET}))
    engine.add("a", [11, *WORDS, START], thinking_token_budget=BUDGET, ssr=OFTEN)
    request = engine.scheduler.requests["a"]
    while END not in engine.tokens["a"]:
        thought = request.num_output_tokens
        if spec := engine.step().scheduled_spec_decode_tokens.get("a"):
            assert thought + len(spec) <= BUDGET - 2
    assert engine.proposed("a") or cls is not SSRScheduler
    engine.run()
    engine.assert_idle()
