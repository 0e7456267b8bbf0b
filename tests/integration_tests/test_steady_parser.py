"""An output is read in one way, whole or in bursts of any size (no engine)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("vllm")

from vllm.parser.parser_manager import ParserManager

from langchain_ssr.engine.hermes_calls import HermesCalls
from langchain_ssr.engine.steady_parser import steady
from tests.integration_tests.reading import (
    CODER,
    GEMMA,
    HERMES,
    R1,
    SIZES,
    Reading,
    Told,
)


def call(arguments: str = '{"a": 1}', name: str = "add") -> str:
    body = f'{{"name": "{name}", "arguments": {arguments}}}'
    return f"<tool_call>\n{body}\n</tool_call>"


def xml(value: str = "1") -> str:
    inner = f"<function=add>\n<parameter=a>\n{value}\n</parameter>\n</function>"
    return f"<tool_call>\n{inner}\n</tool_call>"


ONE = (("add", {"a": 1}),)
SECOND = call('{"a": 2}')
TWO = (*ONE, ("add", {"a": 2}))
PARAMETERS = '\n{"name": "add", "parameters": {"a": 1}}\n'
CASES: list[tuple[tuple[str, str | None], str, Told]] = [
    (HERMES, "hm</think>\n\nyes", Told("hm", "\n\nyes")),
    (HERMES, "hm", Told("hm")),
    (HERMES, "</think>yes", Told("", "yes")),
    (HERMES, "hm</think>", Told("hm")),
    # A second end of reasoning is no text, wherever it comes.
    (HERMES, "hm</think></think>yes", Told("hm", "yes")),
    (HERMES, "hm</think>y</think>es</think>", Told("hm", "yes")),
    (R1, "hm</think></think>yes", Told("hm", "yes")),
    (CODER, "hm</think>y</think>es", Told("hm", "yes")),
    # Calls.
    (HERMES, f"hm</think>\n\n{call()}\n{SECOND}\n", Told("hm", "", TWO)),
    (HERMES, f"hm</think>\n\nyes\n{call()}", Told("hm", "\n\nyes\n", ONE)),
    (HERMES, f"hm</think></think>{call()}</think>", Told("hm", "", ONE)),
    (CODER, f"hm</think>\n\n{xml()}\n{xml('2')}", Told("hm", "", TWO)),
    (
        HERMES,
        'hm</think><tool_call>{"arguments": {"a": 1}, "name": "add"}</tool_call>',
        Told("hm", "", ONE),
    ),
    (
        HERMES,
        'hm</think><tool_call>{"name": "add"}</tool_call>',
        Told("hm", "", (("add", {}),)),
    ),
    (
        HERMES,
        "hm</think>" + call('{"a": "🙂 }} \\\\"}'),
        Told("hm", "", (("add", {"a": "🙂 }} \\"}),)),
    ),
    # What is no call is an invalid one.
    (
        HERMES,
        f"hm</think><tool_call>{PARAMETERS}</tool_call>",
        Told("hm", "", (), (("add", f"<tool_call>{PARAMETERS}"),)),
    ),
    (
        HERMES,
        f"hm</think><tool_call>nonsense</tool_call>{call()}",
        Told("hm", "", ONE, (("", "<tool_call>nonsense"),)),
    ),
]


@pytest.mark.kind(3)
@pytest.mark.parametrize(("parsers", "output", "expected"), CASES)
def test_bursts_of_any_size_give_the_same(
    parsers: tuple[str, str | None], output: str, expected: Told
) -> None:
    assert Reading(parsers, output).every() == [expected] * (1 + len(SIZES))


CUTS = [
    # A call that was cut is an invalid one, however far it has come.
    ("<tool_call>", ("", "<tool_call>")),
    ('<tool_call>\n{"na', ("", '<tool_call>\n{"na')),
    ('<tool_call>\n{"name": "add"', ("add", '<tool_call>\n{"name": "add"')),
    (
        '<tool_call>\n{"name": "add", "arguments": {"a": tr',
        ("add", '{"a": tr]'),
    ),
]


@pytest.mark.parametrize(("output", "invalid"), CUTS)
def test_a_call_that_was_cut_is_invalid_and_no_content(
    output: str, invalid: tuple[str, str]
) -> None:
    expected = Told("hm", "", (), (invalid,))
    reading = Reading(HERMES, f"hm</think>{output}", cut=True)
    assert reading.every() == [expected] * (1 + len(SIZES))


@pytest.mark.parametrize("end", ["", "\n", "}", "}\n", "}\n</tool_", "}</tool_call>"])
def test_a_call_that_was_cut_after_its_arguments_is_whole(end: str) -> None:
    output = 'hm</think><tool_call>{"name": "add", "arguments": {"a": 1}' + end
    reading = Reading(HERMES, output, cut=True)
    assert reading.every() == [Told("hm", "", ONE)] * (1 + len(SIZES))


@pytest.mark.kind(8)
@pytest.mark.parametrize(
    ("parsers", "one", "content"), [(HERMES, call(), ""), (CODER, xml(), "and so on")]
)
def test_a_call_in_the_reasoning_ends_it_and_comes_once(
    parsers: tuple[str, str], one: str, content: str
) -> None:
    reading = Reading(parsers, f"hm {one}and so on")
    expected = Told("hm ", content, ONE)
    assert reading.every() == [expected] * (1 + len(SIZES))


@pytest.mark.kind(8)
@pytest.mark.parametrize(
    ("then", "calls"),
    [
        (call(), 1),
        (call('{ "a":1 }'), 1),
        (f"yes {call()} and {call()}", 1),
        (call() + SECOND, 2),
        (SECOND, 2),
    ],
)
def test_a_call_that_is_repeated_after_the_reasoning_is_made_once(
    then: str, calls: int
) -> None:
    told = Reading(HERMES, f"hm {call()}and so on</think>{then}").every()
    assert all(one == told[0] for one in told)
    assert len(told[0].calls) == calls
    assert told[0].calls[0] == ONE[0]


def test_calls_that_are_equal_without_any_reasoning_between_are_two() -> None:
    told = Reading(HERMES, f"hm</think>{call()}{call()}").every()
    assert all(len(one.calls) == 2 for one in told)


@pytest.mark.kind(6)
@pytest.mark.parametrize("parsers", [HERMES, CODER])
@pytest.mark.parametrize("tools", [True, False])
def test_without_thinking_there_is_neither_tag_nor_reasoning(
    parsers: tuple[str, str], tools: bool
) -> None:
    prompt = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    reading = Reading(parsers, "y</think>es", prompt=prompt, tools=tools)
    assert reading.every() == [Told("", "yes")] * (1 + len(SIZES))


@pytest.mark.kind(4)
@pytest.mark.parametrize("parsers", [HERMES, CODER, R1])
@pytest.mark.parametrize("begin", ["", "<think>"])
def test_reasoning_that_the_prompt_opens_is_counted(
    parsers: tuple[str, str | None], begin: str
) -> None:
    reading = Reading(parsers, f"{begin}hm</think>yes", prompt="<think>")
    parser = reading.parser()
    reading.whole()
    assert parser.count_reasoning_tokens(reading.ids) == len("hm")


def test_without_tools_a_call_is_text() -> None:
    reading = Reading(HERMES, f"hm</think>{call()}", tools=False)
    assert reading.every() == [Told("hm", call())] * (1 + len(SIZES))


@pytest.mark.kind(27)
@pytest.mark.parametrize("parsers", [HERMES, CODER, R1])
@pytest.mark.parametrize("text", ["🙂é漢字", "👩‍👩‍👧 नि", "e\u0301", "\u200d"])
def test_characters_of_many_tokens_are_whole(
    parsers: tuple[str, str | None], text: str
) -> None:
    reading = Reading(parsers, f"{text}</think>{text}", tools=False)
    assert len(reading.ids) > len(text)  # of bytes
    assert reading.every() == [Told(text, text)] * (1 + len(SIZES))


PIECES = st.sampled_from(
    [
        *("hm", " yes", "\n", "\n\n", "🙂", "{", "<tool_", "<|im_start|>"),
        *("</think>", "<think>", "<tool_call>", "</tool_call>"),
        *(call(), call('{"a": "x'), xml(), f"<tool_call>{PARAMETERS}</tool_call>"),
    ]
)


@pytest.mark.kind(3)
@pytest.mark.parametrize("parsers", [HERMES, CODER, R1])
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), st.booleans())
@settings(max_examples=60, deadline=None, database=None)
def test_bursts_of_any_size_give_the_same_of_any_output(
    parsers: tuple[str, str | None], output: str, tools: bool
) -> None:
    readings = Reading(parsers, output, tools=tools, cut=True).every()
    assert len(set(map(repr, readings))) == 1, readings


GEMMA_PIECES = st.sampled_from(
    [
        *("hm", "\n", "🙂", "<|channel>", "thought\n", "<channel|>", "<turn|>"),
        *("<|tool_call>", "<tool_call|>", '<|tool_call>call:add{a:<|"|>x<|"|>}'),
        *("<|tool_call>call:add{a:1}<tool_call|>", '<|"|>', "call:add{"),
    ]
)


@pytest.mark.kind(3)
@given(st.lists(GEMMA_PIECES, min_size=1, max_size=6).map("".join), st.booleans())
@settings(max_examples=60, deadline=None, database=None)
def test_bursts_of_any_size_give_the_same_of_any_output_of_gemma(
    output: str, tools: bool
) -> None:
    readings = Reading(GEMMA, output, tools=tools, cut=True).every()
    assert len(set(map(repr, readings))) == 1, readings


def test_other_parsers_are_left_alone() -> None:
    assert steady(None) is None
    harmony = ParserManager.get_parser(
        tool_parser_name="openai",
        reasoning_parser_name="openai_gptoss",
        is_harmony=True,
    )
    assert steady(harmony) is harmony


@pytest.mark.parametrize(
    ("parsers", "content"),
    [
        ((None, "phi4_mini_json"), "yes"),  # gives nothing in a stream
        ((None, "muse_glimmer"), "yes"),
        ((None, "xlam"), "yes"),
        (("hunyuan_a13b", None), "yes"),  # fails where a chunk is empty
        (("minimax_m2_append_think", None), "<think>yes"),
        (("minimax_m2_append_think", "hermes"), "<think>yes"),
    ],
)
def test_a_parser_that_streams_badly_reads_whole_answers_as_in_vllm(
    parsers: tuple[str | None, str | None], content: str
) -> None:
    assert Reading(parsers, "yes").whole() == Told("", content)


@pytest.mark.parametrize("parsers", [HERMES, CODER, R1])
def test_a_long_answer_is_not_copied_for_each_token(
    parsers: tuple[str, str | None],
) -> None:
    reading = Reading(parsers, "hm" * 50 + "</think>" + "yes" * 50)
    parser = reading.parser()
    for text, ids in reading.texts(1):
        parser.parse_delta(text, ids, reading.request, reading.prompt, finished=False)
        assert parser._stream_state.previous_text == ""
        assert parser._stream_state.previous_token_ids == []


def test_hermes_calls_are_read_by_our_parser() -> None:
    assert Reading(HERMES, "x").kind.tool_parser_cls is HermesCalls
    assert Reading(CODER, "x").kind.tool_parser_cls is not HermesCalls
