"""Drafts for models whose end of reasoning is a sequence of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from langchain_ssr.engine.lifecycle import Markers
from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run_plain,
    several,
)
from tests.integration_tests.fake_worker import END, START, Script

pytestmark = pytest.mark.engine

OPEN, SLASH = 5, 6  # no words of the script
MARKERS = Markers(start=(START,), end=(OPEN, SLASH, END), close=(OPEN, SLASH, END))


def in_three(tokens: Sequence[int]) -> int:
    """A script whose end of reasoning is three tokens: OPEN, SLASH, END."""
    before = {OPEN: SLASH, SLASH: END}.get(tokens[-1])
    if before is not None:
        return before
    token = Script()([t for t in tokens if t not in (OPEN, SLASH)])
    return OPEN if token == END else token


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_marker_of_several_tokens_ends_the_reasoning_and_closes_drafts(cls):
    scheduler = make_scheduler(cls)
    scheduler._markers = MARKERS
    engine = FakeEngine(scheduler, in_three)
    several(3, ssr=OFTEN)(engine)
    engine.run()
    engine.assert_idle()
    plain = run_plain(several(3), in_three)
    assert engine.tokens == plain.tokens
    for tokens in engine.tokens.values():
        at = tokens.index(END)
        assert tokens[at - 2 : at] == [OPEN, SLASH]
    for report in engine.reports.values():
        assert report["reason"] is None
        assert report["drafts"][0]["finish_reason"] == "cut"
        accepted = {
            name: count["num_accepted_draft_tokens"]
            for name, count in report["sources"].items()
        }
        assert accepted["draft_prefix"]
        assert accepted["draft_prefix"] + accepted["draft_suffix"] > 10
