"""The count of steps in an engine without SSR, over a scheduler made of lists."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from langchain_ssr.engine.counting import Counting
from langchain_ssr.engine.lifecycle import Markers
from langchain_ssr.stats import SpeculationStats

START, END = 1, 2
MARKERS = Markers(start=(START,), end=(END,))
ASKED = '{"speculation": false}'
BURSTS = [[10], [11, 12, 13], [14, END, 20], [21, 22], [23]]
"""Four steps of reasoning would be eight tokens; the third ends it."""


class Scheduler:
    """As much of vLLM's as is needed: each step's output is what it is told."""

    def __init__(self):
        self.requests = {}

    def add_request(self, request):
        self.requests[request.request_id] = request

    def update_from_output(self, _, outputs):
        return {0: SimpleNamespace(outputs=outputs)}

    def finish_requests(self, request_ids, _):
        return [self.requests.pop(each) for each in request_ids]


class Counted(Counting, Scheduler):
    _markers = MARKERS


def request(given=ASKED, name="r", **fields):
    params = SimpleNamespace(extra_args={"ssr": given} if given else None, stop=None)
    return SimpleNamespace(
        request_id=name,
        sampling_params=params,
        prompt_token_ids=[5, START],
        resumable=False,
        spec_decode_metrics=None,
        **fields,
    )


def output(tokens, reason=None, name="r", params=None):
    return SimpleNamespace(
        request_id=name,
        new_token_ids=tokens,
        finish_reason=reason,
        kv_transfer_params=params,
        spec_decode_metrics=None,
    )


@pytest.fixture
def scheduler():
    return Counted()


def steps_of(scheduler, bursts=BURSTS, **last):
    """Take each burst as a step; return what stands beside each."""
    outputs = [output(burst) for burst in bursts[:-1]]
    outputs.append(output(bursts[-1], "stop", **last))
    for each in outputs:
        scheduler.update_from_output(None, [each])
    return [each.kv_transfer_params for each in outputs]


def test_steps_are_counted_by_phase(scheduler):
    scheduler.add_request(request())
    *before, last = steps_of(scheduler, params={"of": "a connector"})
    assert before == [None] * 4
    assert last["of"] == "a connector"
    report = json.loads(json.dumps(last["ssr"]))
    assert (report["mode"], report["reason"]) == ("off", "disabled")
    assert (report["num_reasoning_steps"], report["num_answer_steps"]) == (3, 2)
    assert scheduler._states == {}


def test_the_report_keeps_what_vllm_says_of_its_method(scheduler):
    scheduler.add_request(request())
    report = steps_of(scheduler)[-1]["ssr"]
    block = {"num_draft_tokens": 9, "num_accepted_draft_tokens": 5}
    usage = {"completion_tokens": 10, "completion_tokens_details": {}}
    usage["completion_tokens_details"]["reasoning_tokens"] = 5
    metrics = {"ssr": report, "speculative_decoding": block}
    told = SpeculationStats.from_report(report, usage, metrics)
    assert (told.num_reasoning_steps, told.num_answer_steps) == (3, 2)
    assert told.num_saved_steps == 5
    assert told.speculative_decoding == block
    assert told.timing.answer_time_ms is not None


@pytest.mark.parametrize(
    "given", [None, '{"asked": false}', '{"speculation_stats": "none"}']
)
def test_who_did_not_ask_is_told_nothing(scheduler, given):
    scheduler.add_request(request(given))
    last = steps_of(scheduler)[-1]
    assert last is None or set(last["ssr"]) == {"counted"}
    assert (last is None) == (given is None)


def test_steps_before_a_stop_string_can_be_looked_up(scheduler):
    scheduler.add_request(request('{"report_each_step": true}'))
    *thinking, ending, answering, last = steps_of(scheduler)
    assert thinking == [None] * 2
    assert ending["ssr"]["num_answer_steps"] == 0
    assert answering["ssr"]["num_answer_steps"] == 1
    assert [one["num_answer_steps"] for one in last["ssr"]["earlier"]] == [0, 1]


def test_a_request_that_is_aborted_is_forgotten(scheduler):
    scheduler.add_request(request())
    assert set(scheduler._states) == {"r"}
    [finished] = scheduler.finish_requests(["r"], None)
    assert finished.request_id == "r"
    assert scheduler._states == {}


def test_a_failure_costs_the_count_and_says_so(scheduler, caplog):
    scheduler.add_request(request())
    scheduler.update_from_output(None, [output([10])])
    scheduler._states["r"].advance = None
    last = steps_of(scheduler)[-1]["ssr"]
    assert last["reason"] == "error"
    [line] = [r for r in caplog.records if r.levelname == "ERROR"]
    assert line.getMessage() == "the steps of a request are not counted: _take failed"


def test_requests_that_are_continued_are_left_alone(scheduler):
    one = request()
    one.resumable = True
    scheduler.add_request(one)
    assert steps_of(scheduler)[-1] is None
