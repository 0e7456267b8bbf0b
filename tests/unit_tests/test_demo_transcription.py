"""Drills in writing the same things in another form."""

from __future__ import annotations

import csv
import io
import json

import pytest

from langchain_ssr.demo.rendering import encode_pieces
from langchain_ssr.demo.transcription import transcription

DRILLS = [transcription(0, index) for index in range(300)]


def forms(drill):
    """Return the forms of a drill by name."""
    names, texts = drill[::2], drill[1::2]
    return {
        name.removeprefix("# ").rstrip("\n"): text.removesuffix("\n")
        for (name, _), (text, _) in zip(names, texts, strict=True)
    }


def test_only_what_can_be_known_is_learned():
    for drill in DRILLS:
        assert [learned for _, learned in drill[::2]] == [False] * (len(drill) // 2)
        assert [learned for _, learned in drill[1:4:2]] == [False, True]
        assert all(learned for _, learned in drill[3::2])


def test_the_same_again():
    assert transcription(0, 5) == DRILLS[5]
    assert transcription(1, 5) != DRILLS[5]


def test_every_form_occurs_given_and_learned():
    given, learned = set(), set()
    for drill in DRILLS:
        first, *others = (name for name in forms(drill) if "`" not in name)
        given.add(first)
        learned.update(others)
    assert given == learned
    assert len(given) > 20


@pytest.mark.parametrize("form", ["json", "json lines"])
def test_tables_say_the_same(form):
    compared = 0
    for told in map(forms, DRILLS):
        if form in told and "csv" in told:
            header, *rows = csv.reader(io.StringIO(told["csv"]))
            objects = json.loads(told[form])
            assert [list(each) for each in objects] == [header] * len(rows)
            for each, row in zip(objects, rows, strict=True):
                for value, cell in zip(each.values(), row, strict=True):
                    spelled = {True: "yes", False: "no"}.get(value, value)
                    assert str(spelled) == cell or float(cell) == value
            compared += 1
    assert compared > 3


def test_items_are_renamed_and_left_out():
    seen = 0
    for told in map(forms, DRILLS):
        items = told.get("plain")
        for name, text in told.items():
            if items and name.startswith("without"):
                gone = name.split("`")[1]
                kept = [f"- `{item}`" for item in items.split(", ") if item != gone]
                assert text.split("\n") == kept
                seen += 1
    assert seen > 2


def test_tokens_are_marked_piece_by_piece():
    class Letters:
        def encode(self, text, **_):
            return list(map(ord, text))

    ids, learned = encode_pieces(Letters(), [("ab", False), ("c", True)])
    assert (ids, learned) == ([97, 98, 99], [False, False, True])
