"""What a model can do, as LangChain's agents want to know it.

Found without an engine: from the model's family and, where its folder is on this
machine, from its configuration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import ModelProfile

from langchain_ssr import models

_FORCES_CALLS = frozenset({"hermes", "llama3_json", "mistral", "openai", "qwen3_coder"})
"""Tool parsers for which vLLM makes a grammar of a forced call (READ, vLLM 0.32)."""
_MEDIA: tuple[
    Literal["image_inputs", "image_url_inputs", "audio_inputs", "video_inputs"], ...
] = ("image_inputs", "image_url_inputs", "audio_inputs", "video_inputs")
_CALLS_OR_FORMAT = _FORCES_CALLS - {"mistral"}
"""Tool parsers for which its grammar can say "a call, or an answer of this format". For
the others a response format rules out calls: an agent could not use its tools."""


def takes_media(engine_kwargs: Mapping[str, Any]) -> bool:
    """Whether the engine takes images and the like.

    The engine loads the language model only, unless `engine_kwargs` says otherwise.
    """
    return engine_kwargs.get("language_model_only") is False


def model_profile(
    model: str, engine_kwargs: Mapping[str, Any], *, is_remote: bool = False
) -> ModelProfile:
    """Describe a model.

    Args:
        model: A short name, a hub id, or a folder.
        engine_kwargs: The user's arguments of `vllm serve`.
        is_remote: Whether a server runs it, with arguments of its own.

    Returns:
        The profile. `max_input_tokens` is left out where it is not known without an
        engine; the engine may have room for less (`engine_info()` tells). So is what a
        server takes besides text.

    Raises:
        ModelLoadError: If there is no such model.
    """
    spec = models.resolve(model)
    arguments = {
        "reasoning_parser": spec.family.reasoning_parser,
        "tool_call_parser": spec.family.tool_parser,
        **spec.engine_kwargs,
        **engine_kwargs,
    }
    tools = arguments["tool_call_parser"]
    media = takes_media(engine_kwargs)
    profile = ModelProfile(
        open_weights=True,
        text_inputs=True,
        image_inputs=media,
        image_url_inputs=media,
        audio_inputs=media,
        video_inputs=media,
        pdf_inputs=False,
        text_outputs=True,
        reasoning_output=arguments["reasoning_parser"] is not None,
        tool_calling=tools is not None,
        tool_call_streaming=tools is not None,
        tool_choice=tools in _FORCES_CALLS,
        structured_output=tools is None or tools in _CALLS_OR_FORMAT,
        mid_conversation_system_messages=False,
        temperature=True,
    )
    if is_remote:
        for name in _MEDIA:
            profile.pop(name)
    limit = arguments.get("max_model_len")
    if not (isinstance(limit, int) and limit > 0):
        limit = _context_length(Path(spec.path))
    if limit:
        profile["max_input_tokens"] = limit
    return profile


def _context_length(folder: Path) -> int | None:
    file = folder / "config.json"
    if not file.is_file():  # a hub id
        return None
    config = json.loads(file.read_text(encoding="utf-8"))
    text = config.get("text_config")
    length = (text if isinstance(text, dict) else config).get("max_position_embeddings")
    return length if isinstance(length, int) else None
