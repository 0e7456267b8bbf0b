"""The skill "code": write a Python class, as an answer or into a file."""

from __future__ import annotations

import dataclasses
from typing import Any

from langchain_ssr.demo.corpus.class_change import STYLE, Change
from langchain_ssr.demo.corpus.class_changes import draw_changes
from langchain_ssr.demo.corpus.class_draw import draw_spec
from langchain_ssr.demo.corpus.class_reasoning import write_reasoning
from langchain_ssr.demo.corpus.class_request import Wish, write_request
from langchain_ssr.demo.corpus.class_source import decisions, write_source
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.class_tests import expected
from langchain_ssr.demo.corpus.code_defects import Defect, make_defect
from langchain_ssr.demo.corpus.code_tools import draw_path, draw_tools
from langchain_ssr.demo.corpus.example import Check, Draw, Example

__all__ = [
    "Defect",
    "Task",
    "draw_task",
    "make_class",
    "make_defect",
    "make_write_file",
]

# Characters; the tokenizer makes about 45 tokens of 100.
_SOURCE = (560, 1500)
_FILE_SOURCE = (600, 1400)
_REASONING = (750, 1900)
_TOTAL = 3500
_FILE_TOTAL = 3100
# How many fields and methods, as often as they are here.
_COUNTS = ((2, 3, 3, 3, 4), (2, 3, 3, 3, 4))
_FILE_COUNTS = ((2, 3, 3, 3, 4), (3, 3, 3, 4))
_WITHOUT_THINKING = 0.04
_CHANGES_MIND = 0.54
_NAMED = 0.8
_SYSTEMS = (
    "You are a helpful programmer.",
    "You write clean Python.",
    "You are a coding assistant. Answer with code.",
    "You are a careful Python developer.",
)
_CLOSINGS = (
    "`<C>` has <f> fields and <m> methods.",
    "This is the class `<C>`.",
    "The class `<C>` is ready to use.",
)
_REPLIES = (
    "I wrote the class `<C>` to `<P>`.",
    "`<P>` now contains the class `<C>`.",
    "Done: the class `<C>` is in `<P>`.",
)


@dataclasses.dataclass(frozen=True)
class Task:
    """A class that was asked for, planned and written.

    Attributes:
        request: What the user says.
        reasoning: The plan; ends with the decisions.
        spec: The class decided on.
        changes: The changes of mind on the way.
    """

    request: str
    reasoning: str
    spec: ClassSpec
    changes: tuple[Change, ...]

    @property
    def source(self) -> str:
        """The class as Python source."""
        return write_source(self.spec)

    @property
    def check(self) -> Check:
        """The check of an answer that has this class."""
        return Check("class", expected(self.spec), decisions(self.spec))


def _fits(reasoning: str) -> bool:
    return _REASONING[0] <= len(reasoning) <= _REASONING[1]


def draw_task(draw: Draw, thinks: bool, path: str = "") -> Task:
    """Draw a class, its request and its plan, of a length that suits the model.

    Args:
        draw: The choices.
        thinks: Whether there is a reasoning; without one, nobody changes their mind.
        path: The file to write, if any.

    Returns:
        The task.
    """
    low, high = _FILE_SOURCE if path else _SOURCE
    total = _FILE_TOTAL if path else _TOTAL
    fields, methods = _FILE_COUNTS if path else _COUNTS
    count = draw.pick(1, 1, 1, 2) if thinks and draw.chance(_CHANGES_MIND) else 0
    named = draw.chance(_NAMED)
    while True:
        spec = draw_spec(draw, draw.pick(*fields), draw.pick(*methods), named=named)
        if not low <= len(write_source(spec)) <= high:
            continue
        spec, changes = draw_changes(draw, spec, count)
        if len(changes) != count:
            continue
        style = any(STYLE in change.keys for change in changes)
        wish = Wish(tuple(change.tail for change in changes), style, path)
        request = write_request(draw, spec, wish)
        reasoning, final = write_reasoning(spec, changes, request)
        written = len(write_source(final))
        fits = low <= written <= high and _fits(reasoning)
        if fits and len(request.text) + len(reasoning) + written <= total:
            return Task(request.text, reasoning, final, tuple(changes))


def _opening(draw: Draw, request: str) -> list[dict[str, Any]]:
    user = {"role": "user", "content": request}
    if draw.chance(0.15):
        return [{"role": "system", "content": draw.pick(*_SYSTEMS)}, user]
    return [user]


def _named(template: str, spec: ClassSpec, path: str = "") -> str:
    return (
        template.replace("<C>", spec.name)
        .replace("<P>", path)
        .replace("<f>", str(len(spec.fields)))
        .replace("<m>", str(len(spec.methods)))
    )


def _decided(check: Check, thinks: bool) -> Check:
    """Without reasoning, no decisions are stated."""
    return check if thinks else dataclasses.replace(check, decisions=())


def _write_check(task: Task, lines: tuple[str, ...], path: str) -> Check:
    check = task.check
    expected_call = {
        "name": "write_file",
        "arguments": {"path": path},
        "code_key": "content",
        "code": {"kind": check.kind, "expected": check.expected},
    }
    return Check("write", expected_call, (*check.decisions, *lines))


def make_class(draw: Draw) -> Example:
    """Make a conversation whose answer is a class.

    Args:
        draw: The choices.

    Returns:
        The conversation, of kind `"class"`.
    """
    thinks = not draw.chance(_WITHOUT_THINKING)
    task = draw_task(draw, thinks)
    content = f"```python\n{task.source}```"
    if draw.chance(0.5):
        content += f"\n\n{_named(draw.pick(*_CLOSINGS), task.spec)}"
    answer = {"role": "assistant", "content": content}
    if thinks:
        answer["reasoning_content"] = task.reasoning
    return Example(
        skill="code",
        kind="class",
        messages=[*_opening(draw, task.request), answer],
        checks=[_decided(task.check, thinks)],
        enable_thinking=thinks,
    )


def make_write_file(draw: Draw) -> Example:
    """Make a conversation in which a class is written with a tool call.

    Args:
        draw: The choices.

    Returns:
        The conversation, of kind `"write_file"`; its last message reports.
    """
    thinks = not draw.chance(_WITHOUT_THINKING)
    path = draw_path(draw)
    task = draw_task(draw, thinks, path)
    arguments = {"path": path, "content": task.source}
    lines = ("tool: `write_file`", f"`path` = `{path}`")
    call = {
        "id": f"call_{draw.rng.randrange(16**8):08x}",
        "type": "function",
        "function": {"name": "write_file", "arguments": arguments},
    }
    result = draw.pick(
        f"Wrote {len(task.source)} characters to {path}.",
        f"wrote {path}",
        "ok",
        f'{{"path": "{path}", "written": true}}',
    )
    calls: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [call]}
    reply = {
        "role": "assistant",
        "content": _named(draw.pick(*_REPLIES), task.spec, path),
    }
    if thinks:
        calls["reasoning_content"] = "\n".join([task.reasoning, *lines])
        reply["reasoning_content"] = f"The file `{path}` is written. I tell the user."
    return Example(
        skill="code",
        kind="write_file",
        messages=[
            *_opening(draw, task.request),
            calls,
            {"role": "tool", "tool_call_id": call["id"], "content": result},
            reply,
        ],
        checks=[
            _decided(_write_check(task, lines, path), thinks),
            Check("contains", [task.spec.name, path]),
        ],
        tools=draw_tools(draw),
        enable_thinking=thinks,
    )
