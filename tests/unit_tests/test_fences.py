"""Fenced blocks are found as Markdown has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit_tests.loading import load_script

fences = load_script("fences")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["```", "````", "~~~"]),
            st.sampled_from(["", "python", "bash"]),
            st.lists(st.text("ab #`", max_size=6).filter(lambda t: t.strip("` ~"))),
            st.integers(0, 4),
        ),
        max_size=4,
    )
)
def test_blocks_are_found_with_their_code(blocks):
    lines, expected = ["text"], []
    for marks, language, code, indent in blocks:
        start, blanks = len(lines), " " * indent
        lines += [f"{blanks}{marks}{language}"]
        lines += [blanks + line for line in code]
        lines += [f"{blanks}{marks}", "text"]
        text = "".join(f"{line}\n" for line in code)
        expected.append(
            fences.Fence(start, start + len(code) + 1, indent, language, text)
        )
    assert list(fences.fences(lines)) == expected


def test_a_longer_fence_holds_shorter_ones():
    lines = ["````md title", "```python", "a", "```", "````"]
    [found] = fences.fences(lines)
    assert (found.language, found.code) == ("md", "```python\na\n```\n")


def test_other_lines_open_nothing():
    assert fences.fence_at(["```python` is code"], 0) is None
    assert fences.fence_at(["text ```"], 0) is None


def test_a_block_without_an_end_is_an_error():
    with pytest.raises(fences.PageError, match="2: this block does not end"):
        list(fences.fences(["text", "```python", "a"]))
