"""docs/troubleshooting.md names every error, and every message of the package."""

from __future__ import annotations

import inspect
import re
from typing import get_args

import pytest
from langchain_core.exceptions import ModelError

from langchain_ssr import errors
from langchain_ssr.stats import Reason
from tests.unit_tests.messages import ROOT, messages

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ERRORS = [
    error
    for _, error in inspect.getmembers(errors, inspect.isclass)
    if error.__module__ == errors.__name__
]


def plain(text: str) -> str:
    """Leave out what only marks code, punctuation at the ends, and line breaks."""
    return " ".join(text.replace("`", "").split()).strip(" .,:;(")


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.where)
def test_every_message_has_its_remedy(message):
    assert plain(message.text) in plain(PAGE)


def test_messages_are_found():
    found = {message.text for message in messages()}
    assert len(found) > 80
    assert "a stop string must not be empty" in found  # `msg = ...; raise ...(msg)`
    assert "The model 'smollm2' is not prepared yet (looked in" in found


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_in_the_table_with_its_bases(error):
    row = re.search(rf"^\| `{error.__name__}` \| (.*?) \|", PAGE, re.MULTILINE)
    assert row, error.__name__
    names = set(re.findall(r"`(\w+)`", row[1]))
    assert names == {base.__name__ for base in error.__bases__}
    assert issubclass(error, ModelError)


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_of_the_statistics_is_explained(reason):
    assert re.search(rf"^\| `{reason}` \| \S", PAGE, re.MULTILINE)
