"""The requests of the equality tests: axes of settings, and the pairs of them.

`COMMON` axes are what both engines get, `SPECULATION` axes what only SSR gets. Each
value is a name, so that a row can be read in a report.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from tests.exactness.asking import Case, merge
from tests.exactness.pairs import Row, all_pairs
from tests.integration_tests import tiny_models as tiny

PROMPTS = {
    "short": "hello there",
    "some": "What is 2+2? Count to ten: 1 2 3 4",
    "long": "Tell me more about it, and then some. " * 5,  # some cache blocks
}
FULL_PROMPT = "Tell me more about it, and then some. " * 22
"""Leaves a tiny model about 90 tokens of `MAX_MODEL_LEN`."""
MAX_MODEL_LEN = 1024
TASK = "Write a Python class for a stack with push, pop and peek."
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "point",
        "schema": {
            "type": "object",
            "properties": {"x": {"enum": [1, 22, 333]}, "ok": {"type": "boolean"}},
            "required": ["x", "ok"],
            "additionalProperties": False,
        },
    },
}
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"enum": [1, 22]}},
            "required": ["a"],
        },
    },
}
_SHIFT = 31
"""How far apart the rows are that lend each other their speculation settings."""
REGEX = r"(yes|no), because [a-z]{3,12}\."
TRAINED = ("smollm2", "demo")
"""Shapes that are trained models, and not made by `tiny_models`."""


def few_tokens(first: int, *special: int, letters: int = 9) -> dict[str, Any]:
    """Leave the model few tokens, and tire it of each: every marker gets its turn.

    Args:
        first: Token id of the first letter.
        special: Token ids of markers.
        letters: How many letters.
    """
    allowed = [*special, *range(first, first + letters)]
    return {"frequency_penalty": 2.0, "extra_body": {"allowed_token_ids": allowed}}


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
    end, eos, tool, text = tiny.THINK_END, tiny.IM_END, tiny.TOOL_CALL, tiny.TEXT
    if shape == "gemma4":
        end, eos, text = tiny.CHANNEL_END, tiny.GEMMA_END, tiny.GEMMA_TEXT
        tool = tiny.GEMMA_TOOL_CALL
    both = few_tokens(text, end, eos, letters=3)
    both["extra_body"]["min_tokens"] = 70  # the reasoning has to end before the answer
    call = few_tokens(text, tool, letters=2)
    return {
        **ends,
        "itself": {"max_tokens": 120, **few_tokens(text, end, letters=4)},
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
    text = tiny.GEMMA_TEXT if shape == "gemma4" else tiny.TEXT
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
            "greedy": {},
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
LUCK = [{"sampling": {"two"}, "stop": {"letters", "kept"}}]
"""For which of two equal answers vLLM names the stop string differs from run to run."""


@functools.cache
def cases_for(shape: str) -> tuple[Case, ...]:
    """Return requests in fixed order; any two settings meet in every other of them.

    The one after it is the same to a plain engine, with the speculation settings of
    another one.
    """
    common = _common(shape)
    parts = {**common, **SPECULATION}
    axes = {axis: list(values) for axis, values in parts.items()}
    rows = all_pairs(axes, LUCK if shape in TRAINED else [*FORBIDDEN, *LUCK])
    again = [
        {axis: (row if axis in common else other)[axis] for axis in axes}
        for row, other in zip(rows, [*rows[_SHIFT:], *rows[:_SHIFT]], strict=True)
    ]
    both = zip(rows, again, strict=True)
    cases = [_case(shape, row, parts) for pair in both for row in pair]
    return (*cases, *_rare(shape))


def _rare(shape: str) -> list[Case]:
    """Return requests with ends that pairs of settings reach by luck only."""
    if shape in TRAINED:
        return []
    text = tiny.GEMMA_TEXT if shape == "gemma4" else tiny.TEXT
    stops = few_tokens(text, letters=2)  # tired of one, it takes the other
    stops["extra_body"]["stop_token_ids"] = [text + 1]
    regex = {"extra_body": {"structured_outputs": {"regex": REGEX}}}
    rare = {
        "none, end": {"max_tokens": 84, "enable_thinking": False, **regex},
        "thinking, stop token": {"max_tokens": 90, **stops},
    }
    return [
        Case(PROMPTS["some"], settings, SPECULATION["drafts"][drafts], label=name)
        for name, settings in rare.items()
        for drafts in ("iterative", "one")
    ]


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
