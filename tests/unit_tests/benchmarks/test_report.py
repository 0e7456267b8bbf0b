"""What the benchmarks' reports have in common, and the tables in Markdown files."""

import argparse
import json

import pytest

from benchmarks.report import EMPTY, BenchmarkError, main, positive, write_json
from langchain_ssr.bench.record import Record
from langchain_ssr.bench.summary import summarize


@pytest.mark.parametrize("text", ["0", "-1"])
def test_positive_refuses(text):
    with pytest.raises(argparse.ArgumentTypeError, match="positive"):
        positive(text)


def test_write_json(tmp_path):
    path = tmp_path / "out.json"
    write_json(path, {"a": 1})
    write_json(path, {"a": 2})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 2}
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BenchmarkError, match="cannot write"):
        write_json(tmp_path / "missing" / "out.json", {})


# --- tables --------------------------------------------------------------------------

PLACE = "<!-- figures: {} -->\n{}<!-- end of figures -->"
PAGE = f"# Title\n\n{PLACE.format('b', EMPTY)}\n\nText.\n\n{PLACE.format('c', EMPTY)}\n"


@pytest.fixture
def files(tmp_path):
    """A page with two places, and the figures of one run."""
    records = [
        Record(
            mode=mode,
            item="a",
            round=0,
            workload="w",
            digest="",
            total=seconds,
            num_answer_tokens=10,
            num_steps=5,
        )
        for mode, seconds in (("plain", 3.0), ("ssr", 1.5))
    ]
    figures = {"settings": {"model": "m", "call": {}}, **summarize(records)}
    run, page = tmp_path / "b.json", tmp_path / "page.md"
    run.write_text(json.dumps(figures), encoding="utf-8")
    page.write_text(PAGE, encoding="utf-8")
    return run, page


def report(files, *options):
    return main([str(files[0]), *options, str(files[1])])


def test_tables_are_written_and_checked(files, capsys):
    assert report(files, "--check") == 1
    assert "page.md, b: not what" in capsys.readouterr().err
    assert files[1].read_text(encoding="utf-8") == PAGE  # it only compares
    assert report(files) == 0
    text = files[1].read_text(encoding="utf-8")
    assert "| ssr | 1 | 1.50 | - | - | - | 2.00 | 2.00 |" in text
    assert text.startswith("# Title\n")
    assert PLACE.format("c", EMPTY) in text
    assert report(files, "--check") == 0
    assert report(files) == 0
    assert files[1].read_text(encoding="utf-8") == text


def test_what_is_edited_by_hand_is_found(files, capsys):
    report(files)
    text = files[1].read_text(encoding="utf-8")
    files[1].write_text(text.replace("2.00 | 2.00", "2.00 | 9.00"), encoding="utf-8")
    assert report(files, "--check") == 1
    assert "page.md, b:" in capsys.readouterr().err
    made_up = text.replace(PLACE.format("c", EMPTY), PLACE.format("c", "5x faster!\n"))
    files[1].write_text(made_up, encoding="utf-8")
    assert report(files, "--check") == 1
    assert "page.md, c:" in capsys.readouterr().err
    files[1].write_text(text.replace("Text.", "Other text."), encoding="utf-8")
    assert report(files, "--check") == 0


def test_figures_without_a_place_are_told(files, capsys):
    files[1].write_text("# Title\n", encoding="utf-8")
    assert report(files) == 2
    assert "0 places `<!-- figures: b -->`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[]", "no figures"), ("{}", "no figures"), ("{", "cannot read")],
)
def test_a_file_that_holds_no_figures_is_named(files, capsys, text, problem):
    files[0].write_text(text, encoding="utf-8")
    assert report(files) == 2
    assert problem in capsys.readouterr().err


def test_one_page_is_needed(files):
    with pytest.raises(SystemExit):
        main([str(files[0])])
