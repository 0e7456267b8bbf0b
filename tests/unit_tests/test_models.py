"""What a model's name means, and the check of a model's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr import models
from langchain_ssr.errors import ModelLoadError
from langchain_ssr.models import cache_dir, resolve, thinking_default


def write_safetensors(file: Path, *, cut: int = 0) -> None:
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        }
    ).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(8)
    file.write_bytes(data[: len(data) - cut])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "qwen3"}')
    (tmp_path / "tokenizer.json").write_text('{"added_tokens": []}')
    write_safetensors(tmp_path / "model.safetensors")
    return tmp_path


# --- names -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Qwen3.5-4B", "qwen3.5-4b", "QWEN3.5-4B"])
def test_short_name_is_found_without_regard_to_case(name):
    spec = resolve(name)
    assert spec.path == "Qwen/Qwen3.5-4B"
    assert spec.family == models.QWEN3_5


@pytest.mark.parametrize("alias", models.ALIASES)
def test_every_short_name_has_a_family_that_reasons(alias):
    spec = resolve(alias)
    assert spec.path == models.ALIASES[alias]
    assert spec.family.reasoning_parser is not None
    assert spec.family.tool_parser is not None


@pytest.mark.parametrize(
    ("hub_id", "family"),
    [
        ("Qwen/Qwen3-4B", models.QWEN3),
        ("someone/my-Qwen3.5-tune", models.QWEN3_5),
        ("google/gemma-4-E4B-it", models.GEMMA4),
        ("openai/gpt-oss-20b", models.GPT_OSS),
        ("deepseek-ai/DeepSeek-R1", models.DEEPSEEK_R1),
        ("Qwen/Qwen2.5-0.5B", models.BY_MODEL_TYPE["qwen2"]),
        ("meta-llama/Llama-3.2-1B", models.BY_MODEL_TYPE["llama"]),
        ("owner/unknown.model_1", models.PLAIN),
    ],
)
def test_hub_id_passes_through_with_the_family_of_its_name(hub_id, family):
    spec = resolve(hub_id)
    assert spec.path == hub_id
    assert spec.family == family


def test_typo_gets_a_suggestion():
    with pytest.raises(ModelLoadError, match=r"Did you mean 'Qwen3\.5-4B'"):
        resolve("Qwen35-4B")


@pytest.mark.parametrize("name", ["no-such", "./no/such", "/no/such", "../x", "a/b/c"])
def test_name_of_nothing_is_refused_by_name(name):
    with pytest.raises(ModelLoadError, match="There is no model") as caught:
        resolve(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "name", ["~no_such_user_1/model", "x" * 5000], ids=["unknown user", "too long"]
)
def test_name_that_is_no_possible_path_is_refused_in_the_same_way(name):
    with pytest.raises(ModelLoadError):
        resolve(name)


@given(st.text(st.characters(exclude_characters="~"), max_size=40))
def test_any_name_gives_a_model_or_a_typed_error(name):
    try:
        assert resolve(name).path
    except ModelLoadError as error:
        assert str(error)  # noqa: PT017 - either way is fine


# --- the small model -----------------------------------------------------------------


def test_small_model_not_prepared_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", str(tmp_path))
    with pytest.raises(ModelLoadError, match="langchain-ssr models get smollm2") as e:
        resolve("smollm2")
    assert str(tmp_path / "smollm2") in str(e.value)


def test_small_model_prepared_is_found_in_the_cache(monkeypatch, tmp_path, folder):
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", str(tmp_path))
    shutil.copytree(folder, tmp_path / "smollm2", ignore=lambda *_: ["smollm2"])
    spec = resolve("smollm2")
    assert spec.path == str(tmp_path / "smollm2")
    assert spec.family == models.Family("qwen3", "hermes", thinking=False)


def test_small_model_damaged_says_how_to_prepare_it_anew(monkeypatch, folder):
    cache = folder / "cache"
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", str(cache))
    shutil.copytree(folder, cache / "smollm2", ignore=lambda *_: ["cache"])
    write_safetensors(cache / "smollm2" / "model.safetensors", cut=1)
    with pytest.raises(ModelLoadError, match=r"truncated.*models get smollm2"):
        resolve("smollm2")


def test_small_model_does_not_think_by_default():
    assert thinking_default("smollm2") is False
    assert thinking_default("Qwen3-4B") is True


def test_cache_dir_follows_its_variable(monkeypatch):
    monkeypatch.setenv("LANGCHAIN_SSR_CACHE", "/x/y")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_dir() == Path("/x/y")


def test_cache_dir_follows_the_desktop_standard(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_dir() == Path("/xdg/langchain-ssr")


def test_cache_dir_is_in_the_home_folder_otherwise(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_dir() == Path("/home/somebody/.cache/langchain-ssr")


# --- folders -----------------------------------------------------------------------


def test_complete_folder_is_taken(folder):
    spec = resolve(str(folder))
    assert spec.path == str(folder)
    assert spec.family == models.QWEN3


@pytest.mark.parametrize("model_type", models.BY_MODEL_TYPE)
def test_family_comes_from_the_model_type(folder, model_type):
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    assert resolve(str(folder)).family == models.BY_MODEL_TYPE[model_type]


def test_unknown_model_type_is_plain(folder):
    (folder / "config.json").write_text("{}")
    assert resolve(str(folder)).family == models.PLAIN


def test_think_tokens_make_a_reasoning_model(folder):
    (folder / "config.json").write_text('{"model_type": "llama"}')
    tokens = [{"content": "<think>"}, {"content": "</think>"}]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    assert resolve(str(folder)).family == models.Family("deepseek_r1", "llama3_json")


def test_think_tokens_leave_a_known_reasoning_model_its_parser(folder):
    tokens = [{"content": "<think>"}, {"content": "</think>"}]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    assert resolve(str(folder)).family == models.QWEN3


def test_one_think_token_alone_does_not(folder):
    (folder / "config.json").write_text('{"model_type": "llama"}')
    tokens = [{"content": "<think>"}]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    assert resolve(str(folder)).family.reasoning_parser is None


@pytest.mark.parametrize("name", ["tokenizer.model", "tekken.json", "vocab.json"])
def test_other_tokenizer_files_are_enough(folder, name):
    (folder / "tokenizer.json").rename(folder / name)
    assert resolve(str(folder)).family == models.QWEN3


def test_without_its_weights_the_demo_model_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(models, "demo_folder", lambda: tmp_path)
    with pytest.raises(ModelLoadError, match=r"config.json.*install .* anew"):
        models.resolve("demo")
