"""Figures that nobody has measured, as `langchain-ssr bench` would write them."""

from __future__ import annotations

from typing import Any

from langchain_ssr.bench.modes import BUILT_IN
from langchain_ssr.bench.record import Record
from langchain_ssr.bench.summary import summarize

MODES = ("plain", "ngram", "ssr")
STEPS = {"plain": 100, "ngram": 80, "ssr": 20}


def figures_of_a_run(
    *,
    seconds: float = 1.0,
    modes: tuple[str, ...] = MODES,
    items: tuple[str, ...] = ("a", "b"),
    dtype: str = "float32",
    steps: dict[str, int] | None = None,
    model: str = "demo",
    **changed: Any,
) -> dict[str, Any]:
    """Make figures: every request has 50 reasoning and 100 answer tokens.

    Args:
        seconds: What SSR takes for an answer.
        modes: Names of the modes.
        items: The requests of the only workload.
        dtype: Of the engine.
        steps: Steps in each answer, by mode; thinking takes 40.
        model: The model.
        changed: Fields of SSR's answer to the last request.
    """
    steps = steps or STEPS
    records = [
        {
            "mode": mode,
            "item": name,
            "round": 0,
            "workload": "demo code",
            "digest": f"digest of {name}",
            "total": seconds * steps[mode] / steps["ssr"],
            "num_reasoning_tokens": 50,
            "num_answer_tokens": 100,
            "num_answer_steps": None if mode == "ngram" else steps[mode],
            "num_steps": 40 + steps[mode],
            "content": "right",
        }
        for mode in modes
        for name in items
    ]
    last = max(i for i, record in enumerate(records) if record["mode"] == modes[-1])
    records[last] |= changed
    return {
        "settings": {
            "model": model,
            "engine_kwargs": {"dtype": dtype},
            "call": {"temperature": 0},
            "modes": {name: BUILT_IN[name].to_dict() for name in modes},
        },
        **summarize([Record(**record) for record in records]),
    }
