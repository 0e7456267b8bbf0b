"""The skill "code" of the demo's corpus."""

import json
import os
import random
import re
import subprocess
import sys

import pytest

from langchain_ssr.demo.corpus.class_reasoning import NOTICED
from langchain_ssr.demo.corpus.class_source import KINDS
from langchain_ssr.demo.corpus.code import make_class, make_defect, make_write_file
from langchain_ssr.demo.corpus.code_defects import NAMES
from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.vocabulary import Vocabulary
from langchain_ssr.demo.grading_code import judge_class, judge_classes, source_of
from langchain_ssr.demo.grading_code_child import first_failure

SEEDS = range(200)
PARTS = ("train", "heldout")
MAKERS = (make_class, make_write_file)
QUOTE = re.compile(
    r'(Style: |Wait, the request also says )?"(.*?)"'
    r"(?=$|, no type hints$| `| on `| The )"
)


def make(maker, seed, part):
    rng = random.Random(seed)
    return maker(Draw(rng, Vocabulary(rng, part)))


def answer_of(example):
    """Return the source (in its fence, if any) and what it is judged by."""
    message = next(m for m in example.messages if m["role"] == "assistant")
    wanted = example.checks[0].expected
    if example.kind == "class":
        return message["content"], wanted
    (call,) = message["tool_calls"]
    return call["function"]["arguments"]["content"], wanted["code"]["expected"]


def reasoning_of(example):
    message = next(m for m in example.messages if m["role"] == "assistant")
    return message.get("reasoning_content")


def decided(text):
    """Return the decisions; before the closing list, each ends with its number."""
    lines = [line for line in text.splitlines() if re.match(r"- |\d+\. ", line)]
    return [re.sub(r" \(\d+\)$", "", line) for line in lines]


@pytest.fixture(scope="module")
def examples():
    return [
        make(maker, seed, part) for maker in MAKERS for part in PARTS for seed in SEEDS
    ]


def test_every_answer_passes_its_tests(examples):
    for example in examples:
        answer, wanted = answer_of(example)
        source = source_of(answer)
        assert first_failure(source, wanted) is None, source


def test_the_judge_accepts_right_answers(examples):
    chosen = examples[::100]
    assert judge_classes(map(answer_of, chosen)) == [None] * len(chosen)


def test_reasoning_ends_with_the_decisions(examples):
    for example in examples:
        reasoning, lines = reasoning_of(example), example.checks[0].decisions
        assert example.enable_thinking == (reasoning is not None) == bool(lines)
        if reasoning:
            assert reasoning.endswith("Final decisions:\n" + "\n".join(lines))


def test_about_half_change_their_mind_and_few_do_not_think(examples):
    found = [text for text in map(reasoning_of, examples) if text]
    changed = [text for text in found if NOTICED in text]
    assert 0.4 < len(changed) / len(found) < 0.6
    assert 0.01 < 1 - len(found) / len(examples) < 0.14
    twice = [text for text in changed if text.count(NOTICED) > 1]
    assert 0.1 < len(twice) / len(changed) < 0.4
    assert all(text.count(NOTICED) <= 2 for text in found)


def test_a_change_is_noticed_after_the_walk_and_decides_one_line_again(examples):
    for example in examples:
        plan, _, closing = (reasoning_of(example) or "").partition("Final decisions:\n")
        walk, *changes = plan.strip().split(NOTICED)
        lines = decided(walk)
        assert len(lines) == len(decided(closing))
        for change in changes:
            (line,) = decided(change)
            number = line.split()[0]
            (place,) = [i for i, old in enumerate(lines) if old.split()[0] == number]
            assert lines[place] != line
            old = lines[place].partition(" ")[2]
            end = "" if number == "-" else f" ({number.rstrip('.')})"
            assert f"\n{old}{end} becomes\n{line}" in change
            lines[place] = line
        assert lines == decided(closing)


def test_the_reasoning_quotes_the_request_word_by_word_and_in_its_order(examples):
    for example in examples:
        plan, _, closing = (reasoning_of(example) or "").partition("Final decisions:\n")
        request = next(m["content"] for m in example.messages if m["role"] == "user")
        end = quotes = 0
        style = ""
        for line in plan.splitlines():
            quote = QUOTE.match(line)
            if not quote:
                continue
            if quote[1] == "Style: ":
                style = quote[2]
                continue
            quotes += 1
            assert quote[2] in request[end:]
            end = request.index(quote[2], end) + len(quote[2])
        assert style in request
        assert quotes >= sum("(" in line for line in decided(closing))


