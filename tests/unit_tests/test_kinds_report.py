"""The report of the kinds of input, in test sessions of their own."""

from __future__ import annotations

import json

import pytest

from tests.kinds import KINDS

ALL = "".join(
    f"@pytest.mark.kind({number})\ndef test_{number}(): pass\n"
    for number in range(1, len(KINDS) + 1)
)
INI = """[pytest]
asyncio_default_fixture_loop_scope = function
markers =
    kind(number): a kind of input
"""


@pytest.fixture
def session(pytester):
    """Run a session, and return its outcome and what it reported."""
    pytester.makeini(INI)

    def run(tests: str, *options: str):
        pytester.makepyfile("import pytest\n" + tests)
        done = pytester.runpytest_inprocess(
            *("-p", "tests.kinds", "-p", "no:cacheprovider", "--strict-markers"),
            *("--kinds-report", "k.json", *options),
        )
        file = pytester.path / "k.json"
        return done, json.loads(file.read_text()) if file.exists() else None

    return run


def test_there_are_27_kinds():
    assert len(set(KINDS)) == 27


def test_every_kind_passes(session):
    done, report = session(ALL, "-m", "kind")
    assert done.ret == pytest.ExitCode.OK
    assert [entry["kind"] for entry in report] == list(range(1, 28))
    assert all(entry["ok"] for entry in report)
    assert report[2]["title"] == KINDS[2]
    [test] = report[2]["tests"]
    assert test["id"].endswith("::test_3")
    assert test["outcome"] == "passed"
    done.stdout.fnmatch_lines(["27 of 27 kinds passed: k.json"])


SKIP = "@pytest.mark.skip\n"
XFAIL = "@pytest.mark.xfail(reason='r')\n"
KIND = "@pytest.mark.kind(3)\n"


@pytest.mark.parametrize(
    ("third", "outcomes"),
    [
        ("", []),
        (f"{SKIP}{KIND}def test_x(): pass\n", ["skipped"]),
        (f"{XFAIL}{KIND}def test_x(): assert 0\n", ["xfailed"]),
        (f"{XFAIL}{KIND}def test_x(): pass\n", ["xpassed"]),
        (f"{KIND}def test_x(): assert 0\n", ["failed"]),
        (f"{KIND}def test_x(absent): pass\n", ["failed"]),
        (
            f"{KIND}def test_x(): assert 0\n{KIND}def test_y(): pass\n",
            ["failed", "passed"],
        ),
    ],
)
def test_kind_that_is_not_tested_fails_the_session(session, third, outcomes):
    tests = ALL.replace("@pytest.mark.kind(3)\ndef test_3(): pass\n", third)
    done, report = session(tests)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert [entry["kind"] for entry in report if not entry["ok"]] == [3]
    assert [test["outcome"] for test in report[2]["tests"]] == outcomes
    problem = f"*{outcomes[0]}*" if outcomes else "*no test"
    done.stdout.fnmatch_lines([f"kind 3: {KINDS[2]}: {problem}", "26 of 27 kinds*"])


def test_xfailed_test_beside_one_that_passed_is_fine(session):
    extra = f"{XFAIL}{KIND}def test_x(): assert 0\n"
    done, report = session(ALL + extra)
    assert done.ret == pytest.ExitCode.OK
    assert [test["outcome"] for test in report[2]["tests"]] == ["passed", "xfailed"]


def test_failed_teardown_is_a_failure(session):
    broken = (
        "@pytest.fixture\ndef broken():\n    yield\n    raise ValueError\n"
        f"{KIND}def test_x(broken): pass\n"
    )
    _, report = session(ALL + broken)
    assert [test["outcome"] for test in report[2]["tests"]] == ["passed", "failed"]


def test_a_test_can_be_of_several_kinds_and_a_selection_counts_what_it_ran(session):
    both = "@pytest.mark.kind(1)\n@pytest.mark.kind(2)\ndef test_x(): pass\n"
    done, report = session(ALL + both, "-k", "test_x")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert [entry["kind"] for entry in report if entry["ok"]] == [1, 2]


@pytest.mark.parametrize("number", ["0", "28", "'3'"])
def test_kind_that_there_is_not_is_refused(session, number):
    done, _ = session(f"@pytest.mark.kind({number})\ndef test_x(): pass\n")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*test_x: there is no kind {number}*"])


def test_without_the_option_nothing_is_reported(session, pytester):
    pytester.makepyfile("def test_x(): pass\n")
    done = pytester.runpytest_inprocess("-p", "tests.kinds", "-p", "no:cacheprovider")
    assert done.ret == pytest.ExitCode.OK
    assert "kinds of input" not in done.stdout.str()
    assert not (pytester.path / "k.json").exists()


def test_long_list_of_problems_is_cut_short(session):
    many = "@pytest.mark.parametrize('n', range(5))\n"
    done, _ = session(ALL + f"{many}{KIND}def test_x(n): assert 0\n")
    done.stdout.fnmatch_lines(["kind 3: *test_x[[]0] failed, * and 2 more"])


def test_collecting_alone_reports_nothing(session):
    done, report = session(ALL, "--collect-only")
    assert done.ret == pytest.ExitCode.OK
    assert report is None
