"""vLLM's own code on our requests, without an engine: grammars, parsers, prompts."""

from __future__ import annotations

import json
from functools import reduce
from operator import add as plus

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from pydantic import BaseModel

from langchain_ssr import ChatSSR
from langchain_ssr.models import resolve
from langchain_ssr.tokens import template_arguments
from langchain_ssr.wire.responses import StreamReader

pytest.importorskip("vllm")
MODEL = "smollm2"


class Person(BaseModel):
    """A person."""

    name: str
    age: int = 0


class Node(BaseModel):
    value: int
    children: list[Node] = []


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


class Asked(Exception):  # noqa: N818
    """Carries the request instead of an answer."""


class Listening:
    def complete(self, request: dict) -> dict:
        raise Asked(request)


@pytest.fixture
def llm(monkeypatch):
    monkeypatch.setattr(ChatSSR, "_backend", property(lambda _: Listening()))
    return ChatSSR(model=MODEL, enable_thinking=True)


def request_of(runnable) -> dict:
    with pytest.raises(Asked) as caught:
        runnable.invoke("hi")
    return caught.value.args[0]


@pytest.fixture(scope="module")
def tokenizer():
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(resolve(MODEL).path)


@pytest.fixture(scope="module")
def compiler(tokenizer):
    import xgrammar

    return xgrammar.GrammarCompiler(xgrammar.TokenizerInfo.from_huggingface(tokenizer))


def parser_for(request: dict, tokenizer):
    """Return vLLM's view of a request, and the parser of its output."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser.parser_manager import ParserManager

    from langchain_ssr.engine.steady_parser import steady

    kinds = ParserManager.get_parser(
        tool_parser_name="hermes",
        reasoning_parser_name="qwen3",
        enable_auto_tools=True,
        model_name=MODEL,
    )
    parsed = ChatCompletionRequest(**request)
    parser = steady(kinds)(tokenizer, parsed.tools)
    return parser.adjust_request(parsed), parser


@pytest.fixture
def allows(tokenizer, compiler):
    """Return a function: whether a request's grammar allows a whole answer."""

    def allowed(request: dict, answer: str) -> bool:
        import xgrammar

        constraint = parser_for(request, tokenizer)[0].extract_structured_outputs()
        if constraint is None:
            return True
        if constraint.structural_tag:
            grammar = compiler.compile_structural_tag(constraint.structural_tag)
        elif constraint.json is not None:
            grammar = compiler.compile_json_schema(json.dumps(constraint.json))
        else:
            grammar = compiler.compile_builtin_json_grammar()
        matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
        return matcher.accept_string(answer) and matcher.is_completed()

    return allowed


# --- grammars ------------------------------------------------------------------------


def call(name: str, arguments: str) -> str:
    body = f'{{"name": "{name}", "arguments": {arguments}}}'
    return f"<tool_call>\n{body}\n</tool_call>"


GOOD, OPTIONAL = call("add", '{"a": 1}'), call("add", '{"a": 1, "b": 2}')
WRONG_NAME, WRONG_TYPE = call("add", '{"c": 1}'), call("add", '{"a": "x"}')


@pytest.mark.parametrize("choice", ["any", "add"])
@pytest.mark.kind(9)
def test_forced_call_keeps_to_the_schema(llm, allows, choice):
    request = request_of(llm.bind_tools([add], tool_choice=choice))
    assert allows(request, GOOD)
    assert allows(request, OPTIONAL)
    for answer in (WRONG_NAME, WRONG_TYPE, "It is 3.", call("sub", '{"a": 1}')):
        assert not allows(request, answer)


def test_named_call_comes_once(llm, allows):
    two = call("add", '{"a": 1}') * 2
    assert allows(request_of(llm.bind_tools([add], tool_choice="any")), two)
    assert not allows(request_of(llm.bind_tools([add], tool_choice="add")), two)
    single = llm.bind_tools([add], tool_choice="any", parallel_tool_calls=False)
    assert not allows(request_of(single), two)


def test_free_choice_allows_text_and_calls(llm, allows):
    request = request_of(llm.bind_tools([add]))
    assert allows(request, GOOD)
    assert allows(request, "It is 3.")


def test_agent_with_a_response_format_may_call_or_answer(llm, allows):
    schema = {"name": "Person", "schema": Person.model_json_schema()}
    form = {"type": "json_schema", "json_schema": schema}
    request = request_of(llm.bind_tools([add], response_format=form))
    for answer in (GOOD, '{"name": "Ann", "age": 3}', '{"name": "Ann"}'):
        assert allows(request, answer)
    for answer in (WRONG_NAME, "It is 3.", '{"age": 3}'):
        assert not allows(request, answer)


@pytest.mark.parametrize("strict", [None, True, False])
@pytest.mark.kind(14)
def test_json_schema_holds(llm, allows, strict):
    request = request_of(llm.with_structured_output(Person, strict=strict))
    assert allows(request, '{"name": "Ann", "age": 3}')
    assert allows(request, '{"name": "Ann"}') is (strict is not True)
    for answer in ('{"age": 3}', '{"name": 5}', "Ann", '{"name": "A", "x": 1}'):
        assert not allows(request, answer)


