"""What the feature table says of other packages, checked where they are installed."""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import inspect
import pickle
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.exceptions import ModelError
from langchain_core.messages import AIMessage

openai = pytest.importorskip("langchain_openai")
base = pytest.importorskip("langchain_openai.chat_models.base")
SOURCE = Path(__file__).parents[2] / "docs" / "features.toml"
TABLE = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
ROWS = [row for group in TABLE["group"] for row in group["feature"]]


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def chat(**settings):
    return openai.ChatOpenAI(model="gpt-4o", api_key="key", **settings)


def bound(**arguments):
    return chat().bind_tools([add], **arguments).kwargs


def usage() -> dict:
    told = {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    return base._create_usage_metadata(told)


def drops_reasoning() -> bool:
    wire = {"role": "assistant", "content": "x", "reasoning": "hm"}
    message = base._convert_dict_to_message({**wire, "reasoning_content": "hm"})
    return "hm" not in repr(message)


def keeps_reasoning_back() -> bool:
    message = AIMessage("x", additional_kwargs={"reasoning_content": "hm"})
    return "hm" not in repr(base._convert_message_to_dict(message))


def methods() -> bool:
    method = inspect.signature(openai.ChatOpenAI.with_structured_output)
    parameter = method.parameters["method"]
    names = ("function_calling", "json_mode", "json_schema")
    known = all(name in str(parameter.annotation) for name in names)
    return known and parameter.default == "json_schema"


def passes_unknown_names_on() -> bool:
    with pytest.warns(UserWarning, match="temprature"):
        return chat(temprature=1).model_kwargs == {"temprature": 1}


def cannot_be_copied() -> bool:
    llm = chat()
    for make in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="pickle"):
            make(llm)
    return True


def drops_metrics() -> bool:
    choice = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    told = {"choices": [choice], "metrics": {"speculative_decoding": {"rate": 0.5}}}
    return "speculative" not in repr(chat()._create_chat_result(told))


def in_init_chat_model(name: str) -> bool:
    module = pytest.importorskip("langchain.chat_models.base")
    return name in module._BUILTIN_PROVIDERS


FIELDS = openai.ChatOpenAI.model_fields
OWN = vars(base.BaseChatOpenAI)
PROBES: dict[str, tuple[str, Callable[[], object]]] = {
    "invoke, stream and their asynchronous twins": (
        "●",
        lambda: {"_generate", "_stream", "_agenerate", "_astream"} <= set(OWN),
    ),
    "log probabilities": ("●", lambda: "logprobs" in FIELDS),
    "reasoning in the message": (
        "Responses API only",
        lambda: drops_reasoning() and "reasoning" in FIELDS,
    ),
    "reasoning goes back within a tool loop": (
        "Responses API only",
        keeps_reasoning_back,
    ),
    "`bind_tools`": ("●", lambda: len(bound()["tools"]) == 1),
    "`tool_choice`: any, required, none, a name": (
        "●",
        lambda: bound(tool_choice="any")["tool_choice"] == "required",
    ),
    "`parallel_tool_calls`": (
        "●",
        lambda: bound(parallel_tool_calls=False)["parallel_tool_calls"] is False,
    ),
    "`with_structured_output`, by method": ("the same three", methods),
    "`profile`, so that agents answer by native schemas": (
        "●",
        lambda: chat().profile["structured_output"],
    ),
    "`usage_metadata`, streamed and not": (
        "●",
        lambda: usage()["output_tokens"] == 2 and "stream_usage" in FIELDS,
    ),
    "reasoning tokens in it": (
        "●",
        lambda: usage()["output_token_details"]["reasoning"] == 2,
    ),
    "cached tokens in it": (
        "●",
        lambda: usage()["input_token_details"]["cache_read"] == 1,
    ),
    "langchain-core's typed errors": (
        "●",
        lambda: issubclass(base.OpenAIRateLimitError, ModelError),
    ),
    "an unknown setting is refused": (
        "○ (sent on, with a warning)",
        passes_unknown_names_on,
    ),
    "tokens are counted by the model's own tokenizer and template": (
        "tokenizer",
        lambda: "get_num_tokens_from_messages" in OWN,
    ),
    "a key for `init_chat_model`": ("●", lambda: in_init_chat_model("openai")),
    "several event loops, one after the other and in threads": (
        "one client for all loops",
        lambda: hasattr(
            importlib.import_module(
                "langchain_openai.chat_models._client_utils"
            )._cached_async_httpx_client,
            "cache_info",
        ),
    ),
    "deepcopy and pickle, also in mid-stream": ("○", cannot_be_copied),
    "runs the model itself, without a server": (
        "○",
        lambda: type(chat().root_client).__module__.startswith("openai"),
    ),
    "talks to a running server": ("●", lambda: "openai_api_base" in FIELDS),
    "statistics of speculation with each answer": ("○", drops_metrics),
}


def cells() -> dict[str, str]:
    """The cells of langchain-openai, by feature."""
    (at,) = [
        i for i, p in enumerate(TABLE["peer"]) if p["package"] == "langchain-openai"
    ]
    rows = ROWS
    found = {row["name"]: row["peers"][at] for row in rows if "peers" in row}
    return {name: cell for name, cell in found.items() if cell}


def test_every_cell_of_langchain_openai_is_checked():
    assert {name: cell for name, (cell, _) in PROBES.items()} == cells()


@pytest.mark.parametrize("name", PROBES)
def test_cell_of_langchain_openai(name):
    (peer,) = [p for p in TABLE["peer"] if p["package"] == "langchain-openai"]
    installed = importlib.metadata.version("langchain-openai")
    if installed != peer["version"]:
        pytest.skip(f"the table speaks of {peer['version']}, not of {installed}")
    assert PROBES[name][1]()


def test_keys_of_init_chat_model_are_as_the_table_says():
    keys = ("openai", "anthropic", "ollama", "deepseek", "openrouter", "llama_cpp")
    (row,) = [f for f in ROWS if "init_chat_model" in f["name"]]
    assert ["●" if in_init_chat_model(key) else "○" for key in keys] == row["peers"]
    assert not in_init_chat_model("ssr")
