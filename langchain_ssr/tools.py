"""Tools and the choice among them, as vLLM takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import suggest

ToolLike = Mapping[str, Any] | type | Callable[..., Any] | BaseTool
"""What can be bound: a function, a class, a tool, or a schema."""
ToolChoice = Mapping[str, Any] | str | bool | None

_FORCED = ("any", "required")
_NAMES_THAT_CHOOSE = (*_FORCED, "auto", "none")


def convert_tools(
    tools: Sequence[ToolLike], strict: bool | None = None
) -> list[dict[str, Any]]:
    """Write tools as the chat-completions API takes them.

    Args:
        tools: Functions, pydantic classes, typed dictionaries, LangChain tools, JSON
            schemas with a title, or tools that are written so already.
        strict: As `convert_to_openai_tool` of langchain-core has it.

    Raises:
        SettingsError: If a tool is none that a model calls by a function's name.
    """
    return [_convert(tool, strict) for tool in tools]


def _convert(tool: ToolLike, strict: bool | None) -> dict[str, Any]:
    try:
        converted = convert_to_openai_tool(tool, strict=strict)
    except Exception as error:
        raise SettingsError(f"tools: {tool!r} is no tool: {error!r}") from error
    function = converted.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    if converted.get("type") != "function" or not (name and isinstance(name, str)):
        raise SettingsError(
            f"tools: a tool must be a function with a name, but one is of type "
            f"{converted.get('type')!r}: {converted}"
        )
    parameters = converted["function"].get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise SettingsError(
            f"tools: the parameters of {name!r} must be a JSON schema, but are "
            f"{parameters!r}"
        )
    return converted


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse tools and a response format that are not even of the right form.

    What they hold is for the engine to check.

    Args:
        fields: The request's `tools` and `response_format`, if any.

    Raises:
        SettingsError: If the tools are no list of dictionaries with a function, or
            the format is no dictionary.
    """
    tools, form = fields.get("tools", []), fields.get("response_format", {})
    listed = isinstance(tools, Sequence) and not isinstance(tools, str)
    if not (listed and all(_holds_function(tool) for tool in tools)):
        raise SettingsError(
            f"tools: {tools!r} is no list of OpenAI's tools; bind_tools(...) makes one"
        )
    if not isinstance(form, Mapping):
        raise SettingsError(
            f"response_format: {form!r} is no dictionary; with_structured_output(...) "
            "makes one"
        )


def _holds_function(tool: object) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping)


def convert_choice(
    choice: ToolChoice, tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | str | None:
    """Write a tool choice as the chat-completions API takes it.

    Args:
        choice: `"auto"`, `"none"`, `"any"` (the same as `"required"` and `True`), a
            tool's name, or a dictionary that names a tool. `None` and `False` leave
            it to the engine, which is `"auto"`.
        tools: The converted tools.

    Raises:
        SettingsError: If there is no such tool, or none at all to be called.
    """
    if choice is None or choice is False:
        return None
    names = [tool["function"].get("name") for tool in tools]
    name = _name_in(choice)
    if name in names:
        return {"type": "function", "function": {"name": name}}
    if choice is True or name in _FORCED:
        if not names:
            raise SettingsError("tool_choice: a call is required, but no tool is bound")
        return "required"
    if name in _NAMES_THAT_CHOOSE:
        return name
    raise SettingsError(
        f"tool_choice: there is no tool {name if name is not None else choice!r}. "
        f"Bound are {', '.join(names) or 'none'}."
        f"{suggest(name or '', [*names, *_NAMES_THAT_CHOOSE])}"
    )


def _name_in(choice: Mapping[str, Any] | str | bool) -> str | None:
    """Find the name in a choice, OpenAI's or Anthropic's dictionaries included."""
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, Mapping):
        return None
    function = choice.get("function")
    holder = function if isinstance(function, Mapping) else choice
    name = holder.get("name", choice.get("type"))
    return name if isinstance(name, str) else None


def enforce_schemas(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Mark the tools of a request as strict where vLLM has to hold to their schemas.

    vLLM's grammar for a forced call covers the call's frame; the arguments are free
    unless the tool is strict. And beside a response format the grammar allows no call
    at all unless a tool is strict: an agent could never use its tools. The schemas
    themselves stay as they are, optional arguments included. A tool that says what it
    is (`strict` true or false) is left alone.

    Args:
        fields: The request's `tools`, `tool_choice` and `response_format`, if any.

    Returns:
        The fields, with copies of the tools that were marked.
    """
    choice, form = fields.get("tool_choice"), fields.get("response_format")
    forced = choice == "required" or isinstance(choice, Mapping)
    formatted = isinstance(form, Mapping) and form.get("type", "text") != "text"
    if not fields.get("tools") or not (forced or formatted):
        return dict(fields)
    return {**fields, "tools": [_strict(tool) for tool in fields["tools"]]}


def _strict(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    if not isinstance(function, Mapping) or function.get("strict") is not None:
        return tool
    return {**tool, "function": {**function, "strict": True}}
