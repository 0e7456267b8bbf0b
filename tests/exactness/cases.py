"""The requests of the equality tests: axes of settings, and the pairs of them.

`COMMON` axes are what both engines get, `SPECULATION` axes what only SSR gets. Each
value is a name, so that a row can be read in a report.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from tests.exactness.asking import Case, merge
from tests.exactness.material import (
    FULL_PROMPT,
    PROMPTS,
    REGEX,
    SCHEMA,
    TASK,
    TOOL,
    TRAINED,
    few_tokens,
    markers,
)
from tests.exactness.pairs import Row, all_pairs
from tests.exactness.rare import rare_cases

_SHIFT = 31
"""How far apart the rows are that lend each other their speculation settings."""


def _ends(shape: str) -> dict[str, dict[str, Any]]:
    """Name the ways in which reasoning and answer may end."""
    ends: dict[str, dict[str, Any]] = {
        "budget": {"max_tokens": 84, "thinking_budget": 24},
        "thinking": {"max_tokens": 30, "thinking_budget": 60},
        "early": {"max_tokens": 34, "thinking_budget": 24},
        "none": {"max_tokens": 60, "enable_thinking": False},
        "one": {"max_tokens": 1, "thinking_budget": 24},
        "zero": {"max_tokens": 40, "thinking_budget": 0},
    }
    if shape in TRAINED:
        return {**ends, "itself": {"max_tokens": 120}}
    ids = markers(shape)
    both = few_tokens(ids.text, ids.end, ids.eos, letters=3)
    both["extra_body"]["min_tokens"] = 70  # the reasoning has to end before the answer
    call = few_tokens(ids.text, ids.call, letters=2)
    return {
        **ends,
        "itself": {"max_tokens": 120, **few_tokens(ids.text, ids.end, letters=4)},
        "both": {"max_tokens": 160, **both},
        "call": {"max_tokens": 72, **call, "tools": [TOOL]},
        "at least": {
            "max_tokens": 72,
            "thinking_budget": 24,
            "extra_body": {"min_tokens": 60, "ignore_eos": True},
        },
        "context": {"max_tokens": None, "thinking_budget": 24},
    }


def _common(shape: str) -> dict[str, dict[str, dict[str, Any]]]:
    text = markers(shape).text
    axes: dict[str, dict[str, dict[str, Any]]] = {
        "prompt": {name: {} for name in PROMPTS},
        "end": _ends(shape),
        "format": {
            "free": {},
            "schema": {"response_format": SCHEMA},
            "regex": {"extra_body": {"structured_outputs": {"regex": REGEX}}},
            "call": {"tools": [TOOL], "tool_choice": "required"},
        },
        "penalty": {
            "no": {},
            "frequency": {"frequency_penalty": 0.7, "repetition_penalty": 1.1},
            "presence": {"presence_penalty": 1.5},
            "words": {"extra_body": {"bad_words": ["Z", "Q", "th", "a b"]}},
        },
        "stop": {
            "no": {},
            "never": {"stop": ["\x00never"]},
            "letters": {"stop": ["a", "b", "e", "TE"]},
            "kept": {
                "stop": ["a", "q", "t", "0"],
                "extra_body": {"include_stop_str_in_output": True},
            },
            "token": {
                "extra_body": {
                    "stop_token_ids": [text + 1, *range(text + 9, text + 14)]
                }
            },
        },
        "sampling": {
            # Several times, so that most requests are greedy: the tie rule has nothing
            # to judge where only one token is left to sample from.
            **{f"greedy {i}": {} for i in range(1, 5)},
            "top_k": {"temperature": 1.0, "top_k": 1},
            "seeded": {"temperature": 0.6, "top_k": 1, "top_p": 0.9, "seed": 7},
            "two": {"temperature": 1.0, "top_k": 1, "n": 2},
        },
    }
    if shape == "gemma4":  # vLLM has no grammar for its calls
        del axes["format"]["call"]
    if shape in TRAINED:
        del axes["stop"]["token"]
    return axes


SPECULATION: dict[str, dict[str, dict[str, Any]]] = {
    "drafts": {
        "one": {"draft_budget": 12, "iterative": False},
        "iterative": {"draft_budget": 6},
        "interval": {"draft_budget": 10, "draft_interval": 3, "max_drafts": 4},
        "several": {"draft_budget": [2, 9, 17]},
        "at once": {"draft_budget": 1, "draft_interval": 1},
        "none": {"max_drafts": 0},
        "off": {"speculation": False},
    },
    "tokens": {
        **{str(k): {"num_speculative_tokens": k} for k in (1, 2, 8, 32)},
        "all": {},
    },
    "reasoning": {"proposed": {}, "not": {"speculate_reasoning": False}},
    "prediction": {
        "no": {},
        "text": {"prediction": "aaaa bbbb 1 2 3 4 5 6 7 8 hello there hello there"},
        "markers": {"prediction": "ab</think>\n\nbe<|im_end|><channel|>k<turn|>\n"},
    },
    "draft": {
        "alike": {},
        "hot": {"draft_temperature": 1.0},
        "short": {"max_draft_tokens": 5},
        "one": {"max_draft_tokens": 1},
    },
    "report": {
        "summary": {},
        "detailed": {"speculation_stats": "detailed", "stream_drafts": True},
        "bare": {"speculation_stats": "none", "extra_body": {"logprobs": False}},
    },
}

OWN_TOKENS = {"itself", "both", "call"}
"""Ends that need penalties and allowed tokens of their own, at least of tiny models."""
FORBIDDEN = [
    {"end": OWN_TOKENS, "penalty": {"frequency", "presence", "words"}},
    {"end": OWN_TOKENS, "format": {"schema", "regex", "call"}},
    # A finished grammar allows nothing but the end.
    {"end": {"at least"}, "format": {"schema", "regex", "call"}},
    {"end": {"context"}, "format": {"call"}},  # does not fit
]


@functools.cache
def cases_for(shape: str) -> tuple[Case, ...]:
    """Return requests in fixed order; any two settings meet in every other of them.

    The one after it is the same to a plain engine, with the speculation settings of
    another one.
    """
    common = _common(shape)
    parts = {**common, **SPECULATION}
    axes = {axis: list(values) for axis, values in parts.items()}
    rows = all_pairs(axes, [] if shape in TRAINED else FORBIDDEN)
    again = [
        {axis: (row if axis in common else other)[axis] for axis in axes}
        for row, other in zip(rows, [*rows[_SHIFT:], *rows[:_SHIFT]], strict=True)
    ]
    both = zip(rows, again, strict=True)
    cases = [_case(shape, row, parts) for pair in both for row in pair]
    return (*cases, *rare_cases(shape, SPECULATION["drafts"]))


def _case(shape: str, row: Row, parts: Mapping[str, Mapping[str, Any]]) -> Case:
    settings: dict[str, Any] = {}
    ssr: dict[str, Any] = {}
    for axis, name in row.items():
        merge(ssr if axis in SPECULATION else settings, parts[axis][name])
    prompt = PROMPTS[row["prompt"]]
    if row["end"] == "context":
        prompt = FULL_PROMPT
    elif shape in TRAINED:
        prompt = f"{prompt} {TASK}"
    label = ", ".join(f"{axis} {name}" for axis, name in row.items())
    return Case(prompt, settings, ssr, label=label)
