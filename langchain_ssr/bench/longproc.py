"""LongProc (Ye et al., arXiv 2501.05414), the tasks with outputs of some 2K tokens.

Read from a folder of the user's: `TASK_2k.json` and `TASK_prompts.yaml`, or
`TASK/TASK_2k.json` and `TASK/prompts.yaml` as in the benchmark's repository, JSON files
perhaps compressed; for `html_to_tsv` also its web pages, in a folder or an archive.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from langchain_ssr.bench.files import FormatError, read_json, read_text
from langchain_ssr.bench.hub import HUB, LONGPROC, hub_rows
from langchain_ssr.bench.items import Item, Misfit, Verdict, right_or_wrong
from langchain_ssr.errors import SettingsError

TASKS = ("countdown", "html_to_tsv", "pseudo_to_code", "tom_tracking")
_SOLUTION = re.compile(r"<Solution>(.*?)</Solution>", re.DOTALL | re.IGNORECASE)
_EQUATION = re.compile(r"(\d+)\s*([-+*/])\s*(\d+)\s*=\s*(\d+)")
_TSV = re.compile(r"```(?:tsv)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_FINAL = re.compile(r"final answer\s*:\s*(.+)", re.IGNORECASE)


def longproc(
    folder: Path, num: int | None = None, misfit: Misfit = lambda _: None
) -> list[Item]:
    """Read the tasks that a folder has.

    Args:
        folder: Where they are, or `hub`.
        num: How many prompts of each task, from the first; None for all.
        misfit: Tells prompts that do not fit. They are left out and not counted, but
            stand among the others, with the reason.

    Raises:
        SettingsError: If the folder has none, or one of another form.
    """
    read = _of_hub if folder == HUB else functools.partial(_of_task, folder)
    items = [
        item for task in TASKS for item in _first_that_fit(read(task), num, misfit)
    ]
    if not items:
        raise SettingsError(
            f"{folder} has none of LongProc's tasks: {TASKS[0]}_2k.json"
        )
    return items


def _first_that_fit(
    items: Iterable[Item], num: int | None, misfit: Misfit
) -> Iterator[Item]:
    left = num
    for item in items:
        if left == 0:
            return
        why = misfit(item)
        yield dataclasses.replace(item, left_out=why)
        if left is not None and why is None:
            left -= 1


def _of_hub(task: str) -> Iterator[Item]:
    """Read a task from the hub, where the prompts are filled in."""
    rows = hub_rows(LONGPROC, f"{task}_2k")
    try:
        for number, row in enumerate(rows):
            told = json.loads(row["metadata"])
            wanted = row["reference_output"]
            entry = {"gt": _inside(wanted), "solution": wanted, **told}
            yield _item(task, number, row["input_prompt"], entry)
    except (TypeError, KeyError, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise FormatError(Path(LONGPROC), f"LongProc's {task}", problem) from error


def _inside(text: str) -> str:
    """Return the rows of a fenced table, or of a bare one."""
    blocks = _TSV.findall(text)
    return blocks[-1] if blocks else text


def _item(task: str, number: int, prompt: str, entry: Mapping[str, Any]) -> Item:
    judge = _JUDGES.get(task)
    return Item(
        f"{task}-{number}",
        f"longproc {task}",
        [{"role": "user", "content": prompt}],
        judge=judge and functools.partial(judge, entry),
    )


def _of_task(folder: Path, task: str) -> Iterator[Item]:
    data = _find(folder, f"{task}_2k.json", f"{task}/{task}_2k.json")
    if data is None:
        return
    prompts = _find(folder, f"{task}_prompts.yaml", f"{task}/prompts.yaml")
    if prompts is None:
        raise SettingsError(f"{folder} has {data.name}, but not {task}_prompts.yaml")
    try:
        template = _yaml(read_text(prompts))["USER_PROMPT"]
        for number, entry in enumerate(read_json(data)):
            fields = _FIELDS[task](entry, folder)
            yield _item(task, number, template.format(**fields), entry)
    except (TypeError, KeyError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise FormatError(data, f"LongProc's {task}", problem) from error


def _find(folder: Path, *names: str) -> Path | None:
    places = (folder / f"{name}{ending}" for name in names for ending in ("", ".gz"))
    return next((place for place in places if place.is_file()), None)


def _yaml(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


def _page(folder: Path, name: str) -> str:
    """Read a web page from a folder, or from the archive of all."""
    for place in (folder / "html_to_tsv" / name, folder / name):
        if place.is_file():
            return read_text(place)
    archive = folder / "html_to_tsv_2k_webpages.tar.xz"
    pages = _pages(archive) if archive.is_file() else {}
    try:
        return pages[f"html_to_tsv/{name}"]
    except KeyError:
        raise SettingsError(f"{folder} has no web page {name}") from None


@functools.lru_cache(maxsize=1)
def _pages(archive: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(archive) as pages:
        for member in pages:
            if file := pages.extractfile(member):
                found[member.name] = file.read().decode("utf-8")
    return found


def _countdown(entry: Mapping[str, Any], _: Path) -> dict[str, Any]:
    return {name: entry[name] for name in ("demonstration", "nums", "target")}


def _html(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    names = ("task_topic", "task_description", "filtering_instruction", "tsv_header")
    page = _page(folder, entry["html_path"])
    return {"html_str": page, **{name: entry[name] for name in names}}


def _pseudocode(entry: Mapping[str, Any], _: Path) -> dict[str, Any]:
    return {"pseudocode": "\n".join(entry["pseudocode_lines"])}


def _story(entry: Mapping[str, Any], _: Path) -> dict[str, Any]:
    return {"story": entry["story"], "question": entry["question"]}


_FIELDS: Mapping[str, Callable[[Mapping[str, Any], Path], dict[str, Any]]] = {
    "countdown": _countdown,
    "html_to_tsv": _html,
    "pseudo_to_code": _pseudocode,
    "tom_tracking": _story,
}


def _judge_countdown(entry: Mapping[str, Any], message: Mapping[str, Any]) -> Verdict:
    """Check that the equations use every number once and reach the target."""
    found = _SOLUTION.findall(message.get("content") or "")
    if not found:
        return Verdict(0.0, "there is no <Solution>")
    left = collections.Counter(map(Fraction, entry["nums"]))
    for one, sign, other, result in _EQUATION.findall(found[-1]):
        a, b = Fraction(one), Fraction(other)
        if sign == "/" and not b:
            return Verdict(0.0, "a division by zero")
        value = {"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1)}[sign]
        if value != Fraction(result):
            return Verdict(0.0, f"{one} {sign} {other} is not {result}")
        left.subtract([a, b])
        if min(left.values()) < 0:
            return Verdict(0.0, "a number is used that is not there")
        left[value] += 1
    reached = [number for number, count in left.items() if count] == [entry["target"]]
    return right_or_wrong(
        None if reached and left.total() == 1 else "the target is not reached"
    )


def _judge_html(entry: Mapping[str, Any], message: Mapping[str, Any]) -> Verdict:
    """Score the rows by F1, each row compared as a whole."""
    blocks = _TSV.findall(message.get("content") or "")
    if not blocks:
        return Verdict(0.0, "there is no TSV block")
    wanted, found = _rows(entry["gt"]), _rows(blocks[-1])
    common = (wanted & found).total()
    total = wanted.total() + found.total()
    return Verdict(2 * common / total if total else 1.0)


def _rows(text: str) -> collections.Counter[tuple[str, ...]]:
    _, *lines = text.strip().split("\n")  # without the header
    return collections.Counter(
        tuple(" ".join(cell.split()) for cell in line.split("\t"))
        for line in lines
        if line.strip()
    )


def _judge_story(entry: Mapping[str, Any], message: Mapping[str, Any]) -> Verdict:
    """Compare the last of the final answers."""
    wanted = _FINAL.findall(entry["solution"])
    found = _FINAL.findall(message.get("content") or "")
    if not wanted:
        return Verdict(None, "the task has no final answer")
    if not found:
        return Verdict(0.0, "there is no final answer")
    right = _place(found[-1]) == _place(wanted[-1])
    return right_or_wrong(None if right else f"{found[-1][:80]!r} is not right")


def _place(text: str) -> str:
    return text.strip().strip("*.").casefold().removeprefix("the ").strip()


_JUDGES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Verdict]] = {
    "countdown": _judge_countdown,
    "html_to_tsv": _judge_html,
    "tom_tracking": _judge_story,
}
"""`pseudo_to_code` is not judged: its tests need a C++ compiler."""
