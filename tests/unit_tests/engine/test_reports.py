"""The scheduler's reports on their way out: shown to who asked, counted for all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from langchain_ssr.engine.report import make_report
from langchain_ssr.engine.report_history import ReportHistory
from langchain_ssr.engine.reports import Reports, prediction_usage
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings
from langchain_ssr.sources import Source


def output(tokens, params=None, finish_reason=None, index=0, stop_reason=None):
    one = SimpleNamespace(
        index=index,
        token_ids=tokens,
        text="",
        finish_reason=finish_reason,
        stop_reason=stop_reason,
    )
    return SimpleNamespace(outputs=[one], kv_transfer_params=params)


class Read:
    """Reads outputs to their end, or to the `num`-th; what was counted, and more."""

    def __init__(self, *outputs, count=None):
        self.counted = []
        self.reports = Reports(
            self._source(outputs), count or (lambda *args: self.counted.append(args))
        )

    @staticmethod
    async def _source(outputs):
        for each in outputs:
            if isinstance(each, Exception):
                raise each
            yield each

    async def all(self, num=100):
        outputs = self.reports.outputs()
        read = []
        async for each in outputs:
            read.append(each)
            if len(read) == num:
                break
        await outputs.aclose()
        return read


async def test_a_report_for_the_client_is_shown_and_counted():
    read = Read(output([1, 2]), output([3], {"ssr": {"mode": "ssr"}}, "stop"))
    outputs = await read.all()
    assert [o.kv_transfer_params for o in outputs] == [None, None]
    assert read.reports.last == {"mode": "ssr"}
    assert read.counted == [({"mode": "ssr"}, 3)]
    assert read.reports.finish_reasons == {0: "stop"}


async def test_a_report_that_nobody_asked_for_is_counted_only():
    read = Read(output([1], {"ssr": {"counted": {"mode": "ssr"}}}, "stop"))
    outputs = await read.all()
    assert outputs[0].kv_transfer_params is None
    assert read.reports.last is None
    assert read.reports.counted == {"mode": "ssr"}
    assert read.counted == [({"mode": "ssr"}, 1)]


async def test_what_a_connector_put_there_stays():
    read = Read(output([1], {"ssr": {"counted": {}}, "remote": 1}))
    assert (await read.all())[0].kv_transfer_params == {"remote": 1}


async def test_the_last_report_is_counted_once():
    shown = [output([1], {"ssr": {"n": n}}) for n in range(3)]
    read = Read(*shown)
    await read.all()
    assert read.counted == [({"n": 2}, 3)]


async def test_without_a_report_nothing_is_counted():
    read = Read(output([1]), output([2], None, "stop"))
    await read.all()
    assert read.counted == []


async def test_a_stream_that_is_left_is_counted_so_far():
    read = Read(output([1], {"ssr": {"n": 1}}), output([2], {"ssr": {"n": 2}}))
    await read.all(num=1)
    assert read.counted == [({"n": 1}, 1)]


async def test_a_client_that_leaves_is_counted_up_to_the_last_report():
    drafts = [{"finish_reason": "stop"}, {"finish_reason": None}]
    report = {"n": 1, "drafts": drafts}
    read = Read(
        output([1, 2], {"ssr": {"counted": report}}), output([3, 4]), output([5])
    )
    outputs = await read.all(num=2)
    assert [o.kv_transfer_params for o in outputs] == [None, None]
    assert read.reports.last is None
    # The draft that ran was cut with the request. Of later tokens nothing is known.
    ended = [{"finish_reason": "stop"}, {"finish_reason": "cut"}]
    assert read.counted == [({"n": 1, "drafts": ended}, 2)]
    assert drafts[1]["finish_reason"] is None


async def test_a_report_on_the_way_is_not_the_client_s():
    draft = {"index": 0, "offset": 0, "token_ids": []}
    on_the_way = {"draft": draft, "counted": {"n": 1}}
    read = Read(output([1], {"ssr": on_the_way}), output([2], {"ssr": {"n": 2}}))
    outputs = read.reports.outputs()
    await anext(outputs)
    assert (read.reports.last, read.reports.counted) == (None, {"n": 1})
    await anext(outputs)
    await outputs.aclose()
    assert read.reports.last == {"n": 2}
    assert read.counted == [({"n": 2}, 2)]


async def test_an_error_passes_and_what_was_is_counted():
    read = Read(output([1], {"ssr": {"n": 1}}), RuntimeError("died"))
    with pytest.raises(RuntimeError, match="died"):
        await read.all()
    assert read.counted == [({"n": 1}, 1)]


async def test_a_failing_counter_does_not_cost_the_answer(caplog):
    def fail(*_):
        raise KeyError

    read = Read(output([1], {"ssr": {"n": 1}}, "stop"), count=fail)
    assert len(await read.all()) == 1
    assert "not counted" in caplog.text


async def test_spans_get_the_texts_of_all_outputs():
    class Letters:
        def decode(self, token_ids, **_):
            return "".join(map(chr, token_ids))

    def says(text, params=None, finish_reason=None):
        told = output(list(map(ord, text)), params, finish_reason)
        told.outputs[0].text = text
        return told

    spans = [["decoded", 2], ["draft_prefix", 3]]
    read = Read(says("ab"), says("cde", {"ssr": {"spans": spans}}, "stop"))
    read.reports._tokenizer = Letters()
    await read.all()
    assert read.reports.whole() == {"spans": spans, "span_texts": ["ab", "cde"]}


def test_usage_says_what_became_of_the_prediction():
    text = list(range(40))
    state = RequestState(SpeculationSettings(), None, [50, 51], prediction=text)
    proposed = state.propose(8)
    assert proposed == text[:8]
    state.count_proposal(8, 5)
    state.advance([*text[:5], 99], 5)  # the sixth is another
    proposed = state.propose(4)
    assert proposed == text[6:10]  # a substitution is expected
    state.count_proposal(4, 4)
    report = make_report(state)
    assert report["sources"][Source.PREDICTION]["num_draft_tokens"] == 12
    assert prediction_usage(report) == {
        "accepted_prediction_tokens": 9,
        "rejected_prediction_tokens": 3,
    }


def test_what_others_proposed_is_not_the_predictions():
    state = RequestState(SpeculationSettings(), None, [1, 2, 3, 1, 2, 3])
    state.advance([1, 2], 0)
    proposed = state.propose(4)
    assert proposed[:1] == [3]
    state.count_proposal(len(proposed), len(proposed))
    assert not any(prediction_usage(make_report(state)).values())


@pytest.mark.parametrize("counted_only", [False, True])
async def test_a_stop_takes_the_report_of_its_own_step(counted_only):
    history = ReportHistory()
    history.add({"n": 1}, 1, None)
    history.add({"n": 2}, 3, None)
    report = history.add({"n": 3}, 8, None)
    report = {"counted": report} if counted_only else report
    # The outputs of all three steps came at once, and were cut after two tokens.
    stopped = output([1, 2], {"ssr": report}, "stop", stop_reason="X")
    read = Read(stopped)
    await read.all()
    assert read.counted == [({"n": 2}, 2)]
    assert read.reports.last == (None if counted_only else {"n": 2})


async def test_an_end_by_a_token_takes_the_last_report():
    history = ReportHistory()
    history.add({"n": 1}, 1, None)
    report = history.add({"n": 2}, 3, None)
    read = Read(output([1, 2, 3], {"ssr": report}, "stop", stop_reason=151645))
    await read.all()
    assert read.counted == [({"n": 2}, 3)]
