"""The model that comes with the package is small enough for a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from langchain_ssr.models import demo_folder

MOST_BYTES = 12 << 20
TRAINING = Path(__file__).parents[2] / "training"
"""Holds the candidates for the package."""
FOLDERS = [demo_folder(), *sorted(TRAINING.glob("*/"))]
WEIGHTS = "model.safetensors"


def num_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_there_is_a_model_with_weights():
    assert any((folder / WEIGHTS).is_file() for folder in FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_folder_is_at_most_12_mib(folder):
    assert 0 < num_bytes(folder) <= MOST_BYTES
