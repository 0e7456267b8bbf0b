"""The typed error for a start of vLLM that failed, with what can be done about it."""

from __future__ import annotations

import re

from langchain_core.exceptions import ModelError

from langchain_ssr import errors

LOOK_HERE = (
    "what vLLM wrote to stderr says why. If it wrote nothing, memory may be short: "
    "lower max_model_len or kv_cache_memory_bytes in engine_kwargs."
)
"""What to do about an engine's process that has ended."""

_HUB = (
    "is not a local folder",
    "huggingface.co",
    "Repo id",
    "Invalid repository ID",
    "couldn't connect",
)
"""What vLLM's and the hub client's messages hold if a model cannot be had."""
_UNKNOWN = ("does not recognize this architecture", "are not supported for now")
"""What they hold of a model that this vLLM does not know."""
_NO_PARSER = re.compile(r"(Reasoning|Tool) parser '.*' not found")
_DAMAGED = (KeyError, TypeError, AttributeError, UnicodeDecodeError)
"""What reading files raises that are not what they should be."""
_DOCTOR = (
    "A package that the model needs may be missing (Qwen3.5 and Gemma 4 want "
    "torchvision): langchain-ssr doctor tells."
)
_REMEDIES = (
    ("failed to be inspected", _DOCTOR),
    ("Engine core initialization failed", f"The engine's process ended: {LOOK_HERE}"),
)
"""Pairs of a part of vLLM's message, and what to do."""
_LENGTH = 1000
"""Most characters of vLLM's messages, which may list all that it knows."""


def start_error(error: Exception, model: str) -> Exception:
    """Choose the typed error for a failed start.

    Args:
        error: What vLLM raised.
        model: The hub id or folder.
    """
    if isinstance(error, ModelError):
        return error
    text = str(error).strip().split("\n  For further information")[0]
    text = text if len(text) <= _LENGTH else f"{text[:_LENGTH]} ..."
    if any(mark in text for mark in _HUB):
        return errors.ModelLoadError(
            f"The model {model!r} could not be loaded: {text} (Without access to a "
            "model hub, give the path of a folder that holds the model.)"
        )
    if any(mark in text for mark in _UNKNOWN):
        return errors.ModelLoadError(f"vLLM does not know the model {model!r}: {text}")
    if _NO_PARSER.search(text):
        return errors.SettingsError(f"engine_kwargs: {error.args[0]}")
    if isinstance(error, _DAMAGED):
        return errors.ModelLoadError(
            f"The model {model!r} could not be loaded: {type(error).__name__}: {text}. "
            "One of its files may be damaged: download the model again."
        )
    remedies = [remedy for mark, remedy in _REMEDIES if mark in text]
    return errors.EngineStartError(
        " ".join([f"vLLM could not start {model!r}: {text}", *remedies])
    )
