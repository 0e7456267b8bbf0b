"""Token counts: the model's own tokenizer and chat template, and no engine."""

from __future__ import annotations

import json
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from langchain_ssr import ChatSSR
from langchain_ssr.errors import (
    EngineNotInstalledError,
    InvalidRequestError,
    ModelLoadError,
    SettingsError,
)
from langchain_ssr.tokens import template_arguments

TEMPLATE = """
{%- for tool in tools or [] %}{{ tool | tojson }} {% endfor %}
{%- for m in messages %}{{ m.role }} {{ m.reasoning_content or '' }} {{ m.content }}
{%- for c in m.tool_calls or [] %}
{%- for name, value in c.function.arguments.items() %} {{ name }} {{ value }}
{%- endfor %}{% endfor %} {% endfor %}
{%- if add_generation_prompt %}assistant {% if enable_thinking %}<think>{% endif %}
{%- endif %}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model's folder with a tokenizer that splits at spaces."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("model")
    words = ["<unk>", "<s>", "one", "two", "three", "assistant", "user", "<think>"]
    vocabulary = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    (folder / "model.bin").write_bytes(b"")
    return folder


@pytest.fixture
def llm(folder):
    return ChatSSR(model=str(folder))


# --- texts ---------------------------------------------------------------------------


def test_tokens_of_a_text(llm):
    assert llm.get_token_ids("one two three") == [2, 3, 4]
    assert llm.get_num_tokens("one two") == 2
    assert llm.get_num_tokens("") == 0


def test_tokenizer_of_the_user_counts(folder):
    llm = ChatSSR(model=str(folder), custom_get_token_ids=lambda text: [7] * len(text))
    assert llm.get_token_ids("abc") == [7, 7, 7]
    assert llm.get_num_tokens_from_messages([HumanMessage("abc")]) == len("Human: abc")


def test_tokenizer_can_be_elsewhere(folder):
    llm = ChatSSR(model="Qwen3-4B", engine_kwargs={"tokenizer": str(folder)})
    assert llm.get_token_ids("two") == [3]


def test_tokenizer_is_loaded_once(llm, monkeypatch):
    llm.get_num_tokens("one")
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert llm.get_num_tokens("one") == 1


# --- messages ------------------------------------------------------------------------


def count(llm: ChatSSR, *messages, **options) -> int:
    return llm.get_num_tokens_from_messages(list(messages), **options)


def test_messages_count_as_the_template_writes_them(llm):
    thinking = len(["user", "one", "two", "assistant", "<think>"])
    assert count(llm, HumanMessage("one two")) == thinking
    plain = llm.model_copy(update={"enable_thinking": False})
    assert count(plain, HumanMessage("one two")) == thinking - 1


@pytest.mark.kind(7)
@pytest.mark.parametrize("kind", [HumanMessage, SystemMessage])
def test_control_text_of_a_user_counts_as_text(llm, kind):
    control = ["<", "s>"] if kind is HumanMessage else ["<s>"]
    message = kind([{"type": "text", "text": "one <s>"}])
    assert count(llm, message) == len(["user", "one", *control, "assistant", "<think>"])


@pytest.mark.kind(7)
def test_control_text_in_a_call_counts_as_text(llm):
    call = tool_call(name="f", args={"one": "<s>", "two": ["<s>"]}, id="c")
    ids = llm.get_prompt_token_ids([AIMessage("", tool_calls=[call])])
    words = [2, 0, 0, 3, 0, 0, 0, 0]  # one < s> two [' < s> ']
    assert ids == [5, *words, 5, 7]


DEVELOPER = SystemMessage(
    "two three", additional_kwargs={"__openai_role__": "developer"}
)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("system", [[], [SystemMessage("one")]])
@pytest.mark.kind(13)
def test_developer_counts_as_system_where_the_template_has_no_such_role(
    llm, place, system
):
    others = [HumanMessage("one"), HumanMessage("two")]
    messages = [*system, *others[:place], DEVELOPER, *others[place:]]
    text = " ".join(message.content for message in [*system, DEVELOPER])
    assert llm.get_prompt_token_ids(messages) == llm.get_prompt_token_ids(
        [SystemMessage(text), *others]
    )


@pytest.mark.parametrize("place", [0, 1, 2])
def test_developer_keeps_its_role_where_the_template_has_it(folder, place):
    template = TEMPLATE + "{# 'developer' #}"
    llm = ChatSSR(model=str(folder), engine_kwargs={"chat_template": template})
    messages, ids = [HumanMessage("one"), HumanMessage("two")], [6, 2, 6, 3, 5, 7]
    messages.insert(place, DEVELOPER)
    ids[2 * place : 2 * place] = [0, 3, 4]  # 0: the tokenizer has no word for the role
    assert llm.get_prompt_token_ids(messages) == ids


@pytest.mark.kind(11)
def test_whole_conversation_counts(llm):
    call = tool_call(name="f", args={"one": "two three"}, id="c")
    answer = AIMessage(
        "", tool_calls=[call], additional_kwargs={"reasoning_content": "one two"}
    )
    messages = [
        SystemMessage("three"),
        HumanMessage("one"),
        answer,
        ToolMessage([{"type": "text", "text": "two"}], tool_call_id="c"),
    ]
    text = "system three user one assistant one two one two three tool two"
    assert count(llm, *messages) == len(f"{text} assistant <think>".split())
    # Reasoning before the last human message is not part of the prompt.
    assert count(llm, *messages, HumanMessage("")) == len(
        f"{text} user assistant <think>".split()
    ) - len(["one", "two"])


def test_tools_count(llm):
    def f(one: int) -> int:
        """Two."""
        return one

    bare = count(llm, HumanMessage("one"))
    assert count(llm, HumanMessage("one"), tools=[f]) > bare
    assert count(llm, HumanMessage("one"), tools=[]) == bare


def test_invalid_call_counts_as_one_without_arguments(llm):
    bad = invalid_tool_call(name="f", args='{"a": ', id="c", error="cut")
    message = AIMessage("one", invalid_tool_calls=[bad])
    assert count(llm, message) == len(["assistant", "one", "assistant", "<think>"])


@pytest.mark.parametrize("as_file", [True, False])
def test_template_of_the_user_counts(folder, tmp_path, as_file):
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    file = tmp_path / "template.jinja"
    file.write_text(template)
    arguments = {"chat_template": str(file) if as_file else template}
    llm = ChatSSR(model=str(folder), engine_kwargs=arguments)
    assert count(llm, HumanMessage("one two")) == 2


def test_template_sees_tools_as_vllm_writes_them():
    tool = {"type": "function", "function": {"name": "f", "strict": None}}
    request = {"messages": [], "tools": [tool], "reasoning_effort": "low"}
    arguments = template_arguments(request)
    function = {"name": "f", "description": None, "parameters": None}
    assert arguments["tools"] == [{"type": "function", "function": function}]
    assert (arguments["reasoning_effort"], arguments["enable_thinking"]) == (
        *("low", True),
    )


# --- what cannot be counted ----------------------------------------------------------


def test_messages_that_the_model_does_not_take_are_refused(llm):
    with pytest.raises(SettingsError, match="text only"):
        count(llm, HumanMessage([{"type": "image", "url": "http://x"}]))


def test_template_that_raises_says_why(folder):
    template = "{{ raise_exception('no system message') }}"
    llm = ChatSSR(model=str(folder), engine_kwargs={"chat_template": template})
    with pytest.raises(InvalidRequestError, match="no system message"):
        count(llm, HumanMessage("one"))


def test_model_that_there_is_not_cannot_count():
    with pytest.raises(ModelLoadError, match="no such model"):
        ChatSSR(model="no such model").get_num_tokens("one")


def test_tokenizer_that_cannot_be_loaded_is_named(folder, tmp_path):
    llm = ChatSSR(model=str(folder), engine_kwargs={"tokenizer": str(tmp_path)})
    with pytest.raises(ModelLoadError, match=str(tmp_path)):
        llm.get_num_tokens("one")


def test_without_transformers_the_error_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    llm = ChatSSR(model="Qwen3-4B", engine_kwargs={"tokenizer": str(tmp_path)})
    with pytest.raises(EngineNotInstalledError, match="pip install 'langchain-ssr"):
        llm.get_num_tokens("one")


def test_prompt_tokens_are_those_that_are_counted(llm):
    messages = [HumanMessage("one two")]
    ids = llm.get_prompt_token_ids(messages, temperature=0)
    assert len(ids) == llm.get_num_tokens_from_messages(messages)
    assert ids[1:3] == [2, 3]
    assert len(llm.get_prompt_token_ids(messages, enable_thinking=False)) < len(ids)
