"""The timeline and the tables of an answer."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.rendering.page import answer_html
from langchain_ssr.sources import SOURCES
from langchain_ssr.stats import SpeculationStats
from tests.unit_tests.test_rendering import STATS, Reader


def bars(stats: SpeculationStats) -> list[dict]:
    tags = Reader(answer_html(stats)).tags
    return [a for _, a in tags if "bar" in (a.get("class") or "").split()]


def test_timeline_shows_request_drafts_and_verification():
    told = {bar["class"].removeprefix("bar "): bar for bar in bars(STATS)}
    assert list(told) == ["think", "say", "draft broken", "tick draft_prefix"]
    assert told["think"]["style"] == "left:0.00%;width:50.00%"
    assert told["say"]["style"] == "left:50.00%;width:50.00%"
    assert told["draft broken"]["style"] == "left:10.00%;width:40.00%"
    assert told["tick draft_prefix"]["style"] == "left:70.00%;width:0.40%"
    assert told["think"]["title"] == "thinking: 3 tokens in 4 steps, 50 ms"
    assert told["draft broken"]["title"] == (
        "draft 1: forked at 2 reasoning tokens, 9 tokens in 9 steps, 3 accepted, ended "
        "by cut after 40 ms"
    )
    for bar in bars(STATS):
        assert bar["aria-label"] == bar["title"]
        assert bar["tabindex"] == "0"


times = st.floats(0, 1e6)


@given(
    st.lists(
        st.one_of(
            st.fixed_dictionaries(
                {"event": st.just("draft_started"), "t_ms": times, "index": st.just(0)}
            ),
            st.fixed_dictionaries(
                {
                    "event": st.just("verified"),
                    "t_ms": times,
                    "source": st.sampled_from(SOURCES),
                    "num_tokens": st.integers(1, 32),
                }
            ),
        )
    ),
    times,
)
def test_bars_stay_inside_of_the_timeline(events, answer_time):
    stats = STATS.model_copy(
        update={
            "timeline": sorted(events, key=lambda event: event["t_ms"]),
            "timing": STATS.timing.model_copy(update={"answer_time_ms": answer_time}),
        }
    )
    for bar in bars(stats):
        left, width = map(float, re.findall(r":([\d.]+)%", bar["style"]))
        assert left >= 0
        assert left + width <= 100.02


def test_table_of_text():
    assert STATS.to_table() == (
        "phase     tokens  steps  tokens/step\n"
        "thinking       3      4         0.75\n"
        "answer         6      3         2.00\n"
        "both           9      7         1.29\n"
        "\n"
        "source        proposed  accepted  share\n"
        "draft prefix         4         3    75%\n"
        "\n"
        "draft  forked at  tokens  accepted  ms  end\n"
        "1              2       9         3  40  cut"
    )


def test_table_of_nothing():
    assert SpeculationStats().to_table().splitlines()[1:] == [
        "thinking       0      0            -",
        "answer         0      0            -",
        "both           0      0            -",
    ]
