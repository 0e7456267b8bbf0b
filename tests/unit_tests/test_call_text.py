"""One tool call in Hermes' format, however its text was cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.call_text import CallText


def read(text: str, size: int) -> tuple[str, str]:
    call = CallText()
    pieces = [call.read(text[at : at + size]) for at in range(0, len(text), size)]
    pieces.append(call.close())
    names = [name for name, _ in pieces if name is not None]
    assert len(names) == 1
    return names[0], "".join(arguments for _, arguments in pieces)


sizes = pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])


@sizes
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', '{"a": 1}'),
        ('\n{"name":"f","arguments":{}}\n', "{}"),
        ('{"name": "f", "arguments": {"a": {"b": [1, {}]}}}', '{"a": {"b": [1, {}]}}'),
        (r'{"name": "f", "arguments": {"a": "}\"]\\"}}', r'{"a": "}\"]\\"}'),
        ('{"arguments": {"a": 1}, "name": "f"}', '{"a": 1}'),
        ('{"name": "f", "arguments": {"a": 1}, "id": 3}', '{"a": 1}'),
        ('{"name": "f"}', "{}"),
        ('{"name": "f", "arguments": {"a": 1}', '{"a": 1}'),  # a bracket is missing
        ('{"name": "f", "arguments": {"a": "\n"}}', '{"a": "\n"}'),
    ],
)
def test_call(text, arguments, size):
    assert read(text, size) == ("f", arguments)


@sizes
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", ""),
        ("nonsense", ""),
        ("[1]", ""),
        ('{"name": 3}', ""),
        ('{"name": "", "arguments": {}}', ""),
        ('{"name": "f", "parameters": {"a": 1}}', "f"),  # not a call of f without any
        ('{"name": "f", "arguments": "{}"}', "f"),
        ('{"name": "f", "arguments": [1]}', "f"),
        ('{"name": "f", "argum', "f"),
        ('{"na', ""),
    ],
)
def test_text_that_is_no_call_is_kept_as_arguments_that_are_no_json(text, name, size):
    assert read(text, size) == (name, "<tool_call>" + text)


@sizes
def test_text_after_the_arguments_makes_them_no_json(size):
    _, arguments = read('{"name": "f", "arguments": {"a": 1}}} and', size)
    assert arguments == '{"a": 1}}} and'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.text(max_size=2), VALUES, max_size=3), st.integers(1, 9))
def test_any_arguments_come_whole(arguments, size):
    text = json.dumps({"name": "f", "arguments": arguments})
    assert json.loads(read(text, size)[1]) == arguments
