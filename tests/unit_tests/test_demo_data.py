"""The corpus of data and short questions: right answers pass, others do not."""

from __future__ import annotations

import copy
import json
import random
import re

import pytest

from langchain_ssr.demo.corpus.config_changes import draw_config_changes
from langchain_ssr.demo.corpus.data import make_config, make_table
from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.settings import draw_config
from langchain_ssr.demo.corpus.short import make_short
from langchain_ssr.demo.corpus.table_changes import draw_changes
from langchain_ssr.demo.corpus.tables import Table, draw_table
from langchain_ssr.demo.corpus.vocabulary import Vocabulary
from langchain_ssr.demo.corpus.wording import WAIT
from langchain_ssr.demo.grading_data import judge_data, judge_text

SEEDS = range(300)
DATA_MAKERS = [make_table, make_config]
JUDGES = {"data": judge_data, "text": judge_text}


def make(maker, seed, part="train"):
    rng = random.Random(f"{part}/{seed}")
    return maker(Draw(rng, Vocabulary(rng, part)))


def examples(maker):
    return [make(maker, seed, part) for part in ("train", "heldout") for seed in SEEDS]


def reasonings(maker):
    return [
        example.messages[-1]["reasoning_content"]
        for example in examples(maker)
        if example.enable_thinking
    ]


def tokens(text):
    """Estimate the tokens: one for each digit, space or mark, one for four letters."""
    pieces = re.findall(r"[A-Za-z]{1,4}|[0-9]|_|\n *| +|[^\sA-Za-z0-9_]+", text)
    return len(pieces)


def wrong_values(value):
    """Values that are near a right one: renamed, of another type, dropped, swapped."""
    if isinstance(value, dict):
        first, *others = value
        yield {f"{first}x": value[first], **{key: value[key] for key in others}}
        yield {key: value[key] for key in others}
        yield {**value, "more": 1}
        for key in value:
            for wrong in wrong_values(value[key]):
                yield {**value, key: wrong}
    elif isinstance(value, list):
        yield value[1:]
        yield value[:-1]
        if value[0] != value[1]:
            yield [value[1], value[0], *value[2:]]
        for wrong in wrong_values(value[0]):
            yield [wrong, *value[1:]]
    else:
        yield f"{value}x"
        yield None
        if not isinstance(value, str):
            yield str(value)
        yield int(value) if isinstance(value, bool) else not value


def written(value, kind):
    """Write data without the corpus's own writers."""
    if kind in {"json", "yaml"}:
        return json.dumps(value)  # JSON is YAML as well
    if kind == "csv":
        return "\n".join(",".join(map(str, row)) for row in value)
    lines = [f"| {' | '.join(map(str, row))} |" for row in value]
    return "\n".join([lines[0], f"|{'---|' * len(value[0])}", *lines[1:]])


@pytest.mark.parametrize("maker", [*DATA_MAKERS, make_short])
def test_right_answers_pass(maker):
    for example in examples(maker):
        (check,) = example.checks
        answer = example.messages[-1]["content"]
        assert JUDGES[check.kind](answer, check.expected) is None, answer


@pytest.mark.parametrize("maker", [*DATA_MAKERS, make_short])
def test_same_seed_same_conversation(maker):
    for seed in range(50):
        assert make(maker, seed) == make(maker, seed)
        assert make(maker, seed) != make(maker, seed + 1)


@pytest.mark.parametrize("maker", [*DATA_MAKERS, make_short])
def test_checks_are_json_and_requests_vary(maker):
    found = examples(maker)
    for example in found:
        for check in example.checks:
            assert json.loads(json.dumps(check.expected)) == check.expected
    requests = {str(example.messages[:-1]) for example in found}
    assert len(requests) > len(found) * (0.98 if maker in DATA_MAKERS else 0.85)


@pytest.mark.parametrize("maker", DATA_MAKERS)
def test_wrong_data_fails(maker):
    for seed in range(60):
        (check,) = make(maker, seed).checks
        expected = {**check.expected, "raw": True}
        kind = expected["format"]
        right = written(expected["value"], kind)
        assert judge_data(right, expected) is None
        for value in wrong_values(expected["value"]):
            assert judge_data(written(value, kind), expected), value


def objects(table):
    return Table(table.columns, table.rows).values()


def changed(rows, change):
    """Apply a change of a table as its sentence says it, to objects."""
    one, *others = re.findall("`([^`]+)`", change.sentence) or [""]
    other = others[0] if others else ""
    ways = {
        "rename": lambda: [{other if k == one else k: r[k] for k in r} for r in rows],
        "snake": lambda: [{k.replace(" ", "_"): r[k] for k in r} for r in rows],
    }
    return ways.get(change.kind, lambda: rows)()


