"""Classes with one defect, the test run that shows it, and the mended class.

For loops of an agent that writes, tests and mends. The request, the plan and the
decisions are right; only the source that was written first is not.
"""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_draw import draw_default, draw_spec
from langchain_ssr.demo.corpus.class_kinds import fill, slots
from langchain_ssr.demo.corpus.class_reasoning import write_reasoning
from langchain_ssr.demo.corpus.class_request import Request, Wish, write_request
from langchain_ssr.demo.corpus.class_source import KINDS, decisions, write_source
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Method
from langchain_ssr.demo.corpus.class_tests import expected
from langchain_ssr.demo.corpus.code_tools import draw_path
from langchain_ssr.demo.corpus.example import Check, Draw
from langchain_ssr.demo.grading_code_child import first_failure

# Characters: a loop writes the class twice, so it must be small.
_SOURCE = (260, 620)
_NAMED = 0.8
_WRONG = {
    "sign": {
        "self.<f> += amount": "self.<f> -= amount",
        "self.<f> -= amount": "self.<f> += amount",
    },
    "end": {"self.<f>.append(<s>)": "self.<f>.insert(0, <s>)"},
    "membership": {"return <s> in self.<f>": "return <s> not in self.<f>"},
}
"""Lines that kinds of methods need, and a mistake that is easy to make in each."""
NAMES = ("default", "check", *_WRONG)
"""The sorts of defects."""


@dataclasses.dataclass(frozen=True)
class Defect:
    """A class that was written wrongly at first.

    Attributes:
        name: The sort of defect, one of `NAMES`.
        path: The file that it is written to.
        request: What the user asks for; it does not mention the file.
        reasoning: The plan; ends with the lines of `check.decisions`.
        broken: The source with the defect.
        failure: The line that a test run of it prints.
        fixed: The right source.
        reasoning_fix: Leads from the failure to the right source; ends with the lines
            of `fix`.
        fix: Which lines change: the decisions about the right source.
        check: The check of the right source, of kind `"class"`.
    """

    name: str
    path: str
    request: str
    reasoning: str
    broken: str
    failure: str
    fixed: str
    reasoning_fix: str
    fix: tuple[str, ...]
    check: Check


@dataclasses.dataclass(frozen=True)
class _Mistake:
    """A broken source, and which item of the request it is about."""

    broken: str
    place: int
    """Counts the fields, then the methods."""


def _wrong_default(draw: Draw, spec: ClassSpec) -> _Mistake | None:
    fields = [f for f in spec.fields if f.default not in {None, "empty"}]
    if not fields:
        return None
    field = draw.pick(*fields)
    new = dataclasses.replace(field, default=draw_default(draw, field.type))
    # A method that resets the field keeps the right default.
    lines = write_source(spec).splitlines(keepends=True)
    wrong = write_source(spec.with_field(new)).splitlines(keepends=True)
    for index, (right, line) in enumerate(zip(lines, wrong, strict=True)):
        if right != line:
            lines[index] = line
            return _Mistake("".join(lines), spec.fields.index(field))
    return None


def _lines(spec: ClassSpec, method: Method) -> list[str]:
    filled = slots(spec, method)
    return [f"        {fill(line, filled)}\n" for line in KINDS[method.kind].body]


def _missing_check(draw: Draw, spec: ClassSpec) -> _Mistake | None:
    source = write_source(spec)
    found = []
    for place, method in enumerate(spec.methods, len(spec.fields)):
        body = _lines(spec, method)
        if KINDS[method.kind].error and source.count("".join(body)) == 1:
            wrong = source.replace("".join(body), "".join(body[2:]))
            found.append(_Mistake(wrong, place))
    return draw.rng.choice(found) if found else None


def _wrong_line(draw: Draw, spec: ClassSpec, name: str) -> _Mistake | None:
    source = write_source(spec)
    found = []
    for place, method in enumerate(spec.methods, len(spec.fields)):
        filled = slots(spec, method)
        for line in KINDS[method.kind].body:
            if line not in _WRONG[name]:
                continue
            right, wrong = (
                f"        {fill(text, filled)}\n" for text in (line, _WRONG[name][line])
            )
            if source.count(right) == 1:
                found.append(_Mistake(source.replace(right, wrong), place))
    return draw.rng.choice(found) if found else None


def _make_mistake(draw: Draw, spec: ClassSpec, name: str) -> _Mistake | None:
    if name == "default":
        return _wrong_default(draw, spec)
    if name == "check":
        return _missing_check(draw, spec)
    return _wrong_line(draw, spec, name)


def _fix(broken: str, fixed: str) -> tuple[str, ...]:
    """Say which lines of the broken source have to change."""
    old, new = broken.splitlines(), fixed.splitlines()
    first = next(i for i, line in enumerate(new) if i >= len(old) or old[i] != line)
    wanted = new[first].strip()
    if len(old) == len(new):
        return (f"wrong: `{old[first].strip()}`", f"right: `{wanted}`")
    return (
        f"after: `{new[first - 1].strip()}`",
        f"missing: `{wanted}`",
        f"missing: `{new[first + 1].strip()}`",
    )


def _small_spec(draw: Draw) -> ClassSpec:
    named = draw.chance(_NAMED)
    while True:
        spec = draw_spec(draw, draw.pick(2, 2, 3), 2, named=named)
        spec = dataclasses.replace(spec, docstrings=False)
        if _SOURCE[0] <= len(write_source(spec)) <= _SOURCE[1]:
            return spec


def _mend(request: Request, mistake: _Mistake, failure: str, fixed: str) -> str:
    """Write the reasoning that leads from the failure to the fix."""
    words = (*request.fields, *request.methods)[mistake.place]
    fix = "\n".join(_fix(mistake.broken, fixed))
    return (
        f'The tests fail: {failure}\nThe request says "{words}"\n\n'
        f"Final decisions:\n{fix}"
    )


def make_defect(draw: Draw) -> Defect:
    """Make a class with one defect.

    Args:
        draw: The choices.

    Returns:
        The defect.
    """
    name = draw.pick(*NAMES)
    while True:
        spec = _small_spec(draw)
        fixed, wanted = write_source(spec), expected(spec)
        mistake = _make_mistake(draw, spec, name)
        failure = mistake and first_failure(mistake.broken, wanted)
        if mistake and failure:
            break
    request = write_request(draw, spec, Wish())
    reasoning, _ = write_reasoning(spec, [], request)
    return Defect(
        name=name,
        path=draw_path(draw),
        request=request.text,
        reasoning=reasoning,
        broken=mistake.broken,
        failure=draw.pick("FAILED: ", "1 failed: ", "AssertionError: ", "") + failure,
        fixed=fixed,
        reasoning_fix=_mend(request, mistake, failure, fixed),
        fix=_fix(mistake.broken, fixed),
        check=Check("class", wanted, decisions(spec)),
    )
