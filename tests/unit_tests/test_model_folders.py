"""Damaged model folders: each gets a `ModelLoadError` that names the file."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_ssr.errors import ModelLoadError
from langchain_ssr.model_folder import HEADER_BYTES, PARSED_BYTES, check_folder
from langchain_ssr.models import resolve


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


TENSOR = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
GOOD = safetensors({"w": TENSOR}, bytes(8))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "other"}')
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(GOOD)
    return tmp_path


def refused(folder, *parts):
    with pytest.raises(ModelLoadError) as caught:
        check_folder(folder)
    for part in parts:
        assert part in str(caught.value)


def test_the_undamaged_folder_is_taken(folder):
    assert check_folder(folder) == {"model_type": "other"}
    assert resolve(str(folder)).family.reasoning_parser is None


def test_no_configuration(folder):
    (folder / "config.json").unlink()
    refused(folder, str(folder), "config.json")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]", b"null"])
def test_broken_configuration(folder, text):
    (folder / "config.json").write_bytes(text)
    refused(folder, str(folder / "config.json"))


def test_no_weights(folder):
    (folder / "model.safetensors").unlink()
    refused(folder, "holds no weights")


def test_weights_of_pickle_format_are_enough(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    check_folder(folder)


def test_no_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    refused(folder, "tokenizer.json")


@given(cut=st.integers(1, len(GOOD)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_truncated_weights_at_any_length(folder, cut):
    (folder / "model.safetensors").write_bytes(GOOD[:-cut])
    refused(folder, "model.safetensors")


def test_truncated_weights_say_both_sizes(folder):
    (folder / "model.safetensors").write_bytes(GOOD[:-3])
    refused(folder, f"{len(GOOD) - 3} bytes", str(len(GOOD)), "Download")


def test_one_truncated_file_among_several(folder):
    (folder / "model-2.safetensors").write_bytes(GOOD[:-1])
    refused(folder, "model-2.safetensors")


@pytest.mark.parametrize("length", [len(GOOD), 1 << 40, (1 << 64) - 1, 0, 1])
def test_header_length_that_cannot_be(folder, length):
    damaged = length.to_bytes(8, "little") + GOOD[8:]
    (folder / "model.safetensors").write_bytes(damaged)
    refused(folder, "model.safetensors")


@pytest.mark.parametrize(
    "header",
    [
        [],
        "text",
        {"w": {"dtype": "F32"}},
        {"w": {"dtype": "F32", "data_offsets": None}},
        {"w": {"dtype": "F32", "data_offsets": [0]}},
        {"w": {"dtype": "F32", "data_offsets": ["0", "8"]}},
        {"w": None},
    ],
    ids=json.dumps,
)
def test_header_of_a_wrong_form(folder, header):
    (folder / "model.safetensors").write_bytes(safetensors(header, bytes(8)))
    refused(folder, "model.safetensors")


def test_header_that_would_fill_the_memory_is_not_read(folder):
    with (folder / "model.safetensors").open("wb") as file:
        file.write((HEADER_BYTES + 1).to_bytes(8, "little"))
        file.truncate(HEADER_BYTES + 100)  # a sparse file
    refused(folder, "model.safetensors", "not a safetensors file")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_json_too_deep_to_be_read(folder, name):
    deep = b"[" * 100_000
    head = len(deep).to_bytes(8, "little") if name.endswith("tensors") else b""
    (folder / name).write_bytes(head + deep)
    refused(folder, name)


OTHER_JSON = ("tokenizer.json", "tokenizer_config.json", "generation_config.json")


@pytest.mark.parametrize("name", OTHER_JSON)
@pytest.mark.parametrize("text", [b"", b'{"a": ', b"\x00\x00", b"[]"])
def test_other_broken_json(folder, name, text):
    (folder / name).write_bytes(text)
    refused(folder, str(folder / name), "Download")


def test_large_tokenizer_is_looked_at_from_both_ends(folder):
    whole = b'{"model": "' + b"x" * PARSED_BYTES + b'"}\n'
    file = folder / "tokenizer.json"
    file.write_bytes(whole)
    check_folder(folder)
    for damaged in (whole[:-2], whole[:-2] + bytes(64), b"<" + whole):
        file.write_bytes(damaged)
        refused(folder, str(file), "Download")


NAMES = ["config.json", "tokenizer.json", "model.safetensors", "vocab.json"]


@given(
    name=st.sampled_from([*NAMES, "model.safetensors.index.json"]),
    data=st.binary(max_size=40)
    | st.text(alphabet='{}[]":,019.truefalsenull weight_map', max_size=40).map(
        str.encode
    ),
    at=st.integers(0, len(GOOD)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_a_typed_error_or_none(folder, name, data, at):
    before = GOOD if name == "model.safetensors" else b""
    (folder / name).write_bytes(before[:at] + data)
    try:
        resolve(str(folder))
    except ModelLoadError as error:
        assert name in str(error)  # noqa: PT017
    finally:
        (folder / name).unlink()
        for each, content in (("config.json", b"{}"), ("tokenizer.json", b"{}")):
            (folder / each).write_bytes(content)
        (folder / "model.safetensors").write_bytes(GOOD)


def test_metadata_is_no_tensor(folder):
    header = {"__metadata__": {"format": "pt"}, "w": TENSOR}
    (folder / "model.safetensors").write_bytes(safetensors(header, bytes(8)))
    check_folder(folder)


def test_missing_shard_of_an_index(folder):
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    (folder / "model.safetensors").rename(folder / names[0])
    index = {"weight_map": {"w": names[0], "v": names[1]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, names[1])


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"added_tokens": null}', '{"added_tokens": ["<think>"]}']
)
def test_odd_tokenizer_gives_no_reasoning_or_a_typed_error(folder, text):
    (folder / "tokenizer.json").write_text(text)
    try:
        family = resolve(str(folder)).family
    except ModelLoadError:
        return
    assert family.reasoning_parser is None
