"""The arguments of a call, taken apart: settings, and other fields of its request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_ssr.structured_output import response_format
from langchain_ssr.tools import check_fields, convert_choice, enforce_schemas

TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls")
REQUEST_FIELDS = (*TOOL_FIELDS, "response_format")
"""Fields of a request that are no settings; `bind` and the like pass them."""

_OF_CORE = ("stream", "stream_usage", "ls_structured_output_format")
"""Arguments that langchain-core itself passes along or reads."""


def split_call(
    call: Mapping[str, Any], stop: Sequence[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take a call's arguments apart.

    Args:
        call: What was given to `invoke` and the like, or bound before.
        stop: Stop strings of the call; they win over those in `call`.

    Returns:
        Fields of the request, and settings by name or alias.

    Raises:
        SettingsError: If tools or a response format are of a form that cannot be.
    """
    fields = {name: call[name] for name in REQUEST_FIELDS if call.get(name) is not None}
    if not fields.get("tools"):  # an agent without tools binds an empty list
        for name in TOOL_FIELDS:
            fields.pop(name, None)
    if isinstance(form := fields.get("response_format"), type):
        fields["response_format"] = response_format(form)
    check_fields(fields)
    if "tool_choice" in fields:
        fields["tool_choice"] = convert_choice(fields["tool_choice"], fields["tools"])
    settings = {
        name: value
        for name, value in call.items()
        if name not in REQUEST_FIELDS and name not in _OF_CORE
    }
    if stop is not None:
        settings["stop"] = stop
    return enforce_schemas(fields), settings
