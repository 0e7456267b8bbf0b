"""Agent loops: write a file, run its tests, mend what they find, report."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from langchain_ssr.demo.corpus.code_defects import Defect, make_defect
from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.tool_reasoning import FINAL, conclude, quote_tool
from langchain_ssr.demo.corpus.tool_schemas import Dialect, Parameter, Tool
from langchain_ssr.demo.corpus.tool_turns import call_message, system_message
from langchain_ssr.demo.corpus.tool_values import decision

_FILE = ("file", "module", "source", "code", "script", "program")
_PATH = ("path", "file", "filename", "file_name", "file_path", "name", "target")
_TEXT = ("content", "text", "code", "source", "body", "data")


@dataclasses.dataclass(frozen=True)
class _Kit:
    """The tools of a loop; their names vary, what they do does not."""

    write: Tool
    run: Tool
    read: Tool
    others: tuple[Tool, ...]

    @property
    def tools(self) -> list[Tool]:
        return [self.write, self.run, self.read, *self.others]


class _Loop:
    """A conversation in the making: each step adds messages, and its check."""

    def __init__(self, draw: Draw, kit: _Kit, defect: Defect) -> None:
        self._draw = draw
        self._kit = kit
        self._defect = defect
        self.messages: list[dict[str, Any]] = []
        self.checks: list[Check] = []

    def write(
        self,
        code: str,
        thoughts: str,
        decided: tuple[str, ...],
        *,
        learned: bool = True,
    ) -> None:
        """Write the file; the reasoning is that of the code, with its decisions."""
        tool, path = self._kit.write, self._defect.path
        where = next(p.name for p in tool.parameters if p.name in _PATH)
        content = next(p.name for p in tool.parameters if p.name != where)
        values = {where: path, content: code}
        arguments = {p.name: values[p.name] for p in tool.parameters}
        lines = [f"tool: `{tool.name}`", decision(where, path)]
        self._call(tool, arguments, _and_decide(thoughts, tool, lines))
        if learned:
            check = self._defect.check
            expected = {
                "name": tool.name,
                "arguments": {where: path},
                "code_key": content,
                "code": {"kind": check.kind, "expected": check.expected},
            }
            self.checks.append(Check("write", expected, (*decided, *lines)))
        self._result(
            self._draw.pick(
                f"Wrote {path}.", f"Saved {path}", f'{{"written": "{path}"}}', "OK"
            )
        )

    def run(self, result: str, why: str) -> None:
        """Run the tests."""
        self._simple(self._kit.run, why)
        self._result(result)

    def read(self, code: str, why: str) -> None:
        """Read the file."""
        self._simple(self._kit.read, why)
        self._result(code)

    def report(self, thoughts: str, answer: str) -> None:
        """End the loop with an answer."""
        message = {
            "role": "assistant",
            "content": answer,
            "reasoning_content": thoughts,
        }
        self.messages.append(message)
        self.checks.append(Check("contains", [self._defect.path]))

    def _simple(self, tool: Tool, why: str) -> None:
        arguments = {p.name: self._defect.path for p in tool.parameters}
        decisions = [f"tool: `{tool.name}`"]
        decisions += [decision(name, value) for name, value in arguments.items()]
        thoughts = f"{why}\n{quote_tool(tool)}"
        self._call(tool, arguments, conclude(thoughts, decisions))
        expected = [{"name": tool.name, "arguments": arguments}]
        self.checks.append(Check("calls", expected, tuple(decisions)))

    def _call(self, tool: Tool, arguments: dict[str, Any], reasoning: str) -> None:
        call = {"name": tool.name, "arguments": arguments}
        self.messages.append(call_message([call], reasoning))

    def _result(self, content: str) -> None:
        self.messages.append(
            {"role": "tool", "tool_call_id": "call_0", "content": content}
        )


def _and_decide(thoughts: str, tool: Tool, lines: list[str]) -> str:
    """Add the tool and its decisions to reasoning that may have decisions already."""
    chosen = f"I write the file.\n{quote_tool(tool)}"
    if FINAL in thoughts:
        before, decided = thoughts.rstrip("\n").split(f"\n{FINAL}\n")
        before = before.rstrip("\n")
        return "\n".join([before, "", chosen, "", FINAL, decided, *lines])
    return conclude(f"{thoughts}\n{chosen}", lines)


def make_agent_loop(draw: Draw) -> Example:
    """Make a loop of three to five steps.

    Half of the loops goes right at once. Of the rest, the larger part starts with a
    first try that the tests refuse; that try is in the history but not learned
    (`checks` are those of the last messages). The others mend a file that the user
    complains of.
    """
    defect = make_defect(draw)
    kit = _make_kit(draw)
    loop = _Loop(draw, kit, defect)
    path = defect.path
    run_first = f"`{path}` is written. Now I run the tests."
    request, decided = defect.request.rstrip(), defect.check.decisions
    sort = draw.rng.random()
    if sort < 0.5:  # noqa: PLR2004
        kind = "loop_right"
        loop.write(defect.fixed, defect.reasoning, decided)
    elif sort < 0.8:  # noqa: PLR2004
        kind = "loop_mended"
        loop.write(defect.broken, defect.reasoning, decided, learned=False)
        loop.run(defect.failure, run_first)
        loop.write(defect.fixed, defect.reasoning_fix, defect.fix)
    else:
        kind = "loop_repair"
        loop.run(defect.failure, "The user says that it fails. I run the tests.")
        loop.read(defect.broken, f"The tests fail: {defect.failure}\nI read the file.")
        loop.write(defect.fixed, defect.reasoning_fix, defect.fix)
    loop.run(_passed(draw), run_first)
    done = "mended" if kind == "loop_repair" else "written"
    answer = draw.pick(
        f"`{path}` is {done} and its tests pass.",
        f"Done: `{path}` is {done}, and the tests pass.",
    )
    loop.report("The tests pass. I report it.", answer)
    user = {"role": "user", "content": _task(draw, kind, request, path)}
    tools = kit.tools
    draw.rng.shuffle(tools)
    dialect: Dialect = draw.pick("openai", "pydantic")
    return Example(
        "tools",
        kind,
        [*system_message(draw), user, *loop.messages],
        loop.checks,
        [tool.declaration(dialect) for tool in tools],
    )


def _task(draw: Draw, kind: str, request: str, path: str) -> str:
    link = "\n" if "\n" in request else " "
    if kind == "loop_repair":
        plea = draw.pick(
            f"The tests of {path} fail. Mend it.",
            f"Something is wrong with {path}. Run the tests and mend it.",
            f"Please repair {path}: its tests fail.",
        )
        return f"{plea} This was the task:{link}{request}"
    ending = draw.pick(
        f"Write it to {path} and run the tests.",
        f"Save it as {path}, then run the tests.",
        f"The file is {path}. Test it until the tests pass.",
    )
    return f"{request}{link}{ending}"


def _passed(draw: Draw) -> str:
    count = draw.rng.randint(1, 9)
    return draw.pick(
        f"{count} passed",
        "All tests pass.",
        "OK",
        json.dumps({"passed": count, "failed": 0}),
        f"{count} passed in 0.0{count}s",
    )


def _make_kit(draw: Draw) -> _Kit:
    noun = draw.rng.choice(_FILE)
    write_verb = draw.pick("write", "write", "save", "store", "put", "create", "update")
    where = Parameter(draw.rng.choice(_PATH), "string", draw.pick("", "The path."))
    text = Parameter(draw.rng.choice(_TEXT), "string", draw.pick("", "What to write."))
    if where.name == text.name:
        text = dataclasses.replace(text, name="content")
    checks = draw.pick("tests", "tests", "checks", "test", "suite", "test_suite")
    run_verb = draw.pick("run", "run", "execute", "start", "call")
    run_by_path = draw.chance(0.4)
    read_verb = draw.pick("read", "read", "open", "load", "show")
    read = draw.pick("Read the file", "Read the file at a path.")
    others: tuple[Tool, ...] = ()
    if draw.chance(0.4):
        others = (
            draw.pick(
                Tool(f"list_{noun}s", f"List every {noun}."),
                Tool(f"delete_{noun}", f"Delete a {noun}.", (where,)),
                Tool("finish", "Say that the task is done."),
            ),
        )
    return _Kit(
        Tool(
            f"{write_verb}_{noun}",
            draw.pick("Write the file.", "Write the file", "Write the file to a path."),
            (where, text) if draw.chance(0.8) else (text, where),
        ),
        Tool(
            f"{run_verb}_{checks}",
            draw.pick("Run the tests.", "Run the tests", "Run the tests of a file."),
            (where,) if run_by_path else (),
        ),
        Tool(f"{read_verb}_{noun}", draw.pick("Read the file.", read), (where,)),
        others,
    )
