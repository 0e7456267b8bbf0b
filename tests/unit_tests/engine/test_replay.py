"""The replay benchmark."""

import gzip
import json

import pytest

from benchmarks.replay import main

CASE = {
    "prompt_ids": [1, 2, 3],
    "drafts_ids": [list(range(10, 50)), list(range(60, 70))],
    "final_ids": list(range(10, 50)),
}


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(CASE) + "\n\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("zipped", [False, True])
def test_counts_steps(pairs, tmp_path, zipped):
    if zipped:
        packed = tmp_path / "pairs.jsonl.gz"
        packed.write_bytes(gzip.compress(pairs.read_bytes()))
        pairs = packed
    out = tmp_path / "out.json"
    assert main(["--pairs", str(pairs), "--max-spec", "9", "--json", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["us_per_proposal"] > 0
    assert report["us_per_extension"] > 0
    # Forty tokens at nine proposed and one own token a step.
    assert report["cases"] == 1
    assert report["max_spec"] == 9
    assert report["drafts"] == 1
    assert report["tokens_per_step"] == report["tokens_per_step_case_mean"] == 10
    assert report["verified_per_token"] == 36 / 40


def test_without_drafts_nothing_is_proposed(pairs, tmp_path):
    out = tmp_path / "out.json"
    assert main(["--pairs", str(pairs), "--drafts", "0", "--json", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["tokens_per_step"] == 1
    assert report["verified_per_token"] == 0


def test_thresholds(pairs, capsys):
    run = ["--pairs", str(pairs), "--max-spec", "9"]
    assert main([*run, "--min-tokens-per-step", "10", "--max-verified", "0.9"]) == 0
    assert main([*run, "--min-tokens-per-step", "11"]) == 1
    assert "10.00 tokens per step, wanted 11" in capsys.readouterr().err
    assert main([*run, "--max-verified", "0.8"]) == 1
    assert "0.90 verified per token, allowed 0.8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("", "has no cases"),
        ("{}\n{", "line 1: prompt_ids is missing"),
        (json.dumps(CASE) + "\n{", "line 2: Expecting"),
        ("[]", "line 1: not a JSON object"),
        (json.dumps({**CASE, "final_ids": []}), "final_ids is empty"),
        (json.dumps({**CASE, "final_ids": ["a"]}), "must be lists of integers"),
        (json.dumps({**CASE, "drafts_ids": []}), "a case has only 0"),
    ],
)
def test_bad_input_is_explained(tmp_path, capsys, content, message):
    path = tmp_path / "pairs.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert main(["--pairs", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_archive_is_explained(tmp_path, capsys):
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(b"no gzip")
    assert main(["--pairs", str(path)]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_bad_number_is_refused(pairs):
    with pytest.raises(SystemExit):
        main(["--pairs", str(pairs), "--max-spec", "0"])


def test_an_unwritable_report_is_explained(pairs, tmp_path, capsys):
    out = tmp_path / "missing" / "out.json"
    assert main(["--pairs", str(pairs), "--json", str(out)]) == 2
    assert "cannot write" in capsys.readouterr().err
