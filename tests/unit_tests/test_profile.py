"""`profile`: what a model can do, known without an engine."""

from __future__ import annotations

import json

import pytest
from langchain_core.language_models import ModelProfile

from langchain_ssr import ChatSSR
from langchain_ssr.errors import ModelLoadError
from langchain_ssr.profile import model_profile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.bin").write_bytes(b"")
    return tmp_path


def of_folder(folder, **config) -> ModelProfile:
    (folder / "config.json").write_text(json.dumps(config))
    return ChatSSR(model=str(folder)).profile


FLAGS = ["reasoning_output", "tool_calling", "tool_choice", "structured_output"]


@pytest.mark.parametrize(
    ("model", "flags"),
    [
        ("Qwen3-4B", [True, True, True, True]),
        ("Qwen3.5-4B", [True, True, True, True]),
        ("openai/gpt-oss-20b", [True, True, True, True]),
        ("deepseek-ai/DeepSeek-R1", [True, False, False, True]),
        ("meta-llama/Llama-3.1-8B-Instruct", [False, True, True, True]),
        ("some/model", [False, False, False, True]),
        # vLLM has no grammar for its calls: a response format would rule them out.
        ("Gemma-4-E4B-IT", [True, True, False, False]),
        ("mistralai/Mistral-7B", [False, True, True, False]),
    ],
)
def test_flags_follow_the_family(model, flags):
    profile = ChatSSR(model=model).profile
    assert [profile[name] for name in FLAGS] == flags


def test_parsers_of_the_user_count():
    parsers = {"reasoning_parser": "qwen3", "tool_call_parser": "hermes"}
    profile = ChatSSR(model="some/model", engine_kwargs=parsers).profile
    assert all(profile[name] for name in FLAGS)


@pytest.mark.parametrize("media", [True, False])
def test_images_are_for_engines_that_load_more_than_the_language_model(media):
    arguments = {"language_model_only": not media}
    profile = ChatSSR(model="Qwen3.5-4B", engine_kwargs=arguments).profile
    assert profile["image_inputs"] is profile["image_url_inputs"] is media
    assert ChatSSR(model="Qwen3.5-4B").profile["image_inputs"] is False


@pytest.mark.parametrize(
    "config",
    [
        {"max_position_embeddings": 512},
        {"text_config": {"max_position_embeddings": 512}, "model_type": "gemma4"},
    ],
)
def test_context_length_is_read_from_a_folder(folder, config):
    assert of_folder(folder, **config)["max_input_tokens"] == 512


def test_context_length_of_the_user_counts(folder):
    of_folder(folder, max_position_embeddings=512)
    for limit, expected in ((128, 128), (-1, 512)):
        llm = ChatSSR(model=str(folder), engine_kwargs={"max_model_len": limit})
        assert llm.profile["max_input_tokens"] == expected


def test_context_length_that_is_not_known_is_left_out(folder):
    assert "max_input_tokens" not in of_folder(folder, model_type="qwen3")
    assert "max_input_tokens" not in ChatSSR(model="Qwen3-4B").profile


def test_model_that_there_is_not_has_no_profile():
    assert ChatSSR(model="no such model").profile is None
    with pytest.raises(ModelLoadError):
        model_profile("no such model", {})


def test_profile_of_the_user_counts(backend):
    llm = ChatSSR(model="Qwen3-4B", profile={"structured_output": False})
    assert llm.profile == {"structured_output": False}


@pytest.mark.filterwarnings("error")
def test_names_are_those_of_langchain():
    ChatSSR(model="Qwen3-4B")
    assert set(ChatSSR(model="Qwen3-4B").profile) <= set(ModelProfile.__annotations__)


def test_what_a_server_takes_besides_text_is_not_known():
    llm = ChatSSR(model="Qwen3-4B", base_url="http://localhost:1/v1")
    assert not [name for name in llm.profile if "image" in name or "audio" in name]
    assert llm.profile["text_inputs"] is True
