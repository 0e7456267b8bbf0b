"""Whatever settings reach the scheduler: it never raises, and no answer changes.

The settings come as `LLM.generate` brings them, in `SamplingParams.extra_args`: checked
by nobody.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams
from vllm.v1.request import RequestStatus

from langchain_ssr.engine.scheduler import KEY
from tests.integration_tests.fake_engine import (
    SCHEDULERS,
    FakeEngine,
    make_scheduler,
    run_plain,
)
from tests.integration_tests.fake_worker import END, START, TOOL_CALL, VOCAB, Script
from tests.unit_tests.fuzzing import RAW_SSR

pytestmark = pytest.mark.engine

quick = settings(
    max_examples=int(os.environ.get("SSR_EXAMPLES", "40")),
    deadline=None,
    database=None,
)


def is_taken(value: Any) -> bool:
    """Whether vLLM takes a value in `extra_args`: its own checks come first."""
    try:
        SamplingParams(extra_args={KEY: value})
    except VLLMValidationError:
        return False
    return True


AS_TEXT = RAW_SSR.map(json.dumps) | st.text(max_size=20) | st.just("[" * 2000)
NOT_TEXT = RAW_SSR | st.binary(max_size=4)
SSR = AS_TEXT | NOT_TEXT.filter(is_taken)
PROMPT = st.lists(
    st.integers(8, VOCAB - 1) | st.sampled_from([START, END, TOOL_CALL]),
    min_size=1,
    max_size=60,
)
REQUEST = st.fixed_dictionaries(
    {"ssr": SSR, "prompt": PROMPT},
    optional={
        "max_tokens": st.integers(1, 120),
        "thinking_token_budget": st.integers(0, 30),
        "regex": st.just("[a-z ]{1,40}"),
    },
)


def check(engine: FakeEngine, requests: list[dict[str, Any]]) -> None:
    """Every answer is vLLM's own, every report JSON, and nothing is left."""
    engine.assert_idle()
    for report in engine.reports.values():
        json.dumps(report, allow_nan=False)

    def add_all(plain: FakeEngine) -> None:
        for number, request in enumerate(requests):
            plain.add(f"r{number}", **{**request, "ssr": {}})

    plain = run_plain(add_all, engine.worker.model)
    for request_id, tokens in engine.tokens.items():
        if engine.finished.get(request_id) == plain.finished[request_id]:
            assert tokens == plain.tokens[request_id]
        else:  # it was aborted
            assert tokens == plain.tokens[request_id][: len(tokens)]


@pytest.mark.parametrize("cls", SCHEDULERS)
@given(
    requests=st.lists(REQUEST, min_size=1, max_size=3),
    aborts=st.dictionaries(st.integers(1, 80), st.integers(0, 2), max_size=2),
    model=st.builds(
        Script,
        reasoning=st.integers(0, 50),
        answer=st.integers(1, 70),
        end=st.sampled_from([END, TOOL_CALL]),
    ),
    num_blocks=st.sampled_from([24, 60, 400]),
)
@quick
def test_any_settings_and_any_order_of_events(cls, requests, aborts, model, num_blocks):
    engine = FakeEngine(make_scheduler(cls, num_blocks=num_blocks), model)
    for number, request in enumerate(requests):
        engine.add(f"r{number}", **request)
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        if steps in aborts:
            engine.scheduler.finish_requests(
                f"r{aborts[steps]}", RequestStatus.FINISHED_ABORTED
            )
        return not (engine.scheduler.has_requests() or engine.out)

    engine.run(until=step)
    check(engine, requests)


@given(
    extra_args=st.none()
    | st.dictionaries(st.just(KEY) | st.text(max_size=3), RAW_SSR, max_size=2).filter(
        is_taken
    )
)
@quick
def test_any_extra_arguments(extra_args):
    engine = FakeEngine(make_scheduler())
    real = engine.scheduler.add_request

    def add(request):
        request.sampling_params.extra_args = extra_args
        real(request)

    engine.scheduler.add_request = add
    engine.add("r0", prompt=[10, 11, START])
    engine.run()
    check(engine, [{"prompt": [10, 11, START]}])
    assert engine.finished == {"r0": "stop"}
