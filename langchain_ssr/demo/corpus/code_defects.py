"""Classes with one defect, the test run that shows it, and the mended class.

For loops of an agent that writes, tests and mends. The request, the plan and the
decisions are right; only the source that was written first is not.
"""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_draw import draw_default, draw_spec
from langchain_ssr.demo.corpus.class_reasoning import write_reasoning
from langchain_ssr.demo.corpus.class_request import Wish, write_request
from langchain_ssr.demo.corpus.class_source import KINDS, decisions, write_source
from langchain_ssr.demo.corpus.class_spec import ClassSpec
from langchain_ssr.demo.corpus.class_tests import expected
from langchain_ssr.demo.corpus.code_tools import draw_path
from langchain_ssr.demo.corpus.example import Check, Draw
from langchain_ssr.demo.grading_code_child import first_failure

# Characters: a loop writes the class twice, so it must be small.
_SOURCE = (260, 620)
_WRONG = {
    "self.<f> += amount": "self.<f> -= amount",
    "self.<f> -= amount": "self.<f> += amount",
    "self.<f> *= factor": "self.<f> += factor",
    "return value > self.<f>": "return value >= self.<f>",
    "return value < self.<f>": "return value <= self.<f>",
    "return value >= self.<f>": "return value > self.<f>",
    "return <s> in self.<f>": "return <s> not in self.<f>",
    "return not self.<f>": "return bool(self.<f>)",
    "self.<f> = not self.<f>": "self.<f> = True",
    "return self.<f>[-1]": "return self.<f>[0]",
    "return max(self.<f>)": "return min(self.<f>)",
    "self.<f>.append(<s>)": "self.<f>.insert(0, <s>)",
    "self.<f>.insert(0, <s>)": "self.<f>.append(<s>)",
    "self.<f>.clear()": "self.<f>.copy()",
    "return self.<f>.upper()": "return self.<f>.lower()",
    "if amount < 0:": "if amount <= 0:",
    "if amount > self.<f>:": "if amount >= self.<f>:",
    "return sum(self.<f>.values())": "return len(self.<f>)",
    "return sum(self.<f>)": "return len(self.<f>)",
    "return sorted(self.<f>)": "return list(self.<f>)[:1]",
}
"""A line that a kind of method needs, and a mistake that is easy to make in it."""


@dataclasses.dataclass(frozen=True)
class Defect:
    """A class that was written wrongly at first.

    Attributes:
        name: The sort of defect: `"default"`, `"check"` or `"operator"`.
        path: The file that it is written to.
        request: What the user asks for; it does not mention the file.
        reasoning: The plan; ends with the lines of `check.decisions`.
        broken: The source with the defect.
        failure: The line that a test run of it prints.
        fixed: The right source.
        reasoning_fix: Leads from the failure to the right source; ends with the same
            decisions.
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
    check: Check


def _wrong_default(draw: Draw, spec: ClassSpec) -> str | None:
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
            return "".join(lines)
    return None


def _missing_check(draw: Draw, spec: ClassSpec) -> str | None:
    found = [
        [f"        {line}\n" for line in KINDS[method.kind].body[:2]]
        for method in spec.methods
        if KINDS[method.kind].body[0].startswith("if ")
        and "raise" in KINDS[method.kind].body[1]
    ]
    if not found:
        return None
    lines = write_source(spec).splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("            raise")]
    start = draw.pick(*starts)
    return "".join(lines[: start - 1] + lines[start + 1 :])


def _wrong_operator(draw: Draw, spec: ClassSpec) -> str | None:
    source = write_source(spec)
    options: list[tuple[str, str]] = []
    for method in spec.methods:
        for line in KINDS[method.kind].body:
            if line in _WRONG:
                field = spec.field(method.keys[0])
                right, wrong = (
                    text.replace("<f>", field.name).replace("<s>", field.stem)
                    for text in (line, _WRONG[line])
                )
                options.append((right, wrong))
    options = [pair for pair in options if source.count(f"        {pair[0]}\n") == 1]
    if not options:
        return None
    right, wrong = draw.pick(*options)
    return source.replace(f"        {right}\n", f"        {wrong}\n")


_MAKERS = {
    "default": _wrong_default,
    "check": _missing_check,
    "operator": _wrong_operator,
}


def _fix(broken: str, fixed: str) -> str:
    """Say which lines of the broken source have to change."""
    old, new = broken.splitlines(), fixed.splitlines()
    first = next(i for i, line in enumerate(new) if i >= len(old) or old[i] != line)
    wanted = new[first].strip()
    if len(old) == len(new):
        return f"The file has `{old[first].strip()}`, but it must be `{wanted}`."
    where = next(line for line in reversed(new[:first]) if "def " in line)
    method = where.split("def ")[1].split("(")[0]
    return (
        f"In `{method}` a check is missing: `{wanted}` and then "
        f"`{new[first + 1].strip()}`."
    )


def _small_spec(draw: Draw) -> ClassSpec:
    while True:
        spec = draw_spec(draw, draw.pick(2, 2, 3), 2)
        spec = dataclasses.replace(spec, docstrings=False)
        if _SOURCE[0] <= len(write_source(spec)) <= _SOURCE[1]:
            return spec


def make_defect(draw: Draw) -> Defect:
    """Make a class with one defect.

    Args:
        draw: The choices.

    Returns:
        The defect.
    """
    while True:
        spec = _small_spec(draw)
        fixed, wanted = write_source(spec), expected(spec)
        name = draw.pick(*_MAKERS)
        broken = _MAKERS[name](draw, spec)
        failure = broken and first_failure(broken, wanted)
        if broken and failure:
            break
    wish = Wish(named=draw.chance(0.8))
    request = write_request(draw, spec, wish)
    reasoning, _ = write_reasoning(draw, spec, [], wish)
    closing = "\n".join(["Final decisions:", *decisions(spec)])
    start = draw.pick(
        "The tests fail.", "One test fails.", "The test run shows a mistake."
    )
    fix = f"{start} {failure}\n{_fix(broken, fixed)} The rest stays.\n\n{closing}"
    return Defect(
        name=name,
        path=draw_path(draw),
        request=request,
        reasoning=reasoning,
        broken=broken,
        failure=draw.pick("FAILED: ", "1 failed: ", "AssertionError: ", "") + failure,
        fixed=fixed,
        reasoning_fix=fix,
        check=Check("class", wanted, decisions(spec)),
    )
