"""What a user asks the benchmark for, with the presets, and the plan made of it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_ssr.bench.code_tasks import classeval, humaneval
from langchain_ssr.bench.demo_items import SKILLS, demo_items
from langchain_ssr.bench.fitting import misfit_of
from langchain_ssr.bench.items import Item
from langchain_ssr.bench.longproc import longproc
from langchain_ssr.bench.modes import Mode, check_modes, parse_mode
from langchain_ssr.bench.provenance import weights_digest
from langchain_ssr.bench.runner import Plan
from langchain_ssr.bench.trace import read_requests
from langchain_ssr.errors import SettingsError
from langchain_ssr.models import DEMO
from langchain_ssr.settings import merge_call_settings


@dataclasses.dataclass(frozen=True)
class Options:
    """A run, as its command line says it.

    Attributes:
        model: The model.
        modes: As `parse_mode` reads them.
        budgets: Draft budgets; each makes a mode `ssr@BUDGET`.
        demo: Skills of the demo model, separated by commas.
        humaneval: File of HumanEval.
        classeval: File of ClassEval.
        longproc: Folder of LongProc.
        prompts: File of requests that have nothing to do with each other.
        trace: File of the requests of a recorded run, in order.
        num: Requests of each workload, from the first; None for all. LongProc's that
            do not fit the model's context are left out and not counted.
        rounds: How often each mode answers each request.
        alive_together: All engines at once.
        warm_up: Answers of each started engine that are not counted.
        temperature: Of sampling; None for the model's own.
        thinking_budget: Most reasoning tokens.
        max_tokens: Longest output.
        seed: Of sampling, and of the demo model's stream.
        details: Keep each answer's timeline.
        engine_kwargs: Arguments of `vllm serve`, for all engines.
    """

    model: str = DEMO
    modes: tuple[str, ...] = ("plain", "ngram", "ssr")
    budgets: tuple[int, ...] = ()
    demo: str | None = None
    humaneval: Path | None = None
    classeval: Path | None = None
    longproc: Path | None = None
    prompts: Path | None = None
    trace: Path | None = None
    num: int | None = None
    rounds: int = 1
    alive_together: bool = False
    warm_up: int = 1
    temperature: float | None = 0.0
    thinking_budget: int | None = None
    max_tokens: int | None = None
    seed: int = 0
    details: bool = False
    engine_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)


_PAPER = {
    "draft_budget": 500,
    "max_draft_tokens": 500,
    "sources": ["draft_prefix", "draft_suffix"],
    "speculate_reasoning": False,
}
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "ci": {
        "demo": ",".join(SKILLS),
        "num": 2,
        "max_tokens": 2400,
        "engine_kwargs": {"dtype": "float32"},
    },
    "paper": {
        "model": "Gemma-4-E4B-IT",
        "modes": (
            "plain",
            "ssr",
            f"paper-one={json.dumps({**_PAPER, 'iterative': False})}",
            f"paper-750-500={json.dumps({**_PAPER, 'draft_budget': 750})}",
            f"paper-500-250={json.dumps({**_PAPER, 'max_draft_tokens': 250})}",
        ),
        "thinking_budget": 2000,
        "warm_up": 0,
    },
}
"""`ci` takes minutes on two cores. `paper` has what is known of the settings of arXiv
2608.20359: drafts of up to 500 tokens after 500 reasoning tokens, reasoning of up to
2000, iterative drafts of up to 500 tokens every 750 and of up to 250 every 500, nothing
proposed but drafts, one request at a time, no warm-up. That an iterative run drafts
first after its interval, and that it is greedy, are guesses; `--temperature` and
`--max-tokens` say otherwise."""


def make_options(preset: str | None, given: Mapping[str, Any]) -> Options:
    """Put a preset and what the user says together; the user wins.

    Modes are added to those of the preset, so that one more column costs one option.

    Args:
        preset: A name of `PRESETS`, or None.
        given: Fields of `Options`; None and empty ones are not given.

    Raises:
        SettingsError: If there is no such preset.
    """
    if preset is not None and preset not in PRESETS:
        raise SettingsError(f"--preset: there is {' and '.join(PRESETS)}")
    said = {name: value for name, value in given.items() if value not in (None, (), {})}
    base = dict(PRESETS[preset]) if preset else {}
    if base and "engine_kwargs" in said:
        inherited = base.get("engine_kwargs", {})
        said["engine_kwargs"] = {**inherited, **said["engine_kwargs"]}
    if base and "modes" in said:
        said["modes"] = (*base.get("modes", Options.modes), *said["modes"])
    return Options(**{**base, **said})


def sampled(options: Options) -> Options:
    """Let the model sample as its makers recommend, instead of a fixed temperature."""
    return dataclasses.replace(options, temperature=None)


def call_settings(options: Options) -> dict[str, Any]:
    """Return the settings of every call.

    Raises:
        SettingsError: If a value is out of range.
    """
    settings = {
        "temperature": options.temperature,
        "thinking_budget": options.thinking_budget,
        "max_tokens": options.max_tokens,
        "speculation_stats": "detailed" if options.details else None,
        # A seed where nothing is drawn changes nothing, but how vLLM samples.
        "seed": options.seed if options.temperature != 0 else None,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    merge_call_settings(given)
    return given


def make_items(options: Options) -> list[Item]:
    """Read the workloads.

    Raises:
        SettingsError: If there is none, or a file is of another form.
    """
    num, items = options.num, []
    if options.demo:
        skills = options.demo.split(",")
        items += demo_items(skills, num or 10, options.seed)
    if options.humaneval is not None:
        items += humaneval(options.humaneval, num)
    if options.classeval is not None:
        items += classeval(options.classeval, num)
    if options.longproc is not None:
        fits = misfit_of(options.model, options.engine_kwargs, call_settings(options))
        items += longproc(options.longproc, num, fits)
    if options.prompts is not None:
        items += read_requests(options.prompts, options.prompts.stem, num)
    if options.trace is not None:
        items += read_requests(
            options.trace, options.trace.stem, num, conversation="trace"
        )
    if not items:
        raise SettingsError(
            "There is nothing to ask: --demo, --humaneval, --classeval, --longproc, "
            "--prompts or --trace says what"
        )
    ids = [item.id for item in items]
    if len(set(ids)) < len(ids):
        raise SettingsError("two workloads have requests of the same id")
    return items


def make_modes(options: Options) -> list[Mode]:
    """Read the modes, those of `budgets` last.

    Raises:
        SettingsError: If one cannot run.
    """
    texts = list(options.modes)
    texts += [
        f"ssr@{budget}={json.dumps({'draft_budget': budget})}"
        for budget in options.budgets
    ]
    return check_modes(map(parse_mode, texts))


def make_plan(options: Options, shard: tuple[int, int] = (0, 1)) -> Plan:
    """Say what is to be measured.

    Args:
        options: The run.
        shard: Which part of the requests, and of how many; a conversation is never
            split.

    Raises:
        SettingsError: If something cannot run as asked.
    """
    items = make_items(options)
    groups = list(dict.fromkeys(item.conversation or item.id for item in items))
    own = set(groups[shard[0] :: shard[1]])
    return Plan(
        [item for item in items if (item.conversation or item.id) in own],
        make_modes(options),
        call_settings(options),
        rounds=options.rounds,
        warm_up=options.warm_up,
        alive_together=options.alive_together,
    )


def fixed_settings(options: Options) -> dict[str, Any]:
    """Return what every answer depends on, beside its mode and its request."""
    return {
        "model": options.model,
        "weights": weights_digest(options.model),
        "engine_kwargs": dict(options.engine_kwargs),
        "call": call_settings(options),
    }
