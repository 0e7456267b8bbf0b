"""The feature table is up to date and proved by tests."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.unit_tests.loading import ROOT, load_script

features = load_script("features")


def test_the_table_is_up_to_date_and_its_tests_exist(capsys):
    assert features.main(["--check"]) == 0, capsys.readouterr().err


def test_a_table_that_is_out_of_date_is_reported(tmp_path, monkeypatch, capsys):
    page = tmp_path / "features.md"
    monkeypatch.setattr(features, "TABLE", page)
    assert features.main(["--check"]) == 1
    assert features.main([]) == 0
    assert features.main(["--check"]) == 0
    page.write_text(page.read_text().replace("●", "○", 1))
    assert features.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ([], []),
        (["CHECK=1"], ["--check"]),
        (["--check"], ["--check"]),  # an option of make's own, which knows it as L
        (["--check", "-k", "--no-print-directory"], ["--check"]),
        (["--no-print-directory"], []),
        (["JUNIT=LEFT.xml"], ["--junit", "LEFT.xml"]),
        (["--check", "JUNIT=a b"], ["--check", "--junit", "a", "b"]),
    ],
)
def test_make_passes_the_options_on(asked, options):
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CHECK", "JUNIT"}
    done = subprocess.run(
        ["make", "--dry-run", "features", *asked],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True,
        text=True,
        check=True,
    )
    command = shlex.split(done.stdout.splitlines()[-1])
    assert command[1:] == ["scripts/features.py", *options]


TESTS = """
from langchain_tests.unit_tests import ChatModelUnitTests
def test_one(): pass
async def test_two(): pass
def helper(): pass
class TestStandard(ChatModelUnitTests):
    def test_own(self): pass
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


def table(*tests: str) -> dict:
    row = {"name": "it", "tests": list(tests)}
    return {"peer": [], "group": [{"title": "All", "feature": [row]}]}


@pytest.mark.parametrize(
    ("test", "exists"),
    [
        ("test_it.py::test_one", True),
        ("test_it.py::test_two", True),
        ("test_it.py::TestStandard::test_own", True),
        ("test_it.py::TestStandard::test_serdes", True),  # inherited
        ("test_it.py::*", True),
        ("test_it.py::test_three", False),
        ("test_it.py::helper", False),
        ("test_it.py::TestStandard::test_three", False),
        ("test_other.py::*", False),
    ],
)
def test_a_test_that_does_not_exist_is_a_problem(root, test, exists):
    problems = features.problems_of(table(test), None, root)
    assert problems == ([] if exists else [f"it: there is no test {test}"])


CASE = '<testcase classname="test_it" name="{}">{}</testcase>'


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ([("test_one", "")], None),
        ([("test_one[a]", ""), ("test_one[b]", "")], None),
        ([("test_one[a]", ""), ("test_one[b]", "<failure/>")], "failure, passed"),
        ([("test_one", '<skipped type="pytest.xfail"/>')], "skipped"),
        ([("test_one", "<error/>")], "error"),
        ([("test_two", "")], "not run"),
    ],
)
def test_a_test_that_has_not_passed_is_a_problem(root, tmp_path, cases, problem):
    report = tmp_path / "report.xml"
    body = "".join(CASE.format(*case) for case in cases)
    report.write_text(f"<testsuites><testsuite>{body}</testsuite></testsuites>")
    results = features.results_of(report)
    problems = features.problems_of(table("test_it.py::test_one"), results, root)
    assert problems == ([f"it: test_it.py::test_one: {problem}"] if problem else [])


def test_a_report_names_the_tests_of_classes_in_folders(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase classname="tests.a.test_it.TestX" name="test_y[1]"/>'
        "</testsuite>"
    )
    assert features.results_of(report) == {
        "tests/a/test_it.py::TestX::test_y": {"passed"}
    }


def test_reports_are_read_together(tmp_path):
    report = "<testsuite>{}</testsuite>"
    one, other = tmp_path / "unit.xml", tmp_path / "integration.xml"
    one.write_text(report.format(CASE.format("test_one", "")))
    cases = CASE.format("test_one", "<failure/>") + CASE.format("test_two", "")
    other.write_text(report.format(cases))
    assert features.results_of(one, other) == {
        "test_it.py::test_one": {"passed", "failure"},
        "test_it.py::test_two": {"passed"},
    }


def test_a_run_takes_several_reports(tmp_path, monkeypatch, capsys):
    """Each holds a part of the tests, as those of the unit and integration tests do."""
    tests = ["test_make_passes_the_options_on", "test_reports_are_read_together"]
    named = ", ".join(f'"tests/unit_tests/test_features.py::{test}"' for test in tests)
    source = tmp_path / "features.toml"
    source.write_text(
        'peer = []\n[[group]]\ntitle = "All"\n'
        f'[[group.feature]]\nname = "it"\ntests = [{named}]\n'
    )
    monkeypatch.setattr(features, "SOURCE", source)
    monkeypatch.setattr(features, "TABLE", tmp_path / "features.md")
    reports = [str(tmp_path / f"{test}.xml") for test in tests]
    for report, test in zip(reports, tests, strict=True):
        case = CASE.replace("test_it", "tests.unit_tests.test_features")
        Path(report).write_text(f"<testsuite>{case.format(test, '')}</testsuite>")
    assert features.main(["--junit", *reports]) == 0
    assert features.main(["--junit", reports[0]]) == 1
    assert f"{tests[1]}: not run" in capsys.readouterr().err


def test_a_row_without_tests_has_no_mark():
    page = features.render(table())
    assert "| it | ○ |" in page
    assert "| it | ● |" in features.render(table("test_it.py::test_one"))