@pytest.mark.parametrize("typed", [True, False])
def test_changes_of_tables_do_what_they_say(typed):
    kinds = set()
    for seed in range(400):
        rng = random.Random(seed)
        draw = Draw(rng, Vocabulary(rng, "train"))
        before = draw_table(draw, spaced=seed % 4 == 0)
        (change,) = draw_changes(draw, before, 1, typed=typed)
        after, names = change.table, re.findall("`([^`]+)`", change.sentence)
        kinds.add(change.kind)
        rows = changed(objects(before), change)
        assert objects(after) == rows
        if change.kind == "root":
            assert after.values() == {names[0]: rows}
    assert kinds == {"rename", "snake"} | ({"root"} if typed else set())


def test_no_cell_of_a_table_occurs_twice():
    for seed in range(200):
        rng = random.Random(seed)
        table = draw_table(Draw(rng, Vocabulary(rng, "train")), spaced=False)
        cells = [cell for row in table.rows for cell in row]
        assert len(set(cells)) == len(cells)


def test_changes_of_configurations_do_what_they_say():
    kinds = set()
    for seed in range(300):
        rng = random.Random(seed)
        draw = Draw(rng, Vocabulary(rng, "train"))
        before = draw_config(draw)
        (change,) = draw_config_changes(draw, before, 1)
        names = re.findall("`([^`]+)`", change.sentence)
        old = {s.key: s for s in before}
        new = {s.key: s for s in change.config}
        kind, key = change.kind, change.keys[0]
        kinds.add(kind)
        assert key in names
        if kind == "correct":
            assert str(new[key].value) in change.sentence
        elif kind == "flip":
            assert new[key].value is (" on" in change.sentence)
        else:
            assert kind == "extend"
            (item,) = set(names) - {key}
            assert new[key].value == [*old[key].value, item]
        del old[key]
        new.pop(key, None)
        assert new == old
    assert kinds == {"correct", "flip", "extend"}


@pytest.mark.parametrize("maker", DATA_MAKERS)
def test_decisions_end_the_reasoning(maker):
    for example in examples(maker):
        (check,) = example.checks
        if not example.enable_thinking:
            assert not check.decisions
            assert "reasoning_content" not in example.messages[-1]
            continue
        before, end = example.messages[-1]["reasoning_content"].split(
            "\nFinal decisions:\n"
        )
        assert before
        assert tuple(end.split("\n")) == check.decisions


@pytest.mark.parametrize("maker", DATA_MAKERS)
def test_half_of_the_reasonings_change_their_mind(maker):
    texts = reasonings(maker)
    changed = [text for text in texts if f"\n{WAIT}" in text]
    assert 0.4 < len(changed) / len(texts) < 0.6


@pytest.mark.parametrize("maker", DATA_MAKERS)
def test_what_is_noticed_is_in_the_request(maker):
    for example in examples(maker):
        text = example.messages[-1].get("reasoning_content", "")
        request = re.sub(r'[`"]', "", example.messages[-2]["content"])
        for line in re.findall(rf"^{WAIT}(.*)", text, re.MULTILINE):
            assert line.replace("`", "").partition(" So ")[0] in request


def test_keys_are_written_again_after_each_change_of_them():
    changed = 0
    for reasoning in reasonings(make_table):
        lines = reasoning.split("\n")
        for number, line in enumerate(lines):
            for old, index, key in re.findall(
                r"`([^`]+)` becomes (\d) `([^`]+)`", line
            ):
                changed += 1
                assert f" {index} `{old}` becomes" in line
                assert f" {index} `{key}`" in lines[number + 1], reasoning
                assert lines[number + 1].startswith("Now the keys are ")
    assert changed > len(SEEDS) / 2


def test_lengths():
    for maker, low, high in ((make_table, 300, 900), (make_config, 300, 900)):
        counts = [tokens(text) for text in reasonings(maker)]
        assert sum(low <= count <= high for count in counts) > 0.85 * len(counts)
    counts = [tokens(text) for text in reasonings(make_short)]
    assert max(counts) <= 150
    for maker in (*DATA_MAKERS, make_short):
        for example in examples(maker):
            texts = [text for m in example.messages for text in m.values()]
            assert tokens("\n".join(texts)) < 2000


@pytest.mark.parametrize("maker", [*DATA_MAKERS, make_short])
def test_small_shares(maker):
    found = examples(maker)
    silent = sum(not example.enable_thinking for example in found)
    systems = sum(example.messages[0]["role"] == "system" for example in found)
    assert 0.01 < silent / len(found) < 0.13
    assert 0.05 < systems / len(found) < 0.16


def test_judges_leave_their_arguments_alone():
    (check,) = make(make_table, 1).checks
    before = copy.deepcopy(check.expected)
    judge_data("```json\n[]\n```", check.expected)
    assert check.expected == before
