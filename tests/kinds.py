"""Kinds of input from public bug reports: which tests take care of which, and how well.

`pytest -m kind --kinds-report FILE` writes a list with one entry for each kind, and
fails unless each has a test that passed and none that failed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

KINDS = (
    "A delta of reasoning with empty content",
    "Output with only </think>",
    "Bursts of any number of tokens",
    "Thinking budgets are kept to the token",
    "Thinking eats max_tokens",
    "Thinking switched on and off by one field",
    "Control text in what a user says",
    "A tool call inside the reasoning",
    "Forced tool calls keep the reasoning",
    "Two parallel calls in one delta",
    "Tool arguments and tool results in the history",
    "Reasoning in a tool loop, and a stable prefix",
    "A system message in the middle",
    "Structured output with thinking and speculation",
    "Structured output cut by max_tokens",
    "A stop string in the reasoning",
    "A stop string completed within a burst",
    "Greedy output with and without speculation",
    "Usage on the last chunk only",
    "Statistics in every way of asking",
    "Two event loops, four threads",
    "Cancelled while streaming",
    "A plain script, a notebook and python -c",
    "A batch of 32",
    "Models that share an engine",
    "Copies of a model",
    "Characters of many tokens in a stream",
)
"""Titles; the first is kind 1."""
_SHOWN = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kinds-report",
        metavar="FILE",
        type=Path,
        help="write which kinds of input passed; fail if one did not",
    )


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--kinds-report")
    if file and not config.option.collectonly:
        config.pluginmanager.register(Report(file), "kinds-report")


def kinds_of(item: pytest.Item) -> list[int]:
    """Return the numbers of a test's `kind` markers.

    Raises:
        UsageError: If there is no such kind.
    """
    numbers = [number for mark in item.iter_markers("kind") for number in mark.args]
    for number in numbers:
        if not (isinstance(number, int) and 1 <= number <= len(KINDS)):
            raise pytest.UsageError(f"{item.nodeid}: there is no kind {number!r}")
    return numbers


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        kinds_of(item)


class Report:
    """Collects what became of the tests of each kind."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kinds: dict[str, list[int]] = {}
        self._outcomes: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._kinds = {item.nodeid: kinds_of(item) for item in items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self._outcomes.get(report.nodeid)
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xfailed" if report.skipped else "xpassed"
        if before is None or (before == "passed" and outcome != "passed"):
            self._outcomes[report.nodeid] = outcome

    def entries(self) -> list[dict[str, Any]]:
        """Return one entry for each kind."""
        entries = []
        for number, title in enumerate(KINDS, start=1):
            tests = [
                {"id": test, "outcome": self._outcomes.get(test, "not run")}
                for test, kinds in self._kinds.items()
                if number in kinds
            ]
            outcomes = {test["outcome"] for test in tests}
            ok = "passed" in outcomes and not outcomes & {"failed", "not run"}
            entries.append({"kind": number, "title": title, "tests": tests, "ok": ok})
        return entries

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        entries = self.entries()
        text = json.dumps(entries, indent=1, ensure_ascii=False)
        self._file.write_text(text + "\n", encoding="utf-8")
        good = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if not all(entry["ok"] for entry in entries) and session.exitstatus in good:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        entries = self.entries()
        bad = [entry for entry in entries if not entry["ok"]]
        terminalreporter.section("kinds of input")
        for entry in bad:
            outcomes = [
                f"{test['id']} {test['outcome']}"
                for test in entry["tests"]
                if test["outcome"] != "passed"
            ]
            problem = ", ".join(outcomes[:_SHOWN]) or "no test"
            if len(outcomes) > _SHOWN:
                problem += f" and {len(outcomes) - _SHOWN} more"
            terminalreporter.line(f"kind {entry['kind']}: {entry['title']}: {problem}")
        passed = len(entries) - len(bad)
        terminalreporter.line(f"{passed} of {len(entries)} kinds passed: {self._file}")
