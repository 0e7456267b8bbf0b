"""Giving a chat model tools to call, and schemas to answer by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

from langchain_ssr.structured_output import Method, Schema, structured_output
from langchain_ssr.tokens import TokenCounter
from langchain_ssr.tools import ToolChoice, ToolLike, convert_choice, convert_tools


class ToolBinder(TokenCounter):
    """A chat model that takes tools and schemas, in all forms that LangChain has."""

    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: ToolChoice = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Give the model tools to call.

        Args:
            tools: Functions, pydantic classes, typed dictionaries, LangChain tools,
                JSON schemas with a title, or OpenAI's tool dictionaries.
            tool_choice: `"auto"` (the default): the model decides. `"any"`,
                `"required"` or `True`: it must call one. A tool's name, or a
                dictionary that names it: it must call this one. `"none"`: no call.
            strict: Hold arguments to their schemas, every argument required. Where a
                call is forced they are held to them anyway, unless it is `False`.
            parallel_tool_calls: `False`: at most one call in an answer.
            **kwargs: Further arguments of the call.

        Returns:
            The model with the tools bound.

        Raises:
            SettingsError: If the choice names no tool, or a tool is no function.

        Example:
            ```python
            def add(a: int, b: int) -> int:
                "Add two numbers."
                return a + b

            caller = llm.bind_tools([add], tool_choice="any")
            caller.invoke("What is 17 + 25?").tool_calls
            ```
        """
        converted = convert_tools(tools, strict)
        given = {
            "tool_choice": convert_choice(tool_choice, converted),
            "parallel_tool_calls": parallel_tool_calls,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return self.bind(tools=converted, **given, **kwargs)

    def with_structured_output(
        self,
        schema: Schema | None = None,
        *,
        method: Method = "json_schema",
        include_raw: bool = False,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Have answers follow a schema, and parse them.

        Args:
            schema: A pydantic class (answers are its instances), or a typed
                dictionary, a JSON schema with a title, or OpenAI's function (answers
                are dictionaries). `None` only with `"json_mode"`.
            method: `"json_schema"`: the answer is JSON that follows the schema.
                `"function_calling"`: the answer is a call of a function with these
                arguments. `"json_mode"`: the answer is any JSON object; ask for its
                fields in the prompt.
            include_raw: Return a dictionary with `raw` (the message), `parsed` and
                `parsing_error` instead of raising the error.
            strict: `True`: every property is required, as OpenAI has it. The schema
                is enforced in any case.
            **kwargs: Further arguments of the call. Beside `"json_schema"` and
                `"json_mode"` these may be `tools`: if the model calls one, `None` is
                parsed, and `include_raw` gives the message with the call.

        Returns:
            A runnable. In a stream it gives the object as it grows; with `include_raw`
            one dictionary at the end, for an error is not known before.

        Raises:
            SettingsError: If the method is unknown, or arguments do not fit it.
            OutputParserException: By the runnable, if an answer cannot be parsed or
                was cut in mid-JSON.

        Example:
            ```python
            from pydantic import BaseModel

            class Person(BaseModel):
                name: str
                age: int

            reader = llm.with_structured_output(Person, include_raw=True)
            reader.invoke("Ann is 34 years old.")["parsed"]
            ```
        """
        return structured_output(
            self, schema, method, include_raw=include_raw, strict=strict, **kwargs
        )
