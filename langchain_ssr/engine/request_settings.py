"""Reads a client's `vllm_xargs["ssr"]`, and says what is wrong with it. Pure."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from langchain_ssr.settings import SpeculationSettings, describe

FIELD = "vllm_xargs.ssr"
"""Where the settings stand in a request, for messages."""


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
