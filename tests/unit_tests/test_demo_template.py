"""The chat template, rendered as transformers and vLLM render it."""

import importlib.resources
import json

import pytest

jinja2 = pytest.importorskip("jinja2")
sandbox = pytest.importorskip("jinja2.sandbox")

TOOL = {
    "type": "function",
    "function": {
        "name": "find_river",
        "description": "Find <the> river.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        "strict": True,
    },
}
CALLS = [
    {"id": "1", "function": {"name": "find_river", "arguments": {"city": "Köln"}}},
    {"id": "2", "function": {"name": "find_river", "arguments": '{"city":"Rome"}'}},
]
LOOP = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Which rivers?"},
    {"role": "assistant", "reasoning_content": "A call.", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "1", "content": "Rhine"},
    {"role": "tool", "tool_call_id": "2", "content": "Tiber"},
    {"role": "assistant", "reasoning_content": "Both.", "content": "Rhine, Tiber."},
]


@pytest.fixture(scope="module")
def template():
    env = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    # transformers replaces the filter, which would escape HTML.
    env.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    folder = importlib.resources.files("langchain_ssr.demo") / "model"
    text = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    return env.from_string(text)


def test_a_whole_loop(template):
    assert template.render(messages=LOOP, tools=[TOOL]) == (
        "<|im_start|>system\nBe brief.\n\n"
        "# Tools\n\nCall these functions where they help:\n<tools>\n"
        '{"description": "Find <the> river.", "name": "find_river", "parameters": '
        '{"type": "object", "properties": {"city": {"type": "string"}}}}\n'
        "</tools><|im_end|>\n"
        "<|im_start|>user\nWhich rivers?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nA call.\n</think>\n\n"
        '<tool_call>\n{"name": "find_river", "arguments": {"city": "Köln"}}\n'
        '</tool_call><tool_call>\n{"name": "find_river", "arguments": '
        '{"city":"Rome"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nRhine\n</tool_response>\n"
        "<tool_response>\nTiber\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n<think>\nBoth.\n</think>\n\n"
        "Rhine, Tiber.<|im_end|>\n"
    )


@pytest.mark.parametrize("thinking", [True, False, None])
@pytest.mark.parametrize("end", [2, 5])
def test_a_prompt_is_a_prefix_of_the_rest_of_the_loop(template, thinking, end):
    fields = {} if thinking is None else {"enable_thinking": thinking}
    whole = template.render(messages=LOOP, tools=[TOOL], **fields)
    prompt = template.render(
        messages=LOOP[:end], tools=[TOOL], add_generation_prompt=True, **fields
    )
    assert whole.startswith(prompt)
    answer = whole[len(prompt) :]
    assert answer.startswith("<think>\n") is (thinking is not False)


def test_reasoning_before_the_last_user_message_is_stripped(template):
    text = template.render(messages=[*LOOP, {"role": "user", "content": "Thanks"}])
    assert "<think>" not in text
    assert "Rhine, Tiber." in text


def test_an_answer_without_reasoning_has_no_think_block(template):
    messages = [LOOP[1], {"role": "assistant", "content": "\n\nNone.\n"}]
    text = template.render(messages=messages)
    assert text.endswith("<|im_start|>assistant\nNone.<|im_end|>\n")


def test_without_thinking_the_prompt_closes_it(template):
    prompt = template.render(
        messages=[LOOP[1]], add_generation_prompt=True, enable_thinking=False
    )
    assert prompt.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")


def test_content_before_a_call_renders_as_it_was_written(template):
    """vLLM's parser leaves the newline before a call in the content."""
    for content in ("I look.", "I look.\n"):
        message = {"role": "assistant", "content": content, "tool_calls": CALLS[:1]}
        text = template.render(messages=[LOOP[1], message])
        assert "assistant\nI look.\n<tool_call>\n{" in text


def test_content_parts_and_foreign_roles(template):
    parts = [{"type": "text", "text": "One, "}, "two"]
    messages = [{"role": role, "content": parts} for role in ("developer", "user")]
    assert template.render(messages=messages) == (
        "<|im_start|>system\nOne, two<|im_end|>\n<|im_start|>user\nOne, two<|im_end|>\n"
    )


def test_no_system_turn_without_tools(template):
    assert template.render(messages=[LOOP[1]]).startswith("<|im_start|>user\n")


def test_bare_tools(template):
    """A tool needs no description, parameters or wrapper."""
    tools = [{"type": "function", "function": {"name": "f"}}, {"name": "g"}]
    text = template.render(messages=[LOOP[1]], tools=tools)
    assert '<tools>\n{"name": "f"}\n{"name": "g"}\n</tools>' in text


def test_a_call_without_arguments(template):
    call = {"function": {"name": "f"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    text = template.render(messages=[LOOP[1], message])
    assert '{"name": "f", "arguments": {}}' in text
