"""Answers every request in every mode, and leaves out what a folder has already.

Modes that share an engine take turns at each request, and so do all modes where every
engine is alive at once. Otherwise one engine runs after the other, once in each round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from langchain_ssr.bench.asking import Asker, OpenEngine
from langchain_ssr.bench.items import Item
from langchain_ssr.bench.modes import Mode
from langchain_ssr.bench.record import Record
from langchain_ssr.bench.store import Store
from langchain_ssr.errors import ContextLengthError

WARM_UP_TOKENS = 48
Progress = Callable[[str], None]
"""Called after each answer with a word on it."""


@dataclass(frozen=True)
class Plan:
    """What is to be measured.

    Attributes:
        items: The requests.
        modes: The modes.
        settings: Settings of every call; those of an item and of a mode win.
        rounds: How often each mode answers each request.
        warm_up: Answers of each started engine that are not counted.
        alive_together: Start every engine at once and let them take turns.
    """

    items: Sequence[Item]
    modes: Sequence[Mode]
    settings: Mapping[str, Any] = field(default_factory=dict)
    rounds: int = 1
    warm_up: int = 1
    alive_together: bool = False

    @property
    def size(self) -> int:
        """How many answers there will be."""
        return len(self.items) * len(self.modes) * self.rounds

    def groups(self) -> list[list[Mode]]:
        """Return the modes by what is alive at the same time."""
        if self.alive_together:
            return [list(self.modes)]
        groups: dict[str, list[Mode]] = {}
        for mode in self.modes:
            groups.setdefault(mode.engine.key, []).append(mode)
        return list(groups.values())


def run(plan: Plan, store: Store, open_engine: OpenEngine, progress: Progress) -> None:
    """Measure what is missing.

    Args:
        plan: What is to be measured.
        store: Where it is kept.
        open_engine: Starts an engine.
        progress: Told of each answer, also of those that were there.
    """
    for number in range(plan.rounds):
        for modes in plan.groups():
            missing = []
            for item, mode in _turns(plan.items, modes, number):
                if store.has(mode, item, number):
                    progress(f"{mode.name} {item.id}: was there")
                else:
                    missing.append((item, mode))
            if not missing:
                continue
            with ExitStack() as running:
                wanted = {mode.engine.key: mode.engine for _, mode in missing}
                askers = {
                    key: _started(plan, running.enter_context(open_engine(engine)))
                    for key, engine in wanted.items()
                }
                told = {
                    mode.name: askers[mode.engine.key].info()
                    for mode in modes
                    if mode.engine.key in askers
                }
                store.describe(told)
                for item, mode in missing:
                    record = _measure(plan, askers[mode.engine.key], item, mode, number)
                    store.add(record)
                    progress(_line(record))


def _turns(
    items: Sequence[Item], modes: Sequence[Mode], number: int
) -> Iterator[tuple[Item, Mode]]:
    """Pair requests and modes; who is first changes from request to request."""
    for place, item in enumerate(items):
        first = (place + number) % len(modes)
        for mode in (*modes[first:], *modes[:first]):
            yield item, mode


def _started(plan: Plan, asker: Asker) -> Asker:
    """Let an engine answer before the clock counts: the first answers are slower."""
    for number in range(plan.warm_up):
        item = Item("warm-up", "warm-up", [{"role": "user", "content": "Hi"}])
        settings = {**plan.settings, "max_tokens": WARM_UP_TOKENS}
        asker.ask(item, _apart(settings, f"warm-up {number}"))
    return asker


def _measure(plan: Plan, asker: Asker, item: Item, mode: Mode, number: int) -> Record:
    if item.left_out is not None:
        return Record.without_answer(mode, item, number, item.left_out)
    settings = {**plan.settings, **item.settings, **mode.settings}
    name = f"{mode.name} {number} {item.conversation or item.id}"
    try:
        answer = asker.ask(item, _apart(settings, name))
    except ContextLengthError as error:
        return Record.without_answer(mode, item, number, str(error))
    return Record.of(mode, item, number, answer)


def _apart(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Keep what the engine has cached of other prompts out of this one."""
    salt = hashlib.sha256(name.encode()).hexdigest()[:32]
    body = {**settings.get("extra_body", {}), "cache_salt": salt}
    return {**settings, "extra_body": body}


def _line(record: Record) -> str:
    start = f"{record.mode} {record.item}"
    if record.skipped:
        return f"{start}: skipped, {record.skipped}"
    steps = "?" if record.num_steps is None else record.num_steps
    score = "" if record.score is None else f", score {record.score:g}"
    return (
        f"{start}: {record.num_tokens} tokens in {steps} steps, "
        f"{record.total:.1f} s{score}"
    )
