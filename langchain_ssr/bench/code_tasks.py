"""HumanEval and ClassEval: prompts, and judges that run the benchmarks' own tests.

HumanEval: Chen et al., arXiv 2107.03374. ClassEval: Du et al., arXiv 2308.01861. Both
are read from files of the user's; a task counts as solved if all its tests pass.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_ssr.bench import tests_child
from langchain_ssr.bench.files import FormatError, read_json, read_lines
from langchain_ssr.bench.hub import CLASSEVAL, HUB, HUMANEVAL, hub_rows
from langchain_ssr.bench.items import Item, Verdict, right_or_wrong
from langchain_ssr.demo.grading_code import run_limited

CLASSEVAL_PROMPT = """\
Complete the class {name} in the following Python code. Implement every method as its \
docstring says. Reply with the complete code.

```python
{skeleton}
```"""
HUMANEVAL_PROMPT = """\
Complete the function {name} in the following Python code. Reply with the complete \
code.

```python
{prompt}
```"""
_TITLES = {"humaneval": "HumanEval", "classeval": "ClassEval"}
_SECONDS = 30.0
_CHILD = Path(tests_child.__file__)
_FENCE = re.compile(r"^```[ \t]*\w*[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_IMPORT = re.compile(r"^(?:import|from)\s+([\w.]+)")


def humaneval(path: Path, num: int | None = None) -> list[Item]:
    """Read HumanEval: JSON lines, perhaps compressed by gzip.

    Args:
        path: The file (`HumanEval.jsonl.gz`), or `hub`.
        num: How many tasks, from the first; None for all.

    Raises:
        SettingsError: If it is no such file.
    """
    return _items(
        "humaneval",
        path,
        (hub_rows(*HUMANEVAL) if path == HUB else read_lines(path))[:num],
        lambda task: HUMANEVAL_PROMPT.format(
            name=task["entry_point"], prompt=task["prompt"].strip()
        ),
        _judge_humaneval,
    )


def classeval(path: Path, num: int | None = None) -> list[Item]:
    """Read ClassEval: a JSON list, perhaps compressed by gzip.

    Args:
        path: The file (`ClassEval_data.json`), or `hub`.
        num: How many tasks, from the first; None for all.

    Raises:
        SettingsError: If it is no such file.
    """
    tasks = hub_rows(*CLASSEVAL) if path == HUB else read_json(path)
    if not isinstance(tasks, list):
        raise FormatError(path, "ClassEval", "it is not a list of tasks")
    return _items("classeval", path, tasks[:num], classeval_prompt, _judge_classeval)


def classeval_prompt(task: Mapping[str, Any]) -> str:
    """Return what a model is asked for one task of ClassEval."""
    return CLASSEVAL_PROMPT.format(
        name=task["class_name"], skeleton=task["skeleton"].strip()
    )


def _items(
    workload: str,
    path: Path,
    tasks: Sequence[Any],
    prompt_of: Callable[[Any], str],
    judge: Callable[[Any, Mapping[str, Any]], Verdict],
) -> list[Item]:
    try:
        return [
            Item(
                task["task_id"],
                workload,
                [{"role": "user", "content": prompt_of(task)}],
                judge=functools.partial(judge, task),
            )
            for task in tasks
        ]
    except (TypeError, KeyError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise FormatError(path, _TITLES[workload], problem) from error


def code_of(answer: str) -> str:
    """Return the code of an answer: its longest fenced block, or all of it."""
    return max(_FENCE.findall(answer), key=len, default=answer)


def _judge_humaneval(task: Mapping[str, Any], message: Mapping[str, Any]) -> Verdict:
    code = code_of(message.get("content") or "")
    if not code.strip():
        return Verdict(0.0, "no answer")
    return right_or_wrong(_run_humaneval(task, code))


def _run_humaneval(task: Mapping[str, Any], code: str) -> str | None:
    """Run the tests; the prompt stands in front, for it has imports and helpers."""
    link = "" if code[:1] in " \t" else "\n\n"  # a body alone, or a whole function
    source = f"{task['prompt']}{link}{code}\n\n{task['test']}\n\n"
    source += f"check({task['entry_point']})\n"
    return _run(source, "script", ())


def _judge_classeval(task: Mapping[str, Any], message: Mapping[str, Any]) -> Verdict:
    code = code_of(message.get("content") or "")
    if not code.strip():
        return Verdict(0.0, "no answer")
    imports = "\n".join(task["import_statement"])
    reason = _run_classeval(imports, code, task["test"])
    if reason is None:
        return Verdict(1.0)
    expected = _reason_of_solution(imports, task["solution_code"], task["test"])
    if expected is not None:  # a library is missing, or the tests need files
        return Verdict(None, f"its own solution fails here: {expected}")
    return Verdict(0.0, reason)


def _run_classeval(imports: str, code: str, test: str) -> str | None:
    names = [
        found[1] for line in imports.splitlines() if (found := _IMPORT.match(line))
    ]
    return _run(f"{imports}\n{code}\n\n{test}\n", "unittest", names)


@functools.lru_cache(maxsize=256)
def _reason_of_solution(imports: str, solution: str, test: str) -> str | None:
    return _run_classeval(imports, solution, test)


def _run(source: str, kind: str, imports: Sequence[str]) -> str | None:
    task = {"source": source, "kind": kind, "imports": list(imports)}
    return run_limited(_CHILD, task, _SECONDS)
