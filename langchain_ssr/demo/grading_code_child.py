"""Runs the tests of one class; the judge starts it in a process of its own.

Also imported by the corpus, which shows the same failures to the agents that it writes.
Uses the standard library only, because it runs isolated (`python -I`).
"""

from __future__ import annotations

import ast
import contextlib
import copy  # noqa: F401 - tests import it when files are refused already
import dataclasses  # noqa: F401 - answers import it when files are refused already
import io
import json
import resource
import sys
import typing  # noqa: F401 - as above
from collections.abc import Callable
from typing import Any

_CPU_SECONDS = 2
_MEMORY = 512 * 1024**2
_OUTPUT = 64 * 1024
_REFUSED = (
    "os.",
    "shutil.",
    "socket.",
    "subprocess.",
    "ctypes.",
    "tempfile.",
    "resource.",
    "pty.",
    "_thread.",
    "mmap.",
)
# Looking for modules lists directories.
_ALLOWED = {"os.listdir", "os.scandir"}
_WRITING_FLAGS = 3


def _uses_instance(test: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == "c"
        for node in ast.walk(ast.parse(test))
    )


def _outcome(test: str, namespace: dict[str, Any]) -> str:
    """Run statements, the last an expression; return its `repr` or `raises X`."""
    module = ast.parse(test)
    last = module.body.pop()
    if not isinstance(last, ast.Expr):
        raise TypeError("the last statement of a test must be an expression")
    try:
        exec(compile(module, "<test>", "exec"), namespace)  # noqa: S102
        expression = compile(ast.Expression(last.value), "<test>", "eval")
        return repr(eval(expression, namespace))  # noqa: S307
    except Exception as error:  # noqa: BLE001 - any error is an outcome
        name = f"raises {type(error).__name__}"
        # This message says which name is missing; others depend on Python's version.
        return f"{name}: {error}" if isinstance(error, AttributeError) else name


def _signatures(source: str, name: str) -> list[str]:
    """Return the first lines of a class's methods, formatted in one way."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    returns = method.returns and f" -> {ast.unparse(method.returns)}"
                    arguments = ast.unparse(method.args)
                    found.append(f"{method.name}({arguments}){returns or ''}")
    return found


def _normal(signature: str) -> str:
    function = ast.parse(f"class X:\n def {signature}: pass")
    return _signatures(ast.unparse(function), "X")[0]


def first_failure(source: str, expected: dict[str, Any]) -> str | None:
    """Run all tests of a class.

    Args:
        source: Python source that defines the class.
        expected: What `class_tests.expected` returned.

    Returns:
        None if all tests pass, else one line about the first that does not.
    """
    start: dict[str, Any] = {"__name__": "answer"}
    try:
        exec(compile(source, "<answer>", "exec", dont_inherit=True), start)  # noqa: S102
    except Exception as error:  # noqa: BLE001 - any error is a failure
        return f"{type(error).__name__}: {error}".splitlines()[0]
    if expected["class"] not in start:
        return f"there is no class `{expected['class']}`"
    for test, wanted in expected["tests"]:
        namespace = {**start}
        if _uses_instance(test):
            try:
                namespace["c"] = eval(expected["new"], namespace)  # noqa: S307
            except Exception as error:  # noqa: BLE001 - any error is a failure
                return f"`{expected['new']}` raises {type(error).__name__}: {error}"
        found = _outcome(test, namespace)
        if found != wanted:
            return f"`{test}` gives {found}, expected {wanted.removeprefix('raises ')}"
    signatures = _signatures(source, expected["class"])
    for signature in expected["signatures"]:
        if _normal(signature) not in signatures:
            return f"there is no method with the signature `{signature}`"
    return None


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse written files, processes, threads and sockets to the answer."""
    if event == "open":
        _, mode, flags = arguments
        writes = isinstance(mode, str) and not set(mode).isdisjoint("wax+")
        if writes or (isinstance(flags, int) and flags & _WRITING_FLAGS):
            raise PermissionError("an answer must not write files")
    elif event.startswith(_REFUSED) and event not in _ALLOWED:
        raise PermissionError(f"an answer must not use {event}")


def limit(cpu_seconds: int = _CPU_SECONDS, memory: int = _MEMORY) -> None:
    """Limit time, memory, output and processes; the superuser has no last one.

    Args:
        cpu_seconds: Most computing time.
        memory: Most address space, in bytes.
    """
    for what, value in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, _OUTPUT),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # lower already
            resource.setrlimit(what, (value, value))
    sys.addaudithook(_refuse)


def answer(judge: Callable[[dict[str, Any]], str | None]) -> None:
    """Read a task from standard input and print the verdict after its token.

    Args:
        judge: Sets the limits and judges the task.
    """
    task = json.load(sys.stdin)
    output = sys.stdout
    sys.stdout = sys.stderr = io.StringIO()
    verdict = judge(task)
    output.write("\n" + json.dumps([task["token"], verdict]) + "\n")
    output.flush()


def _judge(task: dict[str, Any]) -> str | None:
    limit()
    return first_failure(task["source"], task["expected"])


if __name__ == "__main__":
    answer(_judge)