def test_what_is_noticed_late_is_decided_otherwise_before():
    for seed in SEEDS:
        example = make(make_class, seed, "train")
        text = reasoning_of(example) or ""
        plan, _, closing = text.partition("Final decisions:\n")
        first = decided(plan)
        if NOTICED in plan:
            assert first != closing.splitlines()
        else:
            assert "\n".join(first) == closing


def test_lengths(examples):
    for example in examples:
        source = source_of(answer_of(example)[0])
        assert 550 <= len(source) <= 1500
        assert len(json.dumps(example.messages) + json.dumps(example.tools)) < 6000
        reasoning = reasoning_of(example)
        assert reasoning is None or 750 <= len(reasoning) <= 2000


def test_a_write_declares_its_tool_and_reports(examples):
    for example in examples:
        if example.kind != "write_file":
            continue
        assert "write_file" in [tool["function"]["name"] for tool in example.tools]
        write, report = example.checks
        assert [m["role"] for m in example.messages][-3:] == [
            "assistant",
            "tool",
            "assistant",
        ]
        assert write.expected["arguments"]["path"] in example.messages[-1]["content"]
        assert all(name in example.messages[-1]["content"] for name in report.expected)


@pytest.mark.parametrize("maker", [*MAKERS, make_defect])
def test_the_same_seed_gives_the_same(maker):
    assert make(maker, 5, "train") == make(maker, 5, "train")
    assert make(maker, 5, "train") != make(maker, 6, "train")


def test_hashes_do_not_matter():
    code = (
        "import random, hashlib\n"
        "from langchain_ssr.demo.corpus.code import *\n"
        "from langchain_ssr.demo.corpus.example import Draw\n"
        "from langchain_ssr.demo.corpus.vocabulary import Vocabulary\n"
        "rng = random.Random(1)\n"
        "draw = Draw(rng, Vocabulary(rng, 'train'))\n"
        "makers = (make_class, make_write_file, make_defect) * 60\n"
        "text = repr([make(draw) for make in makers])\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    outputs = {
        subprocess.check_output(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_every_kind_of_method_is_drawn_and_requests_differ(examples):
    requests = {
        m["content"] for e in examples for m in e.messages if m["role"] == "user"
    }
    assert len(requests) == len(examples)
    sources = "".join(answer_of(example)[0] for example in examples)
    for kind in KINDS.values():
        body = re.escape(" ".join(kind.body))
        pattern = re.sub(r"<\w+>", ".+", body).replace(r"\ ", r"\s+")
        assert re.search(pattern, sources), kind.text


def first_words(ask):
    """Return what stands before the first name."""
    return re.split(r" a <|<|`", ask)[0].split(",")[0].strip()


def test_the_first_words_tell_the_kinds_apart():
    """Except a kind from itself with a check."""
    seen = {}
    for key, kind in KINDS.items():
        for ask in kind.asks:
            seen.setdefault(first_words(ask), set()).add(key.removesuffix("_checked"))
    assert all(len(keys) == 1 for keys in seen.values()), seen


def test_most_names_are_given(examples):
    """A name of the model's own is the kind's verb and the field's name."""
    own = 0
    for example in examples:
        request = next(m["content"] for m in example.messages if m["role"] == "user")
        plan = (reasoning_of(example) or "").partition(NOTICED)[0]
        names = [
            found[1] for found in re.finditer(r"^\d+\. `(\w+)\(", plan, re.MULTILINE)
        ]
        own += bool(names) and not all(name in request for name in names)
    assert 0.1 < own / len(examples) < 0.3


def test_defects():
    names = set()
    for seed in range(120):
        defect = make(make_defect, seed, PARTS[seed % 2])
        names.add(defect.name)
        wanted, lines = defect.check.expected, "\n".join(defect.check.decisions)
        assert first_failure(defect.fixed, wanted) is None
        failure = first_failure(defect.broken, wanted)
        assert failure
        assert failure in defect.failure
        assert failure in defect.reasoning_fix
        assert defect.reasoning.endswith(lines)
        assert defect.reasoning_fix.endswith("\n".join(defect.fix))
        quote = re.search(r'The request says "(.*)"', defect.reasoning_fix)
        assert quote[1] in defect.request
        for line in defect.fix:
            what, code = line.removesuffix("`").split(": `", 1)
            # Another method may have the same line, rightly.
            more = {"wrong": -1, "right": 1, "missing": 1, "after": 0}[what]
            broken, fixed = (
                text.count(f"    {code}\n") for text in (defect.broken, defect.fixed)
            )
            assert fixed == broken + more
            assert max(broken, fixed) > 0
    assert names == set(NAMES)
    assert judge_class(defect.broken, wanted) == failure
    assert judge_class(defect.fixed, wanted) is None
