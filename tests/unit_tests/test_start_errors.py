"""Starts that fail: which error comes of it, and what it says to do."""

from __future__ import annotations

import pytest

from langchain_ssr import errors
from langchain_ssr.backends.start_errors import start_error

FURTHER = "\n  For further information visit https://errors.pydantic.dev/2/v/x"


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError("x is not a local folder and"), errors.ModelLoadError, "folder"),
        (ValueError("Invalid repository ID or"), errors.ModelLoadError, "folder"),
        (
            ValueError("Transformers does not recognize this architecture."),
            errors.ModelLoadError,
            "does not know",
        ),
        (
            ValueError("Model architectures ['X'] are not supported for now. Known: y"),
            errors.ModelLoadError,
            "does not know",
        ),
        (
            KeyError("Reasoning parser 'x' not found. Available parsers: qwen3"),
            errors.SettingsError,
            "engine_kwargs: Reasoning parser 'x'.*qwen3$",
        ),
        (KeyError("added_tokens"), errors.ModelLoadError, "KeyError.*again"),
        (
            ValueError("Model architectures ['X'] failed to be inspected."),
            errors.EngineStartError,
            "torchvision.*langchain-ssr doctor",
        ),
        (
            RuntimeError("Engine core initialization failed. See root cause above."),
            errors.EngineStartError,
            "stderr.*memory",
        ),
        (ValueError("no luck" + FURTHER), errors.EngineStartError, "no luck$"),
    ],
)
def test_error_and_remedy(error, kind, words):
    found = start_error(error, "the/model")
    assert type(found) is kind
    with pytest.raises(kind, match=words):
        raise found
    assert "'the/model'" in str(found) or kind is errors.SettingsError


def test_typed_errors_stay():
    error = errors.SettingsError("x")
    assert start_error(error, "m") is error


def test_long_lists_are_cut():
    assert len(str(start_error(ValueError("x" * 50_000), "m"))) < 1100
