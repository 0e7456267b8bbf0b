"""Settings of a small application, drawn at random, and sentences that require them."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.render import literal
from langchain_ssr.demo.corpus.tables import draw_decimal, draw_name, draw_whole, typed
from langchain_ssr.demo.corpus.wording import listed, ticks

SettingKind = Literal["str", "int", "float", "bool", "list"]

_SECTIONS = (
    *("server", "database", "cache", "logging", "auth", "queue", "storage", "client"),
    *("metrics", "search", "worker", "proxy", "mail", "backup", "session", "api"),
)
_USUAL_KEYS: dict[SettingKind, str] = {
    "str": "host name mode region user theme level backend driver bucket owner "
    "log_level default_user",
    "int": "port timeout retries size limit workers interval ttl max_size "
    "max_connections pool_size batch_size",
    "float": "ratio rate threshold factor sample_rate max_ratio backoff",
    "bool": "enabled debug verbose secure compress strict use_tls read_only auto_start",
    "list": "hosts tags plugins users features servers allowed_users groups",
}
_KEYS = {kind: words.split() for kind, words in _USUAL_KEYS.items()}


@dataclasses.dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        section: The section; empty at the top level.
        key: The key, which no other setting of the configuration has.
        kind: The type.
        items: The value as text; several if it is a list.
    """

    section: str
    key: str
    kind: SettingKind
    items: tuple[str, ...]

    @property
    def value(self) -> Any:
        """The value as JSON data."""
        if self.kind == "list":
            return list(self.items)
        return typed(self.items[0], self.kind)

    def literal(self, target: Literal["json", "yaml"]) -> str | list[str]:
        """Spell the value, or each item of its list, as the target does."""
        if self.kind == "list":
            return [literal(item, "str", target) for item in self.items]
        return literal(self.items[0], self.kind, target)

    def reading(self) -> str:
        """Say what the value is, as the reasoning does, before any spelling."""
        text = self.items[0]
        if self.kind == "list":
            return f"is a list of {ticks(self.items)}"
        if self.kind == "bool":
            word = "true" if text == "yes" else "false"
            return f"is {'on' if text == 'yes' else 'off'}, so `{word}`"
        return f"is the {'text' if self.kind == 'str' else 'number'} `{text}`"


Config = tuple[Setting, ...]


def draw_key(draw: Draw, kind: SettingKind, taken: set[str]) -> str:
    """Draw a key that is not taken: a usual one for its type, or any words."""
    while True:
        usual = kind in _KEYS and draw.chance(0.5)
        key: str = draw.pick(*_KEYS[kind]) if usual else draw.words.snake()
        if key not in taken:
            return key


def draw_value(draw: Draw, kind: SettingKind) -> tuple[str, ...]:
    """Draw a value of a type, as text."""
    if kind == "list":
        source = draw.pick("person", "word", "word", "place")
        count = draw.pick(2, 2, 3, 3, 4)
        found: dict[str, None] = {}
        while len(found) < count:
            found[draw_name(draw, source)] = None
        return tuple(found)
    if kind == "str":
        return (draw_name(draw, draw.pick("person", "word", "word", "word", "place")),)
    if kind == "bool":
        return (draw.pick("yes", "no"),)
    return (draw_decimal(draw) if kind == "float" else draw_whole(draw),)


def draw_config(draw: Draw) -> Config:
    """Draw 5 to 10 settings, in 1 to 3 sections or all at the top level."""
    count = draw.pick(5, 6, 7, 8, 8, 9, 9, 10)
    flat = draw.chance(0.3)
    sections: list[str] = [""] if flat else []
    taken: set[str] = set()
    for _ in range(0 if flat else min(draw.pick(1, 2, 2, 3), count // 3)):
        name: str = draw.pick(*_SECTIONS) if draw.chance(0.5) else draw.words.snake()
        if name not in taken:
            taken.add(name)
            sections.append(name)
    places = sorted(
        [*range(len(sections))]
        + [draw.rng.randrange(len(sections)) for _ in range(count - len(sections))]
    )
    settings = []
    for place in places:
        kind: SettingKind = draw.pick(
            "str", "str", "int", "int", "int", "float", "bool", "bool", "list"
        )
        key = draw_key(draw, kind, taken)
        taken.add(key)
        value = draw_value(draw, kind)
        settings.append(Setting(sections[place], key, kind, value))
    return tuple(settings)


def requirement(draw: Draw, setting: Setting) -> str:
    """Require a setting, in a clause without section, capital letter and full stop."""
    key, text = setting.key, setting.items[0]
    if setting.kind == "list":
        items = listed([f"`{item}`" for item in setting.items])
        verb = draw.pick("lists", "contains", "has the items", "should list", "holds")
        return f"`{key}` {verb} {items}"
    if setting.kind == "bool":
        on = text == "yes"
        state = draw.pick("on" if on else "off", "enabled" if on else "disabled")
        return str(
            draw.pick(
                f"`{key}` is {state}",
                f"`{key}` should be {state}",
                f"turn `{key}` {'on' if on else 'off'}",
                f"{'enable' if on else 'disable'} `{key}`",
                f"switch `{key}` {'on' if on else 'off'}",
            )
        )
    value = f"`{text}`" if setting.kind == "str" else text
    return str(
        draw.pick(
            f"`{key}` is {value}",
            f"set `{key}` to {value}",
            f"`{key}` should be {value}",
            f"`{key}` must be {value}",
            f"the value of `{key}` is {value}",
        )
    )
