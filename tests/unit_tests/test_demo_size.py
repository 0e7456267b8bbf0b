"""The model that comes with the package is small enough for a wheel."""

from __future__ import annotations

from pathlib import Path

from langchain_ssr.models import demo_folder

MOST_BYTES = 12 << 20
WEIGHTS = "model.safetensors"


def num_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_there_is_a_model_with_weights():
    assert (demo_folder() / WEIGHTS).is_file()


def test_the_folder_is_at_most_12_mib():
    assert 0 < num_bytes(demo_folder()) <= MOST_BYTES
