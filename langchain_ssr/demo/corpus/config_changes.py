"""Instructions that change a configuration: another value, one more item."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.settings import (
    Config,
    Setting,
    draw_value,
)


@dataclasses.dataclass(frozen=True)
class ConfigChange:
    """One instruction.

    Attributes:
        kind: Its name.
        sentence: What the request says, an imperative without its full stop.
        config: The configuration after it.
        keys: Keys that it is about, so that no other change undoes it.
    """

    kind: str
    sentence: str
    config: Config
    keys: tuple[str, ...]


_Make = Callable[[Draw, Config, frozenset[str]], ConfigChange | None]


def _replace(config: Config, old: Setting, new: Setting) -> Config:
    return tuple(new if setting is old else setting for setting in config)


def _choose(
    draw: Draw, config: Config, taken: frozenset[str], kinds: str
) -> Setting | None:
    allowed = kinds.split()
    free = [s for s in config if s.key not in taken and s.kind in allowed]
    return draw.rng.choice(free) if free else None


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
    return ConfigChange("correct", sentence, _replace(config, old, new), (old.key,))


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
    return ConfigChange("flip", sentence, _replace(config, old, new), (old.key,))


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
    return ConfigChange("extend", sentence, _replace(config, old, new), (old.key,))


_CHANGES: list[tuple[_Make, int]] = [
    (_correct, 5),
    (_flip, 3),
    (_extend, 5),
]


def draw_config_changes(draw: Draw, config: Config, count: int) -> list[ConfigChange]:
    """Draw changes, each of other settings and of the result of the one before."""
    makers, weights = zip(*_CHANGES, strict=True)
    changes: list[ConfigChange] = []
    while len(changes) < count:
        (make,) = draw.rng.choices(makers, weights)
        taken = frozenset(key for change in changes for key in change.keys)
        change = make(draw, changes[-1].config if changes else config, taken)
        if change:
            changes.append(change)
    return changes
