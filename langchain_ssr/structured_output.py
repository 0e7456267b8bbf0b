"""Answers that follow a schema: what is asked for, and how the answer is read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Literal, get_args

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import (
    JsonOutputKeyToolsParser,
    JsonOutputParser,
    PydanticOutputParser,
    PydanticToolsParser,
)
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableGenerator,
    RunnableLambda,
)
from langchain_core.utils.function_calling import convert_to_json_schema
from langchain_core.utils.pydantic import is_basemodel_subclass
from pydantic import BaseModel

from langchain_ssr.errors import SettingsError
from langchain_ssr.tools import convert_tools

Schema = Mapping[str, Any] | type
Method = Literal["json_schema", "function_calling", "json_mode"]


def response_format(schema: Schema, strict: bool | None = None) -> dict[str, Any]:
    """Ask for an answer that follows a schema.

    vLLM always holds an answer to its schema. `strict=True` also does what OpenAI
    wants of a strict schema: every property is required, and no other is allowed.

    Args:
        schema: A pydantic class, a typed dictionary, a JSON schema with a title, or
            OpenAI's function, `json_schema` object or response format.
        strict: As `convert_to_json_schema` of langchain-core has it.

    Returns:
        The request's `response_format`.

    Raises:
        SettingsError: If it is no schema, or one without a name.
    """
    if isinstance(schema, Mapping):
        if schema.get("type") == "json_schema" and "json_schema" in schema:
            return dict(schema)
        if "name" in schema and "schema" in schema:
            return {"type": "json_schema", "json_schema": dict(schema)}
    try:
        converted = convert_to_json_schema(schema, strict=strict)  # type: ignore[arg-type]
        name = converted.pop("title")
        description = converted.pop("description", None)
    except Exception as error:
        raise SettingsError(f"schema: {schema!r} is no schema: {error!r}") from error
    if not (name and isinstance(name, str)):
        raise SettingsError(f"schema: its name must be a string, but is {name!r}")
    body = converted if strict else _body(schema, converted)
    form: dict[str, Any] = {"name": name, "schema": body}
    if description:
        form["description"] = description
    if strict is not None:
        form["strict"] = strict
    return {"type": "json_schema", "json_schema": form}


def _body(schema: Schema, converted: dict[str, Any]) -> dict[str, Any]:
    """Return a schema as it was where langchain-core's conversion would widen it.

    It drops references that recur, and schemas that are no object's.
    """
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_json_schema()
    if isinstance(schema, Mapping) and "title" in schema and "name" not in schema:
        return {k: v for k, v in schema.items() if k not in ("title", "description")}
    return converted


def structured_output(
    llm: BaseChatModel,
    schema: Schema | None,
    method: Method,
    *,
    include_raw: bool,
    strict: bool | None,
    **kwargs: Any,
) -> Runnable[LanguageModelInput, Any]:
    """Put a model that asks for structured output before the parser that reads it.

    Args:
        llm: The chat model.
        schema: What the answer must be; `None` for any object (`"json_mode"` only).
        method: How to ask for it.
        include_raw: Return the message and the parsing error as well.
        strict: As `convert_to_openai_tool` of langchain-core has it.
        **kwargs: Further arguments of the call. `tools` may be called instead of an
            answer; what was parsed is `None` then.

    Raises:
        SettingsError: If the method is unknown, or arguments do not fit it.
    """
    tools = kwargs.pop("tools", None)
    if method not in get_args(Method):
        raise SettingsError(
            f"method: {method!r} is none of {', '.join(get_args(Method))}"
        )
    if schema is None and method != "json_mode":
        raise SettingsError(f"schema: method={method!r} needs one")
    if method == "json_mode" and strict is not None:
        raise SettingsError("strict: there is no schema to enforce in 'json_mode'")
    traced = {"method": method, **({} if method == "json_mode" else {"strict": strict})}
    kwargs["ls_structured_output_format"] = {
        "kwargs": traced,
        "schema": schema if _is_convertible(schema) else None,
    }
    if method == "function_calling":
        if tools:
            raise SettingsError(
                f"tools: method={method!r} forces a call of the schema, so that no "
                "tool could be called; use method='json_schema'"
            )
        name = convert_tools([schema])[0]["function"]["name"]  # type: ignore[list-item]
        kwargs = {"tool_choice": name, "parallel_tool_calls": False, **kwargs}
        bound = llm.bind_tools([schema], strict=strict, **kwargs)  # type: ignore[list-item]
        return _read(bound, _call_parser(schema, name), include_raw=include_raw)
    if schema is None or method == "json_mode":
        kwargs["response_format"] = {"type": "json_object"}
    else:
        kwargs["response_format"] = response_format(schema, strict)
    bound = (
        llm.bind_tools(tools, strict=strict, **kwargs) if tools else llm.bind(**kwargs)
    )
    return _read(bound, _text_parser(schema), include_raw=include_raw)


def _is_convertible(schema: Schema | None) -> bool:
    """Whether langchain-core can trace a schema; it would fail the call otherwise."""
    try:
        convert_to_json_schema(schema)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - foreign code on anything
        return False
    return True


def _call_parser(schema: Any, name: str) -> Runnable[Any, Any]:
    if isinstance(schema, type) and is_basemodel_subclass(schema):
        return PydanticToolsParser(tools=[schema], first_tool_only=True)
    return JsonOutputKeyToolsParser(key_name=name, first_tool_only=True)


class AnswerParser(JsonOutputParser):
    """Reads an answer; a call of a tool in its place is `None`."""

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Parse an answer, or as much as there is of it."""
        answer = result[0]
        if isinstance(answer, ChatGeneration) and _calls(answer.message):
            return None
        return super().parse_result(result, partial=partial)


