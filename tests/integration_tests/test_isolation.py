"""Nothing of a request reaches another: no token, no draft, no source, no cache block.

Here on the scheduler, with made-up model outputs. What clients of a server see is
looked at in test_many_clients.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from tests.integration_tests.fake_engine import (
    OFTEN,
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
)
from tests.integration_tests.fake_worker import (
    BLOCK,
    END,
    EOS,
    FIRST_WORD,
    START,
    TOOL_CALL,
    VOCAB,
    Script,
)

pytestmark = pytest.mark.engine

REQUESTS = 8
WORDS = (VOCAB - FIRST_WORD) // REQUESTS
"""Words that only one request uses."""
MARKS = {EOS, START, END, TOOL_CALL}
SCRIPT = Script(drift=3)


def words_of(number: int) -> range:
    first = FIRST_WORD + number * WORDS
    return range(first, first + WORDS)


def in_own_words(tokens: Sequence[int]) -> int:
    """A model that answers in words of the prompt's first word's kind."""
    token = SCRIPT(tokens)
    if token < FIRST_WORD:
        return token
    return words_of((tokens[0] - FIRST_WORD) // WORDS)[token % WORDS]


def settings_of(number: int) -> dict[str, Any]:
    ssr: dict[str, Any] = OFTEN | {"stream_drafts": True}
    if number % 2 == 0:
        ssr["prediction_token_ids"] = list(words_of(number))[::-1]
    if number % 4 == 0:
        ssr["max_drafts"] = 0  # so that the prediction has its turn
    return ssr


def run_and_note(engine: FakeEngine) -> dict[str, set[int]]:
    """Run all requests; return the tokens that each, and each draft, had to do with."""
    met: defaultdict[str, set[int]] = defaultdict(set)
    while engine.scheduler.has_requests() or engine.out:
        engine.step()
        for request_id, report in engine.reports.items():
            met[request_id].update(report.get("draft", {}).get("token_ids", ()))
    for step in engine.schedules:
        for new in step.scheduled_new_reqs:
            met[new.req_id].update(new.prompt_token_ids)
        for request_id, proposed in step.scheduled_spec_decode_tokens.items():
            met[request_id].update(proposed)
    for request_id, tokens in engine.tokens.items():
        met[request_id].update(tokens)
    return met


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_request_has_its_own_words_only(cls) -> None:
    engine = FakeEngine(make_scheduler(cls), in_own_words)
    for number in range(REQUESTS):
        prompt = [*words_of(number)[:20], START]
        engine.add(f"r{number}", prompt, ssr=settings_of(number))
    met = run_and_note(engine)
    close = set(engine.scheduler._markers.close)
    for request_id, tokens in met.items():
        number = int(request_id.partition("-")[0].removeprefix("r"))
        assert tokens <= {*words_of(number), *MARKS, *close}, request_id
    assert all(map(engine.proposed, engine.tokens))
    assert engine.forked & met.keys()
    predicted = [
        engine.reports[f"r{number}"]["sources"]["prediction"]["num_draft_tokens"]
        for number in range(REQUESTS)
    ]
    assert all(predicted[::4])
    assert not any(predicted[1::2])  # they have none
    engine.assert_idle()


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_cache_salt_keeps_prefixes_apart(cls) -> None:
    """A draft finds the blocks of its own request, and nobody finds another salt's."""
    engine = FakeEngine(make_scheduler(cls))
    prompt = [10, *range(40, 40 + 4 * BLOCK), START]
    salts = {"a": "one", "b": "two", "c": "one", "d": None}
    for name, salt in salts.items():
        engine.add(name, list(prompt), ssr=OFTEN, cache_salt=salt)
        engine.run()
    cached: dict[str, int] = {}
    for step in engine.schedules:
        for new in step.scheduled_new_reqs:
            cached.setdefault(new.req_id, new.num_computed_tokens)
    assert {name: cached[name] // BLOCK for name in salts} == {
        "a": 0,
        "b": 0,
        "c": 4,
        "d": 0,
    }
    for name in salts:
        assert cached[f"{name}-draft-0"] // BLOCK >= 4
    engine.assert_idle()
