"""Held-out agent loops of the demo model as live tasks, with tools that work."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_ssr.demo.corpus.example import Example
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.demo.grading_code import judge_class

_READ = "Read the file"
"""How the corpus begins to describe its reading tool, and no other."""


@dataclass
class Workplace:
    """The tools of one task, and the files that they work on.

    Attributes:
        write: Name of the tool that writes.
        run: Of the one that runs the tests.
        read: Of the one that reads.
        path_key: The argument of `write` that holds the path.
        code_key: The one that holds the source.
        path: The file that the task is about.
        expected: What the class is tested for.
        files: The files.
    """

    write: str
    run: str
    read: str
    path_key: str
    code_key: str
    path: str
    expected: Mapping[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, example: Example) -> Workplace:
        """Set up the tools of a loop of the corpus."""
        wanted = next(c.expected for c in example.checks if c.kind == "write")
        ran = [c.expected for c in example.checks if c.kind == "calls"][-1]
        functions = [tool["function"] for tool in example.tools]
        read = next(f["name"] for f in functions if f["description"].startswith(_READ))
        [(path_key, path)] = wanted["arguments"].items()
        place = cls(
            wanted["name"],
            ran[0]["name"],
            read,
            path_key,
            wanted["code_key"],
            path,
            wanted["code"]["expected"],
        )
        if example.kind == "loop_repair":  # the file is there, as the loop reads it
            said = example.messages
            calls = [(m.get("tool_calls") or [{}])[0].get("function") for m in said]
            at = next(
                i for i, call in enumerate(calls) if call and call["name"] == read
            )
            place.files[path] = said[at + 1]["content"]
        return place

    def do(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Do what a call asks for and return what the model is told."""
        if name == self.write:
            path, code = arguments.get(self.path_key), arguments.get(self.code_key)
            if not isinstance(path, str) or not isinstance(code, str):
                return f"Error: {self.path_key} and {self.code_key} must be texts."
            self.files[path] = code
            return f"Wrote {path}."
        if name == self.run:
            failure = self.failure()
            return f"FAILED: {failure}" if failure else "All tests pass."
        if name == self.read:
            path = str(next(iter(arguments.values()), self.path))
            return self.files.get(path, f"Error: there is no file {path}.")
        return f"Error: {name} does nothing here."

    def failure(self) -> str | None:
        """Say why the file is not right; None if it is."""
        code = self.files.get(self.path)
        if code is None:
            return f"there is no file {self.path}"
        if "```" in code:
            return "SyntaxError: invalid syntax"
        return judge_class(code, self.expected)


def tasks(num: int, seed: int = 0) -> dict[str, Example]:
    """Take agent loops from the demo model's held-out stream, by name."""
    stream = ((i, conversation(seed, i, "heldout")) for i in itertools.count())
    loops = (
        (f"{example.kind}-{seed}-{index}", example)
        for index, example in stream
        if example.kind.startswith("loop_")
    )
    return dict(itertools.islice(loops, num))
