"""Finds a model's reasoning markers in what vLLM already knows of it."""

from __future__ import annotations

from typing import Any

from vllm.logger import init_logger
from vllm.platforms import current_platform
from vllm.reasoning import ReasoningParserManager

from langchain_ssr.engine.lifecycle import Markers

logger = init_logger(__name__)


def find_markers(vllm_config: Any, tokenizer: Any) -> Markers | None:
    """Return the markers of the model's reasoning parser.

    Args:
        vllm_config: vLLM's configuration, with the name of the parser.
        tokenizer: The model's tokenizer.

    Returns:
        None for a model without a parser, or whose parser has no marker tokens: such a
        model is served without drafts.
    """
    name = vllm_config.structured_outputs_config.reasoning_parser
    config = getattr(vllm_config, "reasoning_config", None)
    if not name or config is None:
        return None
    try:
        parser = ReasoningParserManager.get_reasoning_parser(name)(tokenizer)
        config.initialize_token_ids(vllm_config.model_config)
    except Exception:
        logger.exception("no drafts: the reasoning parser has no usable markers")
        return None
    end = tuple(config.natural_reasoning_end_token_ids or ())
    if not end:
        return None
    ends = getattr(parser, "reasoning_end_token_ids", None) or frozenset()
    return Markers(
        start=tuple(config.reasoning_start_token_ids or ()),
        end=end,
        implicit=frozenset(ends) - set(end),
        close=tuple(config.reasoning_end_token_ids or end),
    )


def is_hybrid(vllm_config: Any) -> bool:
    """Whether this is a model with recurrent layers on a CPU.

    vLLM's kernels that verify proposals for such layers need Triton, which the CPU
    build does not have.
    """
    return bool(current_platform.is_cpu() and vllm_config.model_config.is_hybrid)
