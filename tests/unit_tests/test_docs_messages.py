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
FOUND = {message.text for message in messages()}


def plain(text: str) -> str:
    """Leave out what only marks code, punctuation at the ends, and line breaks."""
    return " ".join(text.replace("`", "").split()).strip(" .,:;(")


def documented(page: str) -> list[str]:
    """Return the messages that have a remedy: first cells of the tables' rows."""
    tables = re.findall(r"^\| message \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    rows = re.findall(r"^\| (\S.*?) \| \S.* \|$", "".join(tables), re.MULTILINE)
    return [plain(first) for first in rows]


DOCUMENTED = documented(PAGE)


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.where)
def test_every_message_has_its_remedy(message):
    pieces = [re.escape(plain(piece)) for piece in message.text.split("…")]
    text = re.compile(".*".join(pieces))
    assert any(text.search(first) for first in DOCUMENTED), message.text


def test_only_a_row_with_a_remedy_counts():
    head = "Prose: b is bad.\n\n| message | what to do |\n|-|-|\n"
    assert documented(f"{head}| `a: …` | Mend it. |\n| `b` |  |\n") == ["a: …"]


@pytest.mark.parametrize(
    "text",
    [
        "a stop string must not be empty",  # `msg = ...; raise ...(msg)`
        "The model 'smollm2' is not prepared yet (looked in",
        "… is not …: …",  # `super().__init__(...)` of an error, all of a short one
        "--workers …, but … shows only … GPUs",
        "The answer was cut by",  # an exception by another name
        "it had not begun",  # one value of a condition, kept under a name
        "the engine gave no reason",  # `... or "..."`
        "Here: engine_kwargs={'chat_template': '/path/of/template.jinja'}.",  # `+=`
        "failed to be inspected",  # of a table
        "SSR is off for a request",  # of the log, not its first argument
        "the steps of a request are not counted",
        "the arguments are not a JSON object",  # `error=...`
        "vLLM cannot be imported:",  # of a helper
        "/html needs a file name",
        "nothing to compare with",  # yielded
        "no step was saved",  # appended
    ],
)
def test_messages_are_found(text):
    assert text in FOUND


def test_most_messages_are_found():
    assert len(FOUND) > 180


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
