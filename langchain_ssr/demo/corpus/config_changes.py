"""Instructions that change a configuration: rename a key, correct a value, others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.settings import (
    Config,
    Setting,
    draw_key,
    draw_value,
)


@dataclasses.dataclass(frozen=True)
class ConfigChange:
    """One instruction.

    Attributes:
        kind: Its name; a request has each kind at most once.
        sentence: What the request says, an imperative without its full stop.
        conclusion: What the reasoning concludes, whole sentences.
        config: The configuration after it.
        keys: Keys that it is about, so that no other change undoes it.
    """

    kind: str
    sentence: str
    conclusion: str
    config: Config
    keys: tuple[str, ...]


_Make = Callable[[Draw, Config, frozenset[str]], ConfigChange | None]


def names(config: Config) -> set[str]:
    """All keys and sections, which a new key must differ from."""
    return {s.key for s in config} | {s.section for s in config}


def _replace(config: Config, old: Setting, new: Setting | None) -> Config:
    changed = (new if setting is old else setting for setting in config)
    return tuple(setting for setting in changed if setting is not None)


def _number(config: Config, setting: Setting) -> int:
    """Return the number under which the reasoning has a setting."""
    return config.index(setting) + 1


def _choose(
    draw: Draw, config: Config, taken: frozenset[str], kinds: str = ""
) -> Setting | None:
    allowed = kinds.split()
    free = [
        setting
        for setting in config
        if setting.key not in taken and (not allowed or setting.kind in allowed)
    ]
    return draw.rng.choice(free) if free else None


def _rename(draw: Draw, config: Config, taken: frozenset[str]) -> ConfigChange | None:
    old = _choose(draw, config, taken)
    if old is None:
        return None
    key = draw_key(draw, old.kind, names(config) | taken)
    new = dataclasses.replace(old, key=key)
    sentence = draw.pick(
        f"rename `{old.key}` to `{key}`",
        f"call `{old.key}` `{key}`",
        f"use the key `{key}` instead of `{old.key}`",
    )
    conclusion = f"So {_number(config, old)} `{new.path}` replaces `{old.path}`."
    config = _replace(config, old, new)
    return ConfigChange("rename", sentence, conclusion, config, (old.key, key))


def _correct(draw: Draw, config: Config, taken: frozenset[str]) -> ConfigChange | None:
    old = _choose(draw, config, taken, "int float str")
    if old is None:
        return None
    new = dataclasses.replace(old, items=draw_value(draw, old.kind))
    if new == old:
        return None
    value = f"`{new.items[0]}`" if old.kind == "str" else new.items[0]
    sentence = draw.pick(
        f"change `{old.key}` to {value}",
        f"make `{old.key}` {value} instead",
        f"set `{old.key}` to {value} after all",
    )
    conclusion = f"So {_number(config, old)} `{old.path}` {new.reading()}."
    return ConfigChange(
        "correct", sentence, conclusion, _replace(config, old, new), (old.key,)
    )


def _flip(draw: Draw, config: Config, taken: frozenset[str]) -> ConfigChange | None:
    old = _choose(draw, config, taken, "bool")
    if old is None:
        return None
    on = old.items[0] == "no"
    new = dataclasses.replace(old, items=("yes" if on else "no",))
    state = "on" if on else "off"
    sentence = draw.pick(
        f"turn `{old.key}` {state} after all",
        f"switch `{old.key}` {state} instead",
        f"set `{old.key}` to {state}",
    )
    conclusion = f"So {_number(config, old)} `{old.path}` {new.reading()}."
    return ConfigChange(
        "flip", sentence, conclusion, _replace(config, old, new), (old.key,)
    )


def _string(draw: Draw, config: Config, taken: frozenset[str]) -> ConfigChange | None:
    old = _choose(draw, config, taken, "int float")
    if old is None:
        return None
    new = dataclasses.replace(old, kind="text")
    sentence = draw.pick(
        f"write `{old.key}` as a string",
        f"keep `{old.key}` as a string",
        f"put the value of `{old.key}` in quotes",
    )
    conclusion = (
        f"So {_number(config, old)} `{old.path}` is a string with quotes, not a number."
    )
    return ConfigChange(
        "string", sentence, conclusion, _replace(config, old, new), (old.key,)
    )


def _extend(draw: Draw, config: Config, taken: frozenset[str]) -> ConfigChange | None:
    old = _choose(draw, config, taken, "list")
    if old is None:
        return None
    (item,) = draw_value(draw, "str")
    if item in old.items:
        return None
    new = dataclasses.replace(old, items=(*old.items, item))
    sentence = draw.pick(
        f"add `{item}` to `{old.key}`",
        f"append `{item}` to `{old.key}`",
        f"put `{item}` at the end of `{old.key}`",
    )
    conclusion = f"So {_number(config, old)} `{old.path}` {new.reading()}."
    return ConfigChange(
        "extend", sentence, conclusion, _replace(config, old, new), (old.key,)
    )


_CHANGES: list[tuple[_Make, int]] = [
    (_rename, 5),
    (_correct, 5),
    (_flip, 3),
    (_string, 3),
    (_extend, 5),
]


def draw_config_changes(draw: Draw, config: Config, count: int) -> list[ConfigChange]:
    """Draw changes of different kinds, each applied to the result of the one before."""
    makers, weights = zip(*_CHANGES, strict=True)
    changes: list[ConfigChange] = []
    while len(changes) < count:
        (make,) = draw.rng.choices(makers, weights)
        taken = frozenset(key for change in changes for key in change.keys)
        change = make(draw, changes[-1].config if changes else config, taken)
        if change and change.kind not in {done.kind for done in changes}:
            changes.append(change)
    return changes
