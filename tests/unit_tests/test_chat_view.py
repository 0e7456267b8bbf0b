"""What the terminal chat shows while an answer is written."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from langchain_ssr import DraftText
from langchain_ssr.chat.view import View


@pytest.fixture
def out() -> Console:
    return Console(file=io.StringIO(), width=80)


@pytest.fixture
def terminal() -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=80, color_system="standard"
    )


def printed(out: Console) -> str:
    return out.file.getvalue()


def show(out: Console, *steps: tuple[str, object]) -> str:
    with View(out) as view:
        for name, news in steps:
            getattr(view, name)(news)
            view._live.refresh()
    return printed(out)


def test_a_draft_is_shown_while_thinking_and_gone_with_the_answer(terminal):
    shown = show(
        terminal,
        ("think", "Hm"),
        ("draft", DraftText(0, "one")),
        ("draft", DraftText(0, "!")),
        ("draft", DraftText(1, "two")),
        ("think", ", so"),
        ("answer", "three"),
    )
    assert "draft 1" in shown
    assert "one!" in shown
    before, after = shown.split("three", 1)
    assert "two" in before
    assert "one" not in before.split("draft 2")[1]
    assert "two" not in after
    assert "draft" not in after


def test_a_line_is_not_there_twice_when_it_is_whole(terminal):
    screen = show(terminal, ("think", "begun"), ("think", " and done\n"))
    redrawn = screen.split("\x1b[2K")
    assert all(part.count("begun") <= 1 for part in redrawn)
    assert redrawn[-1].count("begun") <= 1


def test_thinking_is_dimmed_and_the_answer_is_not(terminal):
    shown = show(terminal, ("think", "Hm\n"), ("answer", "Yes\n"))
    assert "\x1b[2mHm" in shown
    assert re.search(r"(?<!m)Yes", shown)


def test_a_long_draft_shows_its_end(terminal):
    lines = [f"line {number}" for number in range(40)]
    shown = show(terminal, ("draft", DraftText(0, "\n".join(lines))))
    assert "line 39" in shown
    assert "line 31" not in shown


def test_a_file_gets_whole_lines_and_no_drafts(out):
    shown = show(out, ("think", "a"), ("draft", DraftText(0, "x")), ("think", "b\nc"))
    assert shown == "ab\nc\n"


texts = st.text(
    st.characters(categories=["L", "N", "P", "S"], include_characters="\n "),
    max_size=20,
)


@given(st.lists(texts), st.lists(texts))
def test_every_character_is_printed_once(thinking, said):
    out = Console(file=io.StringIO(), width=10_000)
    show(out, *(("think", t) for t in thinking), *(("answer", t) for t in said))
    parts = [part for part in ("".join(thinking), "".join(said)) if part]
    whole = "".join(part if part.endswith("\n") else part + "\n" for part in parts)
    assert printed(out) == whole


@pytest.mark.parametrize("text", ["\x1b[2Jx", "\x07x", "\x9b2Jx", "[bold]x"])
def test_a_models_text_does_not_steer_the_terminal(out, text):
    shown = show(out, ("think", text), ("answer", text))
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}
    assert shown.count("x") == 2
    assert ("[bold]" in text) == ("[bold]" in shown)
