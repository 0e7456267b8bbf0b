"""Pairs from ClassEval's outputs, of a made-up folder in that layout."""

import gzip
import json
import random
import re

import pytest

from benchmarks import make_pairs, replay
from benchmarks.make_pairs import OUTPUTS, SAMPLED, main

WORDS = [f"s{i}" for i in range(5)]
"""The five samples of each task begin with these."""
MODELS = ["B-model", "A-model"]


def entry(model, number):
    return {
        "task_id": f"ClassEval_{number}",
        "skeleton": f"class {model} {number}",
        "test": "not used",
        "predict": [f"{word} {model} {number}" for word in WORDS],
    }


def write(root, model, tasks, ending=SAMPLED):
    folder = root / OUTPUTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{model}{ending}").write_text(json.dumps(tasks), encoding="utf-8")


@pytest.fixture
def clone(tmp_path):
    root = tmp_path / "ClassEval"
    for model in MODELS:
        write(root, model, [entry(model, number) for number in range(10)])
        write(root, model, [{"other": 1}], "_class_H_greedy.json")
    return root


@pytest.fixture(scope="module")
def vocabulary():
    asked = make_pairs.PROMPT.format(skeleton="").split()
    words = ["<unk>", "<s>", *asked, *WORDS, *MODELS, *map(str, range(10))]
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, vocabulary):
    """A tokenizer that splits at white space and begins texts with a special token."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])]
    )
    folder = tmp_path_factory.mktemp("model")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def run(clone, folder, out, *more):
    paths = {"--classeval": clone, "--tokenizer": folder, "--out": out}
    given = [str(word) for pair in paths.items() for word in pair]
    return main([*given, *more])


def read(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_a_case_is_a_prompt_an_answer_and_three_other_samples(
    clone, folder, vocabulary, tmp_path, name
):
    out = tmp_path / name
    assert run(clone, folder, out) == 0
    words = {number: word for word, number in vocabulary.items()}
    cases = read(out)
    assert [case["id"] for case in cases] == [
        f"{model}/ClassEval_{number}" for model in sorted(MODELS) for number in range(5)
    ]
    for case in cases:
        model, _, number = case["id"].replace("/ClassEval_", "/").partition("/")
        text = " ".join(words[token] for token in case["prompt_ids"])
        assert text == (
            f"Please complete the class in the following code. class {model} {number}"
        )
        samples = [case["final_ids"], *case["drafts_ids"]]
        texts = [" ".join(words[token] for token in sample) for sample in samples]
        assert len(set(texts)) == 4
        assert set(texts) <= set(entry(model, number)["predict"])


def test_samples_are_shuffled_through_all_tasks_of_one_model_after_the_other(
    clone, folder, vocabulary, tmp_path
):
    halves = {}
    for half in ("first", "second"):
        assert run(clone, folder, tmp_path / half, "--half", half) == 0
        halves[half] = read(tmp_path / half)
    by_model = [
        case
        for start in (0, 5)
        for half in ("first", "second")
        for case in halves[half][start : start + 5]
    ]
    rng = random.Random(7)
    for case in by_model:
        order = list(WORDS)
        rng.shuffle(order)
        samples = [case["final_ids"], *case["drafts_ids"]]
        assert [vocabulary[word] for word in order[:4]] == [ids[0] for ids in samples]


def test_the_halves_are_all_tasks_also_of_an_odd_number(folder, tmp_path):
    write(tmp_path, "m", [entry("m", number) for number in range(3)])
    for half in ("first", "second"):
        assert run(tmp_path, folder, tmp_path / half, "--half", half) == 0
    ids = [[case["id"][-1] for case in read(tmp_path / h)] for h in ("first", "second")]
    assert ids == [["0", "1"], ["2"]]


def test_without_an_answer_there_is_no_case(folder, tmp_path):
    write(tmp_path, "m", [{**entry("m", 0), "predict": [""] * 5}, entry("m", 1)])
    assert run(tmp_path, folder, tmp_path / "out") == 0
    assert read(tmp_path / "out") == []


def test_the_same_again_is_the_same_file(clone, folder, tmp_path):
    one, other = tmp_path / "1.gz", tmp_path / "2.gz"
    assert run(clone, folder, one) == run(clone, folder, other) == 0
    assert one.read_bytes() == other.read_bytes()


def test_what_is_made_can_be_replayed(clone, folder, tmp_path, capsys):
    out = tmp_path / "pairs.jsonl.gz"
    assert run(clone, folder, out) == 0
    assert "10 cases of 2 models" in capsys.readouterr().out
    cases = replay.read_cases(out)
    assert replay.run(cases, max_spec=8, drafts=make_pairs.NUM_DRAFTS).cases == 10


# --- what is wrong, and what to do ---------------------------------------------------


def test_no_such_folder(folder, tmp_path, capsys):
    assert run(tmp_path / "none", folder, tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert "none is no folder" in told
    assert "git clone https://github.com/FudanSELab/ClassEval" in told


def test_a_folder_of_another_layout(clone, folder, tmp_path, capsys):
    assert run(clone / "output", folder, tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert f"has no file *{SAMPLED}" in told
    assert "takes the root of a whole clone" in told
    assert not (tmp_path / "out").exists()


GOOD = {"task_id": "ClassEval_0", "skeleton": "class A", "predict": WORDS}


@pytest.mark.parametrize(
    ("tasks", "problem"),
    [
        ({}, "not a list of tasks"),
        ([], "not a list of tasks"),
        ([GOOD, 7], "entry 1 lacks"),
        ([{**GOOD, "skeleton": None}], "entry 0: no text"),
        ([{"task_id": "ClassEval_0", "predict": WORDS}], "entry 0 lacks"),
        ([{**GOOD, "predict": "s0"}], "ClassEval_0: predict is not a list"),
        ([{**GOOD, "predict": [WORDS]}], "ClassEval_0: predict is not a list"),
        ([{**GOOD, "predict": WORDS[:3]}], "ClassEval_0: 3 samples, a case needs 4"),
    ],
)
def test_a_file_of_another_form_is_named(folder, tmp_path, capsys, tasks, problem):
    write(tmp_path, "m", tasks)
    assert run(tmp_path, folder, tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert f"m{SAMPLED} is not ClassEval's model outputs" in told
    assert re.search(problem, told)


def test_a_file_that_is_no_json_is_named(folder, tmp_path, capsys):
    write(tmp_path, "m", [])
    (tmp_path / OUTPUTS / f"m{SAMPLED}").write_text("[{", encoding="utf-8")
    assert run(tmp_path, folder, tmp_path / "out") == 2
    assert f"m{SAMPLED} is not JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"), [(None, "models get smollm2"), ("{", "is no tokenizer")]
)
def test_no_tokenizer(clone, tmp_path, capsys, text, problem):
    if text is not None:
        (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    assert run(clone, tmp_path, tmp_path / "out") == 2
    assert problem in capsys.readouterr().err


def test_a_file_that_cannot_be_written(clone, folder, tmp_path, capsys):
    assert run(clone, folder, tmp_path / "no" / "out") == 2
    assert "cannot write" in capsys.readouterr().err
