"""Compares a fresh run with a committed one, in what no machine changes.

That is: the requests; in float32 and without sampling the flags "same output as plain",
tokens and engine steps; and the ratios of steps that the project aims at. Seconds are
never compared. A machine may settle a rounding tie otherwise, after which one text goes
on in another way: so sums of tokens and steps may differ by `TOLERANCE`, flags not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from benchmarks.aims import aims_of, verdict

TOLERANCE = 0.02
"""Of the committed sum; below 50, not even one token or step."""
_COUNTS = {
    "num_answers": "answers",
    "num_reasoning_tokens": "reasoning tokens",
    "num_answer_tokens": "answer tokens",
    "num_steps": "engine steps",
    "num_answer_steps": "engine steps in the answer",
}
_OF_AGENTS = {
    "num_turns": "turns",
    "num_tool_calls": "tool calls",
    "num_successes": "successes",
    "num_tokens": "tokens",
    "num_steps": "engine steps",
}


@dataclass(frozen=True)
class Essence:
    """What of a run's figures no machine changes.

    Attributes:
        settings: What each answer depends on, beside mode and request.
        modes: How the modes are defined; empty where that is fixed.
        with_ssr: The modes with SSR.
        exact: Whether texts are the same on any machine, rounding ties aside.
        requests: What each request asks, by workload and name.
        counts: Sums by workload and mode, by what they count.
        same: Whether an output is plain's, by workload, mode and request.
        figures: The figures that aims are about; None for an agent's.
    """

    settings: Mapping[str, Any]
    modes: Mapping[str, Any]
    with_ssr: frozenset[str]
    exact: bool
    requests: Mapping[tuple[str, str], str]
    counts: Mapping[tuple[str, str], Mapping[str, int | None]]
    same: Mapping[tuple[str, str, str], bool]
    figures: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> Self:
        """Take it from figures of `langchain-ssr bench` or of the agent.

        Raises:
            KeyError: They are no figures. Also TypeError, AttributeError.
        """
        return cls._of_agent(figures) if "agent" in figures else cls._of_run(figures)

    @classmethod
    def _of_run(cls, figures: Mapping[str, Any]) -> Self:
        settings = {**figures["settings"]}
        modes = settings.pop("modes")
        rows = figures["requests"]
        dtype = settings["engine_kwargs"].get("dtype")
        return cls(
            settings=settings,
            modes=modes,
            with_ssr=frozenset(n for n, mode in modes.items() if mode["speculation"]),
            exact=dtype == "float32" and settings["call"].get("temperature") == 0,
            requests={(row["workload"], _name(row)): row["digest"] for row in rows},
            counts={
                (workload, name): {words: mode[key] for key, words in _COUNTS.items()}
                for workload, modes in figures["workloads"].items()
                for name, mode in modes.items()
            },
            same={
                (row["workload"], row["mode"], _name(row)): row["same_output"]
                for row in rows
                if row["same_output"] is not None
            },
            figures=figures,
        )

    @classmethod
    def _of_agent(cls, figures: Mapping[str, Any]) -> Self:
        told, tasks = figures["agent"], figures["tasks"]
        return cls(
            settings=figures["settings"],
            modes={},
            with_ssr=frozenset({"ssr"}),
            exact=figures["settings"]["dtype"] == "float32",
            requests={("agent", name): "" for name in told["tasks"]},
            counts={
                ("agent", mode): {w: told[mode][key] for key, w in _OF_AGENTS.items()}
                for mode in tasks
            },
            same={("agent", "ssr", name): same for name, same in told["tasks"].items()},
        )

    @property
    def workloads(self) -> set[str]:
        """The workloads."""
        return {workload for workload, _ in self.requests}

    def is_like(self, other: Essence) -> bool:
        """Whether two runs have the same settings and workloads."""
        return self.settings == other.settings and self.workloads == other.workloads


def _name(row: Mapping[str, Any]) -> str:
    number = row["round"]
    return f"{row['item']} (round {number + 1})" if number else row["item"]


@dataclass
class Comparison:
    """What came of comparing a run with the committed one.

    Attributes:
        problems: What must not differ, but does; a sentence each.
        notes: What was compared, and what was not.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(run: Essence, committed: Essence) -> Comparison:
    """Compare two runs that are like each other."""
    found = Comparison()
    found.problems += _other_requests(run, committed)
    found.problems += [
        f"mode {name} is defined otherwise"
        for name in run.modes.keys() & committed.modes.keys()
        if run.modes[name] != committed.modes[name]
    ]
    common = {mode for _, mode in run.counts.keys() & committed.counts.keys()}
    if committed.with_ssr and not common & committed.with_ssr:
        found.problems.append("there is no mode with SSR that both have")
    if found.problems:
        return found
    modes = {mode for essence in (run, committed) for _, mode in essence.counts}
    found.notes.append(
        f"{len(run.requests)} requests, modes {', '.join(sorted(common))}"
        + "".join(f"; not in both: {mode}" for mode in sorted(modes - common))
    )
    if run.exact:
        found.problems += [*_other_outputs(run, committed), *_moved(run, committed)]
    else:
        found.notes.append(
            "texts differ by rounding or sampling (not float32, or no temperature 0): "
            "outputs, tokens and steps were not compared"
        )
    _check_aims(run, committed, found)
    return found


def _other_requests(run: Essence, committed: Essence) -> Iterator[str]:
    for workload, name in sorted(run.requests.keys() ^ committed.requests.keys()):
        has = "is new" if (workload, name) in run.requests else "is missing"
        yield f"{workload}: request {name} {has}"
    for key in sorted(run.requests.keys() & committed.requests.keys()):
        if run.requests[key] != committed.requests[key]:
            yield f"{key[0]}: request {key[1]} asks something else"


def _other_outputs(run: Essence, committed: Essence) -> Iterator[str]:
    """Name the answers that were plain's and no longer are."""
    for key, same in sorted(committed.same.items()):
        if same and not run.same.get(key, True):
            workload, mode, name = key
            yield f"{workload}, {mode}: the output of {name} is no longer plain's"


def _moved(run: Essence, committed: Essence) -> Iterator[str]:
    """Name the sums that differ by more than ties explain."""
    for key in sorted(run.counts.keys() & committed.counts.keys()):
        for words, before in committed.counts[key].items():
            now = run.counts[key][words]
            if now is None or before is None:
                if now != before:
                    yield f"{', '.join(key)}: {words} are known of one run only"
            elif abs(now - before) > TOLERANCE * before:
                by = f"{(now - before) / before:+.1%}" if before else "from none"
                yield (
                    f"{', '.join(key)}: {now} {words}, not {before} ({by}; at most "
                    f"{TOLERANCE:.0%} are allowed)"
                )


def _check_aims(run: Essence, committed: Essence, found: Comparison) -> None:
    """Fail where an aim is missed, unless the committed figures say so themselves."""
    if run.figures is None or committed.figures is None:
        return
    for aim in aims_of(committed.figures):
        value, before = aim.reached(run.figures), aim.reached(committed.figures)
        if not aim.anywhere or aim.least is None or value is None:
            continue
        if value >= aim.least:
            continue
        sentence = f"aim: {aim.title}: {verdict(value, aim.least)}"
        if before is not None and before < aim.least:
            found.notes.append(f"{sentence}, as in the committed figures")
        else:
            found.problems.append(sentence)
