"""The text of each span."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.span_text import span_texts
from tests.unit_tests.engine.test_draft_text import Bytes


def spans_of(counts: list[int]) -> list[list]:
    return [["decoded", count] for count in counts]


def cut(counts: list[int], total: int) -> list[int]:
    """Let counts have this sum."""
    counts = [*counts, total]
    for place, count in enumerate(counts):
        counts[place] = min(count, total)
        total -= counts[place]
    return [count for count in counts if count]


@given(st.text(max_size=60), st.lists(st.integers(1, 7)))
def test_texts_together_are_the_output(text, counts):
    tokens = list(text.encode())
    spans = spans_of(cut(counts, len(tokens)))
    texts = span_texts(spans, tokens, text, Bytes())
    assert len(texts) == len(spans)
    assert "".join(texts) == text


@given(st.text("aé🙂", min_size=1, max_size=30), st.lists(st.integers(1, 7)))
def test_a_character_is_in_the_span_that_completes_it(text, counts):
    tokens = list(text.encode())
    counts = cut(counts, len(tokens))
    end = 0
    shown = ""
    texts = span_texts(spans_of(counts), tokens, text, Bytes())
    for count, one in zip(counts, texts, strict=True):
        end += count
        shown += one
        assert shown == bytes(tokens[:end]).decode(errors="ignore")


@given(st.binary(max_size=40), st.lists(st.integers(1, 7)))
def test_bytes_that_are_no_text_lose_nothing(data, counts):
    text = data.decode(errors="replace")
    spans = spans_of(cut(counts, len(data)))
    assert "".join(span_texts(spans, list(data), text, Bytes())) == text


def test_a_stop_string_is_not_shown():
    tokens = list(b"one STOP")
    spans = spans_of([2, 4, 5])  # the report counts tokens that the stop cut off
    assert span_texts(spans, tokens, "one ", Bytes()) == ["on", "e ", ""]


def test_an_engine_text_with_special_tokens_cuts_nothing():
    tokens = list(b"call")
    assert span_texts(spans_of([4]), tokens, "<tool>call", Bytes()) == ["call"]
