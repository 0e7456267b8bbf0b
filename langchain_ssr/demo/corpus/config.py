"""Questions for a configuration: requirements turned into nested JSON or YAML."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, Literal

from langchain_ssr.demo.corpus import render
from langchain_ssr.demo.corpus.config_changes import ConfigChange, draw_config_changes
from langchain_ssr.demo.corpus.example import Check, Draw, Example
from langchain_ssr.demo.corpus.layout import Layout, draw_layout
from langchain_ssr.demo.corpus.settings import (
    Config,
    Setting,
    draw_config,
    requirement,
)
from langchain_ssr.demo.corpus.wording import (
    LATE_CUES,
    conversation,
    noticed,
    ticks,
)

_ORDERS = (
    "Write a {t} configuration for {w}.",
    "Write the {t} configuration of {w}.",
    "I need a {t} configuration for {w}.",
    "Please write {t} settings for {w}.",
    "Create a {t} configuration file for {w}.",
    "Give me the configuration of {w} as {t}.",
    "Turn these requirements of {w} into {t}.",
    "Make a {t} file with the settings of {w}.",
    "Configure {w} in {t}.",
    "Put the settings of {w} into {t}.",
    "Please make a {t} configuration. It is for {w}.",
    "Express this configuration of {w} as {t}.",
)
_QUESTIONS = (
    "Can you write a {t} configuration for {w}?",
    "Could you make a {t} file for {w}?",
    "Would you write the settings of {w} as {t}?",
    "How does the configuration of {w} look in {t}?",
    "What is a {t} configuration for {w}?",
    "Can I have {t} settings for {w}?",
)
_THINGS = ("my app", "a service", "our tool", "the website", "a bot", "the program")


@dataclasses.dataclass(frozen=True)
class _Task:
    """What is asked first, and what the end of the request changes."""

    target: Literal["json", "yaml"]
    config: Config
    changes: list[ConfigChange]
    layout: Layout

    @property
    def name(self) -> str:
        return "JSON" if self.target == "json" else "YAML"

    def final(self) -> Config:
        return self.changes[-1].config if self.changes else self.config


def _draw_task(draw: Draw) -> _Task:
    config = draw_config(draw)
    count = draw.pick(1, 1, 2) if draw.chance(0.5) else 0
    changes = draw_config_changes(draw, config, count)
    target = draw.pick("json", "yaml")
    return _Task(target, config, changes, draw_layout(draw))


def _groups(config: Config) -> dict[str, list[Setting]]:
    """Group the settings by section; the top level is an empty one."""
    groups: dict[str, list[Setting]] = {}
    for setting in config:
        groups.setdefault(setting.section, []).append(setting)
    return groups


def _required(draw: Draw, config: Config) -> str:
    """Require the settings section by section, one a numbered line."""
    head = draw.pick("`{}`:", "In `{}`:", "In the section `{}`:", "For `{}`:")
    lines = []
    number = itertools.count(1)
    for section, settings in _groups(config).items():
        lines += [head.format(section)] if section else []
        lines += [f"{next(number)}. {requirement(draw, s)}" for s in settings]
    return "\n".join(lines)


def _request(draw: Draw, task: _Task) -> str:
    mark = draw.pick("`", "`", '"', "")
    thing = draw.pick(*_THINGS, f"the {draw.words.noun()} service")
    first = draw.pick(*(_QUESTIONS if task.layout.sentence else _ORDERS)).format(
        t=task.name, w=thing
    )
    if task.layout.raw:
        first += f" {task.layout.request(task.name)}"
    end = [f"{draw.pick(*LATE_CUES)}{change.sentence}." for change in task.changes]
    if not end and draw.chance(0.2):
        end = [draw.pick("Thank you.", "Thanks!", "That is all.")]
    parts = [first, _required(draw, task.config), " ".join(end)]
    return "\n\n".join(part for part in parts if part).replace("`", mark)


def _shown(setting: Setting, target: Literal["json", "yaml"]) -> str:
    text = setting.literal(target)
    return f"`{text}`" if isinstance(text, str) else f"list {ticks(text)}"


def _sections(config: Config, line: Callable[[Setting], str]) -> list[str]:
    """Write the settings section by section, as the request and the answer do."""
    lines = []
    number = itertools.count(1)
    for section, settings in _groups(config).items():
        lines += [f"In `{section}`:"] if section else []
        lines += [f"{next(number)}. {line(setting)}" for setting in settings]
    return lines


def _decisions(task: _Task) -> tuple[str, ...]:
    return (
        f"- format: {task.name}",
        f"- form: {task.layout.form}",
        f"- settings: {len(task.final())}",
        *_sections(task.final(), lambda s: f"{s.key}: {_shown(s, task.target)}"),
    )


def _changed(number: int, old: Setting, new: Setting) -> str:
    """Quote the line that a change replaces, from its key on, and write the new one."""
    return (
        f"So `{old.key}` {old.reading()}. ({number}) becomes\n"
        f"{number}. `{new.key}` {new.reading()}. ({number})"
    )


def _noticed(config: Config, change: ConfigChange) -> str:
    """Notice a change of this configuration."""
    pairs = zip(config, change.config, strict=True)
    number, (old, new) = next((n, p) for n, p in enumerate(pairs, 1) if p[0] != p[1])
    return noticed(change.sentence, _changed(number, old, new))


def _reasoning(task: _Task, decisions: tuple[str, ...]) -> str:
    """Walk through the settings and change them.

    Each line has its number at its end, too: a tiny model finds the line that a change
    is about by copying it from the key to the number.
    """
    numbers = {setting.key: n for n, setting in enumerate(task.config, 1)}
    before = [task.config, *(change.config for change in task.changes)]
    lines = [
        f"The user wants a {task.name} configuration.",
        f"The form is {task.layout.form}.",
        "Setting by setting:",
        *_sections(
            task.config, lambda s: f"`{s.key}` {s.reading()}. ({numbers[s.key]})"
        ),
        f"That makes {len(task.config)} settings.",
        *map(_noticed, before, task.changes),
    ]
    return "\n".join([*lines, "Final decisions:", *decisions])


def make_config(draw: Draw) -> Example:
    """Ask for a configuration that meets requirements.

    Args:
        draw: The choices.

    Returns:
        The conversation; its kind is `"config_json"` or `"config_yaml"`.
    """
    task = _draw_task(draw)
    groups = _groups(task.final())
    top = groups.pop("", [])
    value: dict[str, Any] = {setting.key: setting.value for setting in top}
    for section, settings in groups.items():
        value[section] = {setting.key: setting.value for setting in settings}
    write = render.json_config if task.target == "json" else render.yaml_config
    text = write(
        [(setting.key, setting.literal(task.target)) for setting in top],
        {
            section: [(s.key, s.literal(task.target)) for s in settings]
            for section, settings in groups.items()
        },
    )
    decisions = _decisions(task)
    expected = {
        "format": task.target,
        "value": value,
        "raw": task.layout.raw,
    }
    return conversation(
        draw,
        ("data", f"config_{task.target}"),
        [_request(draw, task)],
        (
            _reasoning(task, decisions),
            task.layout.answer(text, task.target, task.name),
        ),
        Check("data", expected, decisions),
    )
