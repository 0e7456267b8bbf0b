"""What users and tools say stays text, also if it reads like a control token.

A chat template writes `<|im_end|>` between the turns, and the tokenizer turns that text
into one token wherever it stands: so also in what a user says, or in a web page that a
tool returns, which thus could end its turn and begin another, or end the reasoning.
The model may pass it on as an argument of a call, and then it stands in a turn of its
own. Here such text is kept out of the template and comes back as the tokens of its
letters.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_TRUSTED = ("system", "developer", "assistant")
"""Whose content this is not about: the developer's own, and the model's."""
_TEXTS = ("text", "refusal", "thinking")
"""Fields of a content part whose text vLLM gives to the template."""


class PlainText:
    """Hides control text from a chat template, and puts it back.

    Args:
        tokenizer: The model's tokenizer.
        template: The chat template's text.
    """

    def __init__(self, tokenizer: Any, template: str) -> None:
        """Find the control tokens: the special ones, and those of the template."""
        self._tokenizer = tokenizer
        special = set(tokenizer.all_special_tokens)
        control = [
            token
            for token in {*tokenizer.get_added_vocab(), *special}
            if len(token.strip()) > 1 and (token in special or token in template)
        ]
        control.sort(key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, control)) or r"(?!)")

    def hide(self, messages: Iterable[Mapping[str, Any]]) -> Hidden | None:
        """Replace control text; None if there is none.

        Args:
            messages: The messages of a chat request.
        """
        hidden = Hidden(self._control)
        for message in messages:
            hidden.add(message)
        return hidden if hidden.texts else None

    def put_back(
        self, hidden: Hidden, prompt: Any, *, add_special_tokens: bool
    ) -> bool:
        """Give a rendered prompt its control text back, as ordinary tokens.

        Args:
            hidden: What `hide` has returned.
            prompt: vLLM's engine input, changed in place.
            add_special_tokens: Whether the prompt begins with the tokenizer's own.

        Returns:
            Whether it could be done: the prompt is text, and the template has left the
            placeholders as they were.
        """
        text = prompt.get("prompt")
        if prompt.get("type") != "token" or not isinstance(text, str):
            return False
        first, *others = hidden.placeholder.split(text)
        if hidden.mark in "".join([first, *others[1::2]]):
            return False
        ids = self._encode(first, special=add_special_tokens)
        whole = first
        for number, after in zip(others[::2], others[1::2], strict=True):
            control = hidden.texts[int(number)]
            # Without its first letter it is no control token, and neither is that.
            ids += self._encode(control[:1]) + self._encode(control[1:])
            ids += self._encode(after)
            whole += control + after
        prompt["prompt_token_ids"], prompt["prompt"] = ids, whole
        prompt.pop("prompt_token_offsets", None)
        return True

    def _encode(self, text: str, *, special: bool = False) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=special))


class Hidden:
    """Messages whose control text is replaced by placeholders.

    Attributes:
        messages: The messages.
        texts: The control texts, by the numbers of their placeholders.
        mark: Letters that are in each placeholder, and nowhere else.
        placeholder: Matches one, with its number as group. It has nothing that a
            template would escape in JSON or in Python's notation of a list.
    """

    def __init__(self, control: re.Pattern[str]) -> None:
        self.messages: list[Mapping[str, Any]] = []
        self.texts: list[str] = []
        self.mark = secrets.token_hex(3)
        self.placeholder = re.compile(rf"\[{self.mark}-([0-9]+)\]")
        self._control = control

    def add(self, message: Mapping[str, Any]) -> None:
        """Add a message: what a user or a tool says, and the calls of the model."""
        content, calls = message.get("content"), message.get("tool_calls")
        changed: dict[str, Any] = {}
        if isinstance(content, Sequence) and message.get("role") not in _TRUSTED:
            changed["content"] = (
                self._text(content)
                if isinstance(content, str)
                else [self._part(part) for part in content]
            )
        if isinstance(calls, list):
            changed["tool_calls"] = [self._call(call) for call in calls]
        self.messages.append({**message, **changed} if changed else message)

    def _part(self, part: Any) -> Any:
        if not isinstance(part, Mapping):
            return self._text(part)
        return {**part, **{k: self._text(part[k]) for k in _TEXTS if k in part}}

    def _call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        function = call.get("function")
        if not isinstance(function, Mapping):
            return call
        name, arguments = function.get("name"), function.get("arguments")
        changed = {"name": self._text(name), "arguments": self._arguments(arguments)}
        return {**call, "function": {**function, **changed}}

    def _arguments(self, given: Any) -> Any:
        """Replace control text in a call's arguments, which may be JSON as text."""
        if not isinstance(given, str):
            return self._json(given)
        try:
            return json.dumps(self._json(json.loads(given)), ensure_ascii=False)
        except ValueError:
            return given  # vLLM gives the template none

    def _json(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {self._text(k): self._json(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._json(item) for item in value]
        return self._text(value)

    def _text(self, text: Any) -> Any:
        return self._control.sub(self._keep, text) if isinstance(text, str) else text

    def _keep(self, match: re.Match[str]) -> str:
        """Keep a control text, and return its placeholder."""
        self.texts.append(match[0])
        return f"[{self.mark}-{len(self.texts) - 1}]"
