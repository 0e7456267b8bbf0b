"""Which model a name means, and which of vLLM's parsers read its output.

Names need a table. Token ids do not: they come from the parsers.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_ssr.errors import ModelLoadError
from langchain_ssr.model_folder import check_folder, has_think_tokens
from langchain_ssr.settings import suggest

CACHE_VARIABLE = "LANGCHAIN_SSR_CACHE"


@dataclasses.dataclass(frozen=True)
class Family:
    """What the models of one architecture have in common.

    Attributes:
        reasoning_parser: Name of vLLM's reasoning parser; `None` if these models do
            not mark their reasoning.
        tool_parser: Name of vLLM's tool-call parser; `None` if there is none.
        thinking: What `enable_thinking` is unless the user sets it.
    """

    reasoning_parser: str | None
    tool_parser: str | None
    thinking: bool | None = True


@dataclasses.dataclass(frozen=True)
class ModelSpec:
    """A model as the engine needs it.

    Attributes:
        path: A hub id or a folder.
        family: What it has in common with others.
        engine_kwargs: vLLM arguments that suit it; a user's own win over them.
    """

    path: str
    family: Family
    engine_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def is_on_hub(self) -> bool:
        """Whether the path is a hub id."""
        return not _is_dir(Path(self.path))


QWEN3 = Family("qwen3", "hermes")
QWEN3_5 = Family("qwen3", "qwen3_coder")
GEMMA4 = Family("gemma4", "gemma4")
GPT_OSS = Family("openai_gptoss", "openai", thinking=None)
DEEPSEEK_R1 = Family("deepseek_r1", None, thinking=None)
PLAIN = Family(None, None, thinking=None)

DEMO = "demo"
"""The small reasoning model that comes with the package."""
SMOLLM2 = "smollm2"

ALIASES: Mapping[str, str] = {
    "Qwen3.5-0.8B": "Qwen/Qwen3.5-0.8B",
    "Qwen3.5-2B": "Qwen/Qwen3.5-2B",
    "Qwen3.5-4B": "Qwen/Qwen3.5-4B",
    "Qwen3.5-9B": "Qwen/Qwen3.5-9B",
    "Qwen3.5-27B": "Qwen/Qwen3.5-27B",
    "Qwen3-0.6B": "Qwen/Qwen3-0.6B",
    "Qwen3-1.7B": "Qwen/Qwen3-1.7B",
    "Qwen3-4B": "Qwen/Qwen3-4B",
    "Qwen3-8B": "Qwen/Qwen3-8B",
    "Qwen3-14B": "Qwen/Qwen3-14B",
    "Qwen3-32B": "Qwen/Qwen3-32B",
    "Gemma-4-E2B-IT": "google/gemma-4-E2B-it",
    "Gemma-4-E4B-IT": "google/gemma-4-E4B-it",
}
"""Short names and the hub ids they stand for; compared without regard to case."""

BY_MODEL_TYPE: Mapping[str, Family] = {
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3,
    "qwen3_5": QWEN3_5,
    "qwen3_5_text": QWEN3_5,
    "qwen3_5_moe": QWEN3_5,
    "gemma4": GEMMA4,
    "gemma4_text": GEMMA4,
    "gpt_oss": GPT_OSS,
    "qwen2": Family(None, "hermes", thinking=None),
    "llama": Family(None, "llama3_json", thinking=None),
    "mistral": Family(None, "mistral", thinking=None),
}
"""The family for the `model_type` of a model's `config.json`."""

_BY_NAME: tuple[tuple[str, Family], ...] = (
    (r"qwen3\.5", QWEN3_5),
    (r"qwen3", QWEN3),
    (r"gemma-?4", GEMMA4),
    (r"gpt-?oss", GPT_OSS),
    (r"deepseek-r1|qwq", DEEPSEEK_R1),
    (r"qwen2", BY_MODEL_TYPE["qwen2"]),
    (r"llama-?3", BY_MODEL_TYPE["llama"]),
    (r"mistral", BY_MODEL_TYPE["mistral"]),
)


def cache_dir() -> Path:
    """Return the folder for prepared models (`LANGCHAIN_SSR_CACHE` moves it)."""
    if path := os.environ.get(CACHE_VARIABLE):
        return Path(path).expanduser()
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "langchain-ssr"


def demo_folder() -> Path:
    """Return the folder of the model that comes with the package."""
    return Path(__file__).parent / "demo" / "model"


def thinking_default(model: str) -> bool | None:
    """Say what `enable_thinking` is for `model` unless the user sets it."""
    return model != SMOLLM2


def resolve(model: str) -> ModelSpec:
    """Find the model that a user's name means.

    Args:
        model: A short name, a hub id (`owner/name`), or a folder.

    Returns:
        Where vLLM finds the model, and how its output is read.

    Raises:
        ModelLoadError: If there is no such model, or its folder cannot be loaded.
    """
    if model == DEMO:
        folder = demo_folder()
        try:
            check_folder(folder)
        except ModelLoadError as error:
            raise ModelLoadError(
                f"{error} It comes with the package: install langchain-ssr anew."
            ) from None
        return ModelSpec(str(folder), _family_of(folder), {"dtype": "float32"})
    if model == SMOLLM2:
        folder = cache_dir() / SMOLLM2
        if not (folder / "config.json").is_file():
            raise ModelLoadError(
                f"The model 'smollm2' is not prepared yet (looked in {folder}). Run: "
                "langchain-ssr models get smollm2"
            )
        try:
            check_folder(folder)
        except ModelLoadError as error:
            raise ModelLoadError(
                f"{error} To prepare it anew: langchain-ssr models get smollm2"
            ) from None
        return ModelSpec(str(folder), dataclasses.replace(QWEN3, thinking=False))
    by_lower = {alias.lower(): target for alias, target in ALIASES.items()}
    if target := by_lower.get(model.lower()):
        return ModelSpec(target, _family_by_name(target))
    folder = Path(os.path.expanduser(model))  # noqa: PTH111 - never raises
    if _is_dir(folder):
        return ModelSpec(str(folder), _family_of(folder))
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model) and not model.startswith("."):
        return ModelSpec(model, _family_by_name(model))
    names = [DEMO, SMOLLM2, *ALIASES]
    raise ModelLoadError(
        f"There is no model {model!r}: it is neither a folder, nor a hub id "
        f"(owner/name), nor one of the short names {', '.join(names)}."
        f"{suggest(model, names)}"
    )


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long, or a NUL byte: no path at all
        return False


def _family_by_name(name: str) -> Family:
    for pattern, family in _BY_NAME:
        if re.search(pattern, name, re.IGNORECASE):
            return family
    return PLAIN


def _family_of(folder: Path) -> Family:
    """Find a folder's family by `model_type` or the think tokens of the tokenizer."""
    config = check_folder(folder)
    family = BY_MODEL_TYPE.get(str(config.get("model_type")), PLAIN)
    if family.reasoning_parser is None and has_think_tokens(folder):
        return dataclasses.replace(
            family, reasoning_parser="deepseek_r1", thinking=True
        )
    return family
