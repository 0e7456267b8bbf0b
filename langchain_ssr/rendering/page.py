"""Statistics as HTML: a fragment for notebooks, and a page of its own.

All text of models and users is escaped; there is no script. What a mouse shows over a
span also appears when the tab key reaches it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from langchain_ssr.rendering.looks import LOOKS, look_of
from langchain_ssr.rendering.pieces import DECODED, Piece, pieces_of
from langchain_ssr.rendering.style import page_style, style_sheet
from langchain_ssr.rendering.tables import Table, tables_of
from langchain_ssr.rendering.timeline import timeline_html
from langchain_ssr.stats import SpeculationStats

_HINT = (
    "Ask with <code>speculation_stats=&quot;detailed&quot;</code> to see where each "
    "part of the answer came from, and when."
)
_PLAIN = (
    "The engine ran without self-speculation; it does not say what came from where."
)


def fragment(stats: SpeculationStats) -> str:
    """Return what a notebook shows: style and one answer."""
    return f"<style>\n{style_sheet()}</style>\n{answer_html(stats)}"


def page(title: str, parts: Iterable[SpeculationStats | tuple[str, str]]) -> str:
    """Return a whole page that needs nothing beside it.

    Args:
        title: The page's title.
        parts: Statistics of answers, and in between headings, each with a text that
            belongs to it.
    """
    body = "".join(
        answer_html(part) if isinstance(part, SpeculationStats) else _heading(*part)
        for part in parts
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{page_style()}{style_sheet()}</style>\n"
        f"</head>\n<body>\n{body}</body>\n</html>\n"
    )


def answer_html(stats: SpeculationStats) -> str:
    """Return one answer: what it took, its timeline, the output and the tables."""
    pieces = pieces_of(stats)
    details = f'<p class="faint">{_PLAIN if stats.mode == "off" else _HINT}</p>\n'
    if pieces:
        thinking = [piece for piece in pieces if piece.phase == "thinking"]
        answer = [piece for piece in pieces if piece.phase == "answer"]
        details = timeline_html(stats) + _legend(pieces)
        if thinking:
            details += (
                f"<details><summary>Thinking, {_size(thinking)}</summary>\n"
                f"{_text('thinking', thinking)}</details>\n"
            )
        if answer:
            details += f"<h3>Answer, {_size(answer)}</h3>\n{_text('answer', answer)}"
    tables = "".join(_table(table) for table in tables_of(stats))
    return f'<div class="ssr">\n<p>{escape(str(stats))}</p>\n{details}{tables}</div>\n'


def escape(text: str) -> str:
    """Return text for HTML, to be read back as it is.

    HTML has no null character, half of a surrogate pair cannot be written, and a
    carriage return would become a line feed.
    """
    whole = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return html.escape(whole).replace("\r", "&#13;")


def _heading(title: str, text: str) -> str:
    return (
        f'<div class="ssr">\n<h2>{escape(title)}</h2>\n'
        f'<div class="text" dir="auto">{escape(text)}</div>\n</div>\n'
    )


def _size(pieces: Sequence[Piece]) -> str:
    tokens = sum(piece.num_tokens for piece in pieces)
    steps = sum(piece.num_steps for piece in pieces)
    return f"{_count(tokens, 'token')} in {_count(steps, 'step')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _text(name: str, pieces: Iterable[Piece]) -> str:
    spans = "".join(_span(piece) for piece in pieces)
    return f'<div class="text output-{name}" dir="auto">{spans}</div>\n'


def _span(piece: Piece) -> str:
    name, look = look_of(piece.source)
    tokens = _count(piece.num_tokens, "token")
    tip = f"{look.label}: {tokens}, {_count(piece.num_steps, 'step')}"
    return (
        f'<span class="{name}" title="{tip}" tabindex="0">{escape(piece.text)}</span>'
    )


def _legend(pieces: Iterable[Piece]) -> str:
    tokens = dict.fromkeys(LOOKS, 0)
    for piece in pieces:
        tokens[look_of(piece.source)[0]] += piece.num_tokens
    entries = "".join(
        f'<li><span class="{name}">{look.label}</span> {tokens[name]}: '
        f"{look.about}</li>\n"
        for name, look in LOOKS.items()
        if tokens[name]
    )
    note = (
        "Numbers are tokens. A span from a source took one step, which also gave the "
        f"{LOOKS[DECODED].label} token after it. The marker that ends the thinking "
        "counts as thinking here."
    )
    return f'<ul class="legend">\n{entries}</ul>\n<p class="faint">{note}</p>\n'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
        for row in table.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}</table>\n"
