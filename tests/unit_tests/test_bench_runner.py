"""What is asked of which engine in which order, and what is kept of it."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessageChunk

from langchain_ssr.bench.asking import Answer
from langchain_ssr.bench.modes import BUILT_IN, parse_mode
from langchain_ssr.bench.record import Record
from langchain_ssr.bench.runner import Plan, run
from langchain_ssr.bench.store import Store
from langchain_ssr.errors import SettingsError
from tests.unit_tests.bench_fakes import FakeEngines, item, judge, stats

ITEMS = [item(name, judge=judge) for name in ("a", "b", "c")]
MODES = [BUILT_IN[name] for name in ("plain", "ngram", "ssr", "ssr-no-draft")]


@pytest.fixture
def engines():
    return FakeEngines()


def go(engines, folder, *, items=ITEMS, modes=MODES, **plan):
    store = Store(folder)
    lines = []
    plan = Plan(items, modes, **{"warm_up": 0, **plan})
    run(plan, store, engines.open, lines.append)
    assert not engines.alive
    assert len(lines) == plan.size
    return store


def test_one_engine_after_the_other_and_its_modes_in_turns(engines, tmp_path):
    go(engines, tmp_path, rounds=2)
    assert engines.started == ["plain", "ngram", "ssr"] * 2
    of_ssr = [
        (name, settings.get("max_drafts"))
        for kind, name, settings in engines.asked
        if kind == "ssr"
    ]
    first = [("a", None), ("a", 0), ("b", 0), ("b", None), ("c", None), ("c", 0)]
    assert of_ssr[:6] == first
    assert of_ssr[6:8] == [("a", 0), ("a", None)]  # the other one begins


def test_engines_alive_together_take_turns_at_each_request(engines, tmp_path):
    go(engines, tmp_path, modes=MODES[:3], alive_together=True)
    assert engines.started == ["plain", "ngram", "ssr"]
    assert [kind for kind, *_ in engines.asked] == [
        *("plain", "ngram", "ssr"),
        *("ngram", "ssr", "plain"),
        *("ssr", "plain", "ngram"),
    ]


def test_warm_up_answers_are_not_kept(engines, tmp_path):
    store = go(engines, tmp_path, modes=MODES[:1], warm_up=2)
    assert [name for _, name, _ in engines.asked] == ["warm-up"] * 2 + ["a", "b", "c"]
    assert len(store.records) == 3


def test_no_request_profits_from_what_another_mode_or_round_has_cached(
    engines, tmp_path
):
    talk = [item("a", conversation="talk"), item("b", conversation="talk"), item("c")]
    go(engines, tmp_path, items=talk, rounds=2, settings={"extra_body": {"x": 1}})
    salts = {}
    for kind, name, settings in engines.asked:
        assert settings["extra_body"]["x"] == 1
        salt = settings["extra_body"]["cache_salt"]
        salts.setdefault(salt, []).append((kind, name))
    assert len(salts) == 2 * len(MODES) * 2
    shared = [asked for asked in salts.values() if len(asked) > 1]
    assert all([name for _, name in asked] == ["a", "b"] for asked in shared)
    assert len(shared) == 2 * len(MODES)


def test_settings_of_items_and_modes_win(engines, tmp_path):
    one = item("a", settings={"max_tokens": 5})
    mode = parse_mode('mine={"max_drafts": 3, "draft_budget": 9}')
    given = {"max_tokens": 9, "temperature": 0, "max_drafts": 1}
    go(engines, tmp_path, items=[one], modes=[mode], settings=given)
    [(_, _, settings)] = engines.asked
    assert settings["max_tokens"] == 5
    assert (settings["max_drafts"], settings["draft_budget"]) == (3, 9)
    assert settings["temperature"] == 0


def test_a_run_goes_on_where_it_stopped(engines, tmp_path):
    engines.dies_at = 5
    with pytest.raises(KeyboardInterrupt):
        go(engines, tmp_path)
    assert len(Store(tmp_path).records) == 5
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"mode": "ssr", "item": "a", "rou')  # killed in mid-line
    engines.asked.clear()
    engines.dies_at = None
    store = go(engines, tmp_path)
    assert len(store.records) == len(engines.asked) + 5 == 12
    assert len({record.key for record in store.records}) == 12
    engines.started.clear()
    again = go(engines, tmp_path)
    assert not engines.started
    assert sorted(r.key for r in again.records) == sorted(r.key for r in store.records)


def test_another_request_of_the_same_name_is_refused(engines, tmp_path):
    go(engines, tmp_path)
    other = item("a", messages=[{"role": "user", "content": "something else"}])
    with pytest.raises(SettingsError, match="another request 'a'"):
        go(engines, tmp_path, items=[other])


def test_a_request_that_is_too_long_is_told_and_not_asked_again(engines, tmp_path):
    store = go(engines, tmp_path, items=[item("too-long")], modes=MODES[:1])
    assert store.records[0].skipped == "too long"
    engines.asked.clear()
    go(engines, tmp_path, items=[item("too-long")], modes=MODES[:1])
    assert not engines.asked


def test_what_is_kept_of_an_answer(engines, tmp_path):
    go(engines, tmp_path, items=ITEMS[:1])
    plain, ngram, ssr, _ = Store(tmp_path).records  # as read again
    assert (plain.num_steps, plain.accepted, plain.num_extra_tokens) == (100, {}, 0)
    assert plain.num_reasoning_steps == 40
    assert (ngram.num_steps, ngram.num_answer_steps) == (75, 35)
    assert (ngram.accepted, ngram.num_extra_tokens) == ({"ngram": 25}, 45)
    assert (ssr.num_steps, ssr.num_answer_steps, ssr.num_drafts) == (50, 20, 1)
    assert ssr.accepted == {"draft_prefix": 5, "prompt": 45}
    assert ssr.num_extra_tokens == 9 + 11
    assert (ssr.first_reasoning, ssr.first_draft) == (0.5, 1.5)
    assert (ssr.first_answer, ssr.total, ssr.score) == (2.5, 5.0, 1.0)
    assert (ssr.reasoning, ssr.content) == ("hm", "right")
    # 30 steps in 1450 ms: one for the prompt (100 ms), 10 beside the draft (400 ms)
    assert (ssr.drafting.num_steps, ssr.drafting.ms) == (10, 400)
    assert (ssr.alone.num_steps, ssr.alone.ms) == (19, 950)


def told_of(name, change):
    """The record of an answer whose statistics are changed."""
    told = stats(name)
    change(told)
    metadata = {"speculation": told.to_dict()}
    message = AIMessageChunk(content="right", response_metadata=metadata)
    return Record.of(BUILT_IN[name], ITEMS[0], 0, Answer(message, 0.5, 1.0, 2.0))


def forget_report(told):
    told.timing.reasoning_time_ms = told.timing.answer_time_ms = None


def fail(told):
    told.reason = "error"


def test_phases_are_known_where_they_were_counted():
    of_vllm = told_of("ngram", forget_report)  # then only the sum is known
    assert (of_vllm.num_steps, of_vllm.num_answer_steps) == (75, None)
    plain = told_of("plain", forget_report)  # a step for each token
    assert (plain.num_steps, plain.num_answer_steps) == (100, 60)
    for name in ("plain", "ngram", "ssr"):
        failed = told_of(name, fail)  # the count ended before the answer did
        assert failed.num_steps is failed.num_answer_steps is None
        assert failed.num_reasoning_steps is None
        assert failed.num_answer_tokens == 60


def test_what_does_not_fit_is_told_and_not_asked(engines, tmp_path):
    long = item("b", left_out="9 tokens do not fit")
    store = go(engines, tmp_path, items=[ITEMS[0], long], modes=MODES[:1])
    assert [name for _, name, _ in engines.asked] == ["a"]
    assert [r.skipped for r in store.records] == [None, "9 tokens do not fit"]


# --- the folder ----------------------------------------------------------------------


def test_other_settings_are_refused_and_other_modes_are_not(tmp_path):
    settings = {"model": "m", "call": {"temperature": 0}}
    store = Store(tmp_path)
    store.settle(settings, MODES[:1])
    store.settle(settings, MODES[1:])
    assert list(store.settings["modes"]) == [mode.name for mode in MODES]
    with pytest.raises(SettingsError, match=r"other settings \(call\)"):
        store.settle({**settings, "call": {"temperature": 1}}, MODES)
    changed = parse_mode('ssr-no-draft={"max_drafts": 1}')
    with pytest.raises(SettingsError, match=r"other settings \(ssr-no-draft\)"):
        store.settle(settings, [changed])


def test_several_writers_are_read_together(engines, tmp_path):
    for part in range(2):
        store = Store(tmp_path, f"-{part}")
        plan = Plan([ITEMS[part]], MODES[:1], warm_up=0)
        run(plan, store, engines.open, lambda _: None)
    store = Store(tmp_path)
    assert [record.item for record in store.records] == ["a", "b"]
    assert store.engines == {
        "plain": {"device": "cpu", "vllm_version": "0", "dtype": "float32"}
    }


def test_a_line_that_is_no_record_is_named(tmp_path):
    (tmp_path / "records.jsonl").write_text(json.dumps({"mode": "x"}) + "\n")
    with pytest.raises(SettingsError, match=r"line 1: item: Field required"):
        Store(tmp_path)
