"""The step right after the end of the reasoning verifies a draft already."""

from __future__ import annotations

import pytest

from langchain_ssr.engine.lifecycle import Phase
from langchain_ssr.engine.scheduler import SSRScheduler
from langchain_ssr.sources import Source
from tests.integration_tests.fake_engine import FakeEngine, make_scheduler
from tests.integration_tests.fake_worker import NUM_SPEC, Script

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("ssr", [{}, {"speculate_reasoning": False}])
@pytest.mark.parametrize("cut", [False, True])
def test_one_step_between_the_end_of_the_reasoning_and_the_first_burst(ssr, cut):
    engine = FakeEngine(make_scheduler(SSRScheduler), Script(answer=200 if cut else 20))
    engine.add("a", ssr={"draft_budget": [10], **ssr})
    state = engine.scheduler._states["a"]
    engine.run(lambda: state.phase is Phase.ANSWER)
    # Fast reasoning ends before the short draft does.
    assert str(state.lifecycle.drafts[0].end) == ("stop" if ssr and not cut else "cut")
    said = len(engine.tokens["a"])
    out = engine.step()
    proposal = out.scheduled_spec_decode_tokens["a"]
    assert state._proposal.source is Source.DRAFT_PREFIX
    assert len(proposal) == NUM_SPEC
    # The answer drifts from the draft at its ninth word, behind this proposal.
    assert engine.tokens["a"][said:-1] == proposal
