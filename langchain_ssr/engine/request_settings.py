"""Reads what a client wants of speculation, and says what is wrong with it. Pure.

It stands in `vllm_xargs["ssr"]`; a prediction may also stand where OpenAI has it.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from langchain_ssr.settings import SpeculationSettings, describe

FIELD = "vllm_xargs.ssr"
"""Where the settings stand in a request, for messages."""
PREDICTION = "prediction"
"""OpenAI's field of a request, and the setting of the same name."""
PREDICTION_TOKENS = "prediction_token_ids"
"""What the setting is called on its way to the scheduler, once it is tokens."""


def read_settings(given: Any) -> tuple[dict[str, Any], SpeculationSettings]:
    """Read and check speculation settings.

    Args:
        given: What a client sent: a JSON object in a string.

    Returns:
        The settings that the client named, and all of them, checked.

    Raises:
        ValueError: If they are none. The message names the field.
    """
    try:
        named = json.loads(given)
        return named, SpeculationSettings.model_validate(named)
    except ValidationError as error:
        raise ValueError(f"{FIELD}: {describe(error)}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{FIELD} must be a JSON object in a string: {error}"
        ) from None


def read_prediction(given: Any) -> str:
    """Read OpenAI's field `prediction`.

    Args:
        given: `{"type": "content", "content": ...}`, the content a text or text parts.

    Raises:
        ValueError: If it is none. The message names the field.
    """
    try:
        settings = SpeculationSettings.model_validate({PREDICTION: given})
    except ValidationError as error:
        raise ValueError(describe(error)) from None
    return str(settings.prediction)