def test_recursive_schema_holds(llm, allows):
    request = request_of(llm.with_structured_output(Node))
    assert allows(request, '{"value": 1, "children": [{"value": 2}]}')
    assert not allows(request, '{"value": 1, "children": [{"x": 2}]}')


def test_function_calling_holds(llm, allows):
    runnable = llm.with_structured_output(Person, method="function_calling")
    request = request_of(runnable)
    assert allows(request, call("Person", '{"name": "Ann"}'))
    for answer in (call("Person", '{"age": 3}'), '{"name": "Ann"}'):
        assert not allows(request, answer)


def test_json_mode_holds(llm, allows):
    request = request_of(llm.with_structured_output(method="json_mode"))
    assert allows(request, '{"anything": [1, 2]}')
    assert not allows(request, "Ann")


# --- parsers -------------------------------------------------------------------------

ONE, BOTH = [("add", {"a": 1})], [("add", {"a": 1}), ("add", {"a": 1, "b": 2})]
OUTPUTS = [
    (f"hm</think>\n\nyes\n{GOOD}\n{OPTIONAL}", ("hm", "\n\nyes\n", BOTH)),
    (f"hm</think>\n\n{GOOD}\n{OPTIONAL}\n", ("hm", "", BOTH)),
    (f"hm {GOOD} and so on</think>\n\nyes", ("hm ", "", ONE)),  # a call ends it
    ("hm</think>\n\nyes", ("hm", "\n\nyes", [])),
    ("hm</think>\n\n", ("hm", "\n\n", [])),
    ("</think>yes", ("", "yes", [])),
    ("hm", ("hm", "", [])),
]


@pytest.mark.kind(2)
@pytest.mark.kind(3)
@pytest.mark.kind(10)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])
@pytest.mark.parametrize(("output", "expected"), OUTPUTS)
def test_bursts_of_any_size_give_the_same_message(
    llm, tokenizer, output, expected, size
):
    request = request_of(llm.bind_tools([add]))
    wire, parser = parser_for(request, tokenizer)
    ids = tokenizer.encode(output, add_special_tokens=False)
    reader, parts = StreamReader(), []
    for start in range(0, len(ids), size):
        burst = ids[start : start + size]
        delta = parser.parse_delta(
            tokenizer.decode(burst),
            burst,
            wire,
            prompt_token_ids=[1],
            finished=start + size >= len(ids),
        )
        if delta is not None:
            choice = {"index": 0, "delta": delta.model_dump(exclude_none=True)}
            parts.append(reader.read({"id": "r", "choices": [choice]}))
    message = reduce(plus, [p.message for p in parts if p] + [reader.finish().message])
    reasoning = message.additional_kwargs.get("reasoning_content", "")
    calls = [(call["name"], call["args"]) for call in message.tool_calls]
    assert (reasoning, message.text, calls) == expected
    assert message.invalid_tool_calls == []


# --- prompts -------------------------------------------------------------------------

CALL = tool_call(name="add", args={"a": 1}, id="c")
BAD_CALL = invalid_tool_call(name=None, args='{"a": ', id=None, error="cut")
CONVERSATIONS = [
    [HumanMessage("hi")],
    [SystemMessage("s"), HumanMessage("hi"), SystemMessage("t")],
    [
        HumanMessage("hi"),
        AIMessage("", tool_calls=[CALL], additional_kwargs={"reasoning_content": "x"}),
        ToolMessage([{"type": "text", "text": "1"}], tool_call_id="c"),
    ],
    [HumanMessage("hi"), AIMessage("", invalid_tool_calls=[BAD_CALL])],
]


@pytest.mark.parametrize(
    "messages", CONVERSATIONS, ids=["one", "system", "tools", "bad"]
)
@pytest.mark.parametrize("thinking", [True, False, None])
@pytest.mark.parametrize("tools", [[], [add]])
@pytest.mark.kind(11)
def test_tokens_are_counted_as_vllm_counts_them(tokenizer, messages, thinking, tools):
    from vllm.config import ModelConfig
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.renderers.chat_utils import parse_chat_messages
    from vllm.renderers.hf import safe_apply_chat_template

    llm = ChatSSR(model=MODEL, enable_thinking=thinking)
    bound = llm.bind_tools(tools).kwargs
    request = llm._request(messages, None, bound, stream=False)
    wire = ChatCompletionRequest(**request)
    config = ModelConfig(model=resolve(MODEL).path)
    conversation, *_ = parse_chat_messages(wire.messages, config, "string")
    switches = wire.build_chat_params(None, "auto").chat_template_kwargs
    ids = safe_apply_chat_template(
        config,
        tokenizer,
        conversation,
        tools=[tool.model_dump() for tool in wire.tools] if wire.tools else None,
        tokenize=True,
        **switches,
    )
    assert tokenizer.apply_chat_template(**template_arguments(request)) == ids
    assert llm.get_num_tokens_from_messages(messages, tools=tools) == len(ids)
