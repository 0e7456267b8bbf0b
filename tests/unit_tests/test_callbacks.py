from __future__ import annotations

from langchain_ssr import DraftText, watch_drafts
from langchain_ssr.callbacks import report_draft
from langchain_ssr.wire.responses import StreamReader

PIECE = DraftText(index=0, text="ab")


def test_a_hook_sees_drafts_inside_its_context_only():
    seen: list[DraftText] = []
    report_draft(PIECE)
    with watch_drafts(seen.append):
        report_draft(PIECE)
    report_draft(PIECE)
    assert seen == [PIECE]


def test_the_inner_of_two_hooks_is_called():
    outer: list[DraftText] = []
    inner: list[DraftText] = []
    with watch_drafts(outer.append):
        with watch_drafts(inner.append):
            report_draft(PIECE)
        report_draft(PIECE)
    assert (len(outer), len(inner)) == (1, 1)


def test_a_hook_that_raises_harms_nothing_and_is_not_called_again():
    calls = []

    def broken(draft: DraftText) -> None:
        calls.append(draft)
        raise RuntimeError

    with watch_drafts(broken):
        report_draft(PIECE)
        report_draft(PIECE)
    assert calls == [PIECE]


def test_a_draft_is_read_from_a_chunk_and_is_no_part_of_the_answer():
    delta = {"ssr_draft": {"index": 0, "text": "ab"}}
    chunk = {"choices": [{"index": 0, "delta": delta}]}
    reader = StreamReader()
    assert reader.draft(chunk) == PIECE
    assert reader.read(chunk) is None
    assert reader.draft({"choices": [{"delta": {"content": "x"}}]}) is None
    assert reader.draft({"choices": []}) is None
