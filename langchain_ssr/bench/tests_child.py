"""Runs a benchmark's own tests on code; the judge starts it in a process of its own.

The limits are those of the demo's judge. Uses the standard library only, because it
runs isolated (`python -I`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import types
import unittest
from pathlib import Path
from typing import Any

_LIMITS = Path(__file__).parents[1] / "demo" / "grading_code_child.py"
_CPU_SECONDS = 10
_MEMORY = 2 * 1024**3
"""Bytes of address space; numerical libraries take most of it unused."""
_LOOKED_UP = "calendar collections csv datetime decimal fractions functools hashlib \
heapq itertools json logging math operator queue random re sqlite3 statistics string \
threading time typing unittest.mock urllib.parse xml.etree.ElementTree zipfile"
"""Modules that answers import; loaded while files are still allowed."""


def first_failure(source: str, kind: str) -> str | None:
    """Run a program with its tests.

    Args:
        source: The answer, and after it the tests.
        kind: `"script"` if the program fails by an exception, `"unittest"` if it
            defines test cases.

    Returns:
        None if all tests pass, else one line about the first that does not.
    """
    module = types.ModuleType("answer")
    sys.modules["answer"] = module
    try:
        exec(  # noqa: S102 - what this process is for
            compile(source, "<answer>", "exec", dont_inherit=True), vars(module)
        )
    except BaseException as error:  # noqa: BLE001 - any error is a failure
        return _line(error)
    if kind == "script":
        return None
    suite = unittest.TestLoader().loadTestsFromModule(module)
    if not suite.countTestCases():
        return "there are no tests"
    result = unittest.TestResult()
    result.failfast = True
    suite.run(result)
    for test, trace in [*result.errors, *result.failures]:
        last = trace.strip().splitlines()[-1]
        return f"{test.id().rpartition('.')[2]}: {last}"
    return None


def _line(error: BaseException) -> str:
    return (f"{type(error).__name__}: {error}".splitlines() or [""])[0]


def _limits() -> Any:
    """Load the demo's limits by their place: isolated Python sees no package."""
    spec = importlib.util.spec_from_file_location("grading_code_child", _LIMITS)
    if spec is None or spec.loader is None:
        raise ImportError(str(_LIMITS))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Judge the task on standard input: `source`, `kind` and `imports`."""
    limits = _limits()

    def judge(task: dict[str, Any]) -> str | None:
        for name in [*_LOOKED_UP.split(), *task["imports"]]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        limits.limit(_CPU_SECONDS, _MEMORY)
        return first_failure(task["source"], task["kind"])

    limits.answer(judge)


if __name__ == "__main__":
    main()
