"""What fuzz tests draw from: JSON of any form, settings that are half right, names."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from langchain_ssr.settings import CallSettings, SpeculationSettings
from langchain_ssr.sources import SOURCES

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**30])
    | st.floats()
    | st.text(max_size=6)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
"""Anything that JSON can say, and NaN."""

GOOD: dict[str, st.SearchStrategy[Any]] = {
    "speculation": st.booleans(),
    "draft_budget": st.integers(1, 60)
    | st.just("auto")
    | st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True).map(sorted),
    "iterative": st.booleans(),
    "draft_interval": st.integers(1, 30),
    "max_drafts": st.integers(0, 6),
    "max_draft_tokens": st.integers(1, 80),
    "draft_temperature": st.floats(0, 2),
    "speculate_reasoning": st.booleans(),
    "sources": st.lists(st.sampled_from(SOURCES), max_size=7),
    "prediction": st.text(max_size=30),
    "num_speculative_tokens": st.integers(1, 128),
    "speculation_stats": st.sampled_from(["none", "summary", "detailed"]),
    "stream_drafts": st.booleans(),
}
"""Values that the speculation settings take."""
CALL: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.floats(0, 2),
    "top_p": st.floats(0.1, 1),
    "top_k": st.integers(-1, 100),
    "presence_penalty": st.floats(-2, 2),
    "max_tokens": st.integers(1, 100),
    "stop": st.lists(st.text(min_size=1, max_size=4), max_size=2),
    "seed": st.integers(0, 9),
    "n": st.integers(1, 3),
    "top_logprobs": st.integers(0, 20),
    "enable_thinking": st.none() | st.booleans(),
    "thinking_budget": st.integers(0, 60),
    "reasoning_effort": st.sampled_from(["none", "low", "high"]),
    "chat_template_kwargs": st.dictionaries(st.text(max_size=4), SCALARS, max_size=2),
    "extra_body": st.just({}),
}
"""Values that the other settings of a call take."""


def half_right(good: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Good settings, of which one or two may have any value."""
    right = st.fixed_dictionaries({}, optional=good)
    wrong = st.dictionaries(st.sampled_from(sorted(good)), JSON, max_size=2)
    return st.builds(lambda a, b: {**a, **b}, right, wrong)


CALL_NAMES = sorted(CallSettings.canonical_names())
OTHER_NAMES = ("tools", "tool_choice", "parallel_tool_calls", "response_format")
RAW_SSR = (
    st.fixed_dictionaries({}, optional=GOOD)
    | half_right(GOOD)
    | half_right(
        {
            **{name: GOOD[name] for name in SpeculationSettings.model_fields},
            "asked": st.booleans(),
            "reason": st.sampled_from(["n", "disabled"]),
            "report_each_step": st.booleans(),
            "prediction_token_ids": st.lists(st.integers(0, 300), max_size=40),
        }
    )
    | JSON
)
"""What a client may send as `ssr`: right, nearly right, or anything."""