class PydanticAnswerParser(AnswerParser, PydanticOutputParser[Any]):
    """Reads an answer as an instance of a class."""


def _text_parser(schema: Any) -> Runnable[Any, Any]:
    if isinstance(schema, type) and is_basemodel_subclass(schema):
        return PydanticAnswerParser(pydantic_object=schema)
    return AnswerParser()


def _read(
    llm: Runnable[Any, Any], parser: Runnable[Any, Any], *, include_raw: bool
) -> Runnable[LanguageModelInput, Any]:
    checked = RunnableGenerator(_refuse_cut, _arefuse_cut) | parser
    return llm | (_beside_raw(checked) if include_raw else checked)


def _beside_raw(parser: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return the message beside what was parsed, or beside the error.

    `with_fallbacks`, which langchain-core uses here, lets errors through that come
    after a stream's first part.
    """

    def parse(message: BaseMessage, config: RunnableConfig) -> dict[str, Any]:
        try:
            return _outcome(message, parser.invoke(message, config))
        except Exception as error:  # noqa: BLE001 - it is the result
            return _outcome(message, error=error)

    async def aparse(message: BaseMessage, config: RunnableConfig) -> dict[str, Any]:
        try:
            return _outcome(message, await parser.ainvoke(message, config))
        except Exception as error:  # noqa: BLE001 - it is the result
            return _outcome(message, error=error)

    return RunnableLambda(parse, aparse)


def _outcome(
    raw: BaseMessage, parsed: Any = None, error: Exception | None = None
) -> dict[str, Any]:
    return {"raw": raw, "parsed": parsed, "parsing_error": error}


# --- answers that were cut ------------------------------------------------------------
# langchain-core's parsers complete JSON that ends too early. In a stream that gives the
# objects as they grow; at the end it would pass half an answer off as a whole one.


def _refuse_cut(messages: Iterator[BaseMessage]) -> Iterator[BaseMessage]:
    parts = []
    for message in messages:
        parts.append(message)
        _check_end(parts)
        yield message


async def _arefuse_cut(
    messages: AsyncIterator[BaseMessage],
) -> AsyncIterator[BaseMessage]:
    parts = []
    async for message in messages:
        parts.append(message)
        _check_end(parts)
        yield message


def _check_end(parts: list[BaseMessage]) -> None:
    """Raise if these are all parts of a message, and its JSON ends too early.

    Raises:
        OutputParserException: With the text as its `llm_output`.
    """
    metadata = parts[-1].response_metadata
    stopped_by_string = isinstance(metadata.get("stop_reason"), str)
    if metadata.get("finish_reason") != "length" and not stopped_by_string:
        return
    first, *others = parts
    whole = first + others if isinstance(first, AIMessageChunk) else first
    if _is_complete(whole):
        return
    text = "".join(
        [str(call["args"]) for call in _calls(whole)] or [whole.text]
    ).strip()
    cause = "a stop string" if stopped_by_string else "max_tokens"
    what = f"{text!r} is no complete JSON" if text else "it had not begun"
    raise OutputParserException(
        f"The answer was cut by {cause}: {what}", llm_output=text
    )


def _calls(message: BaseMessage) -> list[Any]:
    if not isinstance(message, AIMessage):
        return []
    return [*message.tool_calls, *message.invalid_tool_calls]


def _is_complete(message: BaseMessage) -> bool:
    if calls := _calls(message):
        return all(call["type"] == "tool_call" for call in calls)
    try:
        json.loads(message.text)
    except ValueError:
        return False
    return True
