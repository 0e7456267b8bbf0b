"""The check of a model's folder: is it complete, and can its files be read?

It takes milliseconds, for it reads headers and ends of large files only. A start of the
engine takes half a minute, and would not say which file is damaged.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from langchain_ssr.errors import ModelLoadError

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json")
"""Files of which a folder has at least one."""
JSON_FILES = (
    "added_tokens.json",
    "chat_template.json",
    "generation_config.json",
    "special_tokens_map.json",
    "tekken.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
)
"""Files of JSON objects that a folder may have beside its configuration."""
PARSED_BYTES = 1 << 20
"""A JSON file is read whole up to this size; of a larger one only both ends."""
HEADER_BYTES = 100_000_000
"""The longest header of a safetensors file, as the format has it."""

_AGAIN = "Download the model again."
_UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What reading a damaged file may raise."""


def check_folder(folder: Path) -> dict[str, Any]:
    """Check that a folder holds a complete model.

    Args:
        folder: A folder in Hugging Face's layout.

    Returns:
        The model's configuration.

    Raises:
        ModelLoadError: If a file is missing, unreadable or truncated.
    """
    config = _read_json(folder / "config.json")
    weights = sorted(folder.glob("*.safetensors"))
    if not weights and not list(folder.glob("*.bin")):
        raise ModelLoadError(f"{folder} holds no weights (*.safetensors)")
    for file in weights:
        _check_weights(file)
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = _read_json(index).get("weight_map")
        names = set(map(str, shards.values())) if isinstance(shards, dict) else set()
        for name in sorted(names - {file.name for file in weights}):
            raise ModelLoadError(
                f"{folder} lacks {name}, which its index names. {_AGAIN}"
            )
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise ModelLoadError(f"{folder} holds no tokenizer ({TOKENIZERS[0]})")
    for name in JSON_FILES:
        if (folder / name).is_file():
            _check_json(folder / name)
    return config


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a complete model, see `check_folder`."""
    try:
        check_folder(folder)
    except ModelLoadError:
        return False
    return True


def has_think_tokens(folder: Path) -> bool:
    """Whether the tokenizer has the tokens `<think>` and `</think>`."""
    try:
        text = (folder / "tokenizer.json").read_text(encoding="utf-8")
        added = {token["content"] for token in json.loads(text)["added_tokens"]}
    except _UNREADABLE:
        return False
    return {"<think>", "</think>"} <= added


def _read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelLoadError(
            f"{file.parent} is no model folder: it has no {file.name}"
        ) from None
    except _UNREADABLE as error:
        raise ModelLoadError(f"{file} cannot be read: {error}. {_AGAIN}") from None
    if not isinstance(value, dict):
        raise ModelLoadError(f"{file} must hold a JSON object. {_AGAIN}")
    return value


def _check_json(file: Path) -> None:
    """Check a JSON object: all of a small file, both ends of a large one."""
    try:
        size = file.stat().st_size
        if size <= PARSED_BYTES:
            _read_json(file)
            return
        with file.open("rb") as stream:
            head = stream.read(64).strip()
            stream.seek(-64, 2)
            tail = stream.read().strip()
    except OSError as error:
        raise ModelLoadError(f"{file} cannot be read: {error}. {_AGAIN}") from None
    if not (head.startswith(b"{") and tail.endswith(b"}")):
        raise ModelLoadError(f"{file} is truncated or not a JSON object. {_AGAIN}")


def _check_weights(file: Path) -> None:
    """Compare a safetensors file's size with its header.

    Layout (safetensors format): 8 bytes of little-endian header length, a JSON header
    with each tensor's `data_offsets` in bytes, then the data.
    """
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            size = file.stat().st_size
            if not 2 <= length <= min(size - 8, HEADER_BYTES):  # noqa: PLR2004
                raise ModelLoadError(
                    f"{file} is truncated or not a safetensors file. {_AGAIN}"
                )
            header = json.loads(stream.read(length))
        end = max(
            (
                0 + entry["data_offsets"][1]
                for entry in header.values()
                if "dtype" in entry
            ),
            default=0,
        )
    except _UNREADABLE as error:
        raise ModelLoadError(f"{file} cannot be read: {error}. {_AGAIN}") from None
    if size != 8 + length + end:
        raise ModelLoadError(
            f"{file} is truncated: {size} bytes, but its header wants "
            f"{8 + length + end}. {_AGAIN}"
        )
