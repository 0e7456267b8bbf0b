"""The feature table is up to date and proved by tests."""

from __future__ import annotations

import pytest

from tests.unit_tests.loading import load_script

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


def test_a_row_without_tests_has_no_mark():
    page = features.render(table())
    assert "| it | ○ |" in page
    assert "| it | ● |" in features.render(table("test_it.py::test_one"))
