from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.draft_text import WINDOW, DraftReader
from langchain_ssr.engine.lifecycle import DraftEnd, Markers
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings


class Bytes:
    """A tokenizer whose token ids are bytes."""

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return bytes(token_ids).decode("utf-8", errors="replace")


def drafting() -> RequestState:
    settings = SpeculationSettings(stream_drafts=True)
    state = RequestState(settings, Markers((1,), (2,)), [1])
    state.begin_draft(8, 5)
    return state


@given(
    text=st.text(max_size=60),
    steps=st.lists(st.integers(1, 5), min_size=1),
    seen=st.lists(st.booleans(), min_size=1),
)
def test_text_is_whole_whatever_the_steps_and_lost_reports(text, steps, seen):
    state, reader = drafting(), DraftReader(Bytes())
    data, at, lost, shown = list(text.encode()), 0, 0, ""
    for number in range(len(data)):
        step = data[at : at + steps[number % len(steps)]]
        at += len(step)
        if not step:
            break
        state.extend_draft(step)
        window = state.draft_window()
        lost += len(step)
        if at < len(data) and lost < WINDOW - 5 and not seen[number % len(seen)]:
            continue
        lost = 0
        if window and (new := reader.read(window)):
            shown += new[1]
    assert shown == text


def test_a_new_draft_begins_anew():
    reader = DraftReader(Bytes())
    first = {"index": 0, "offset": 0, "token_ids": list(b"ab")}
    assert reader.read(first) == (0, "ab")
    assert reader.read(first) is None
    assert reader.read({**first, "index": 1}) == (1, "ab")


def test_nothing_is_shown_unless_wanted():
    state = RequestState(SpeculationSettings(), Markers((1,), (2,)), [1])
    state.begin_draft(8, 5)
    state.extend_draft([65])
    assert state.draft_window() is None


def test_nothing_new_is_not_shown_again():
    state = drafting()
    state.extend_draft([65])
    assert state.draft_window() == {"index": 0, "offset": 0, "token_ids": [65]}
    assert state.draft_window() is None


def test_the_last_step_of_a_draft_is_shown_once_it_has_ended():
    state, reader = drafting(), DraftReader(Bytes())
    state.extend_draft(list(b"one "))
    assert reader.read(state.draft_window()) == (0, "one ")
    state.extend_draft(list(b"two"))
    state.end_draft(DraftEnd.STOP)
    state.begin_draft(16, 9)
    assert reader.read(state.draft_window()) == (0, "two")
    assert state.draft_window() is None
    state.extend_draft(list(b"new"))
    assert reader.read(state.draft_window()) == (1, "new")
