"""Requests of one's own: files of them, and a recorder that writes such a file.

JSON lines. Each is one request: `messages` (chat-completions JSON) and, where they are
not the usual, `tools`, `settings` (of the call: `max_tokens`, `tool_choice`, ...), `id`
and `conversation`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_messages

from langchain_ssr.bench.files import read_lines
from langchain_ssr.bench.items import Item, messages_to_json
from langchain_ssr.calls import REQUEST_FIELDS, split_call
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import merge_call_settings

_FIELDS = {"messages", "tools", "settings", "id", "conversation"}
_CHOICES = tuple(name for name in REQUEST_FIELDS if name != "tools")


def read_requests(
    path: Path,
    workload: str,
    num: int | None = None,
    *,
    conversation: str | None = None,
) -> list[Item]:
    """Read requests.

    Args:
        path: A file of JSON lines.
        workload: The name under which they are reported.
        num: How many, from the first; None for all.
        conversation: The conversation of requests that name none.

    Raises:
        SettingsError: If it cannot be read, or a line is no request.
    """
    items = [
        _item(f"{path}, line {number}", entry, f"{workload}-{number}", workload)
        for number, entry in enumerate(read_lines(path)[:num], 1)
    ]
    if not items:
        raise SettingsError(f"{path} has no requests")
    if len({item.id for item in items}) < len(items):
        raise SettingsError(f"{path}: an id occurs twice")
    return [
        Item(**{**vars(item), "conversation": item.conversation or conversation})
        for item in items
    ]


def _item(where: str, entry: Mapping[str, Any], name: str, workload: str) -> Item:
    if unknown := set(entry) - _FIELDS:
        raise SettingsError(f"{where}: {min(unknown)!r} is no field of a request")
    if not entry.get("messages"):
        raise SettingsError(f"{where}: there are no messages")
    try:
        convert_to_messages(entry["messages"])
        _, settings = split_call(dict(entry.get("settings") or {}))
        merge_call_settings(settings)
    except (ValueError, TypeError, KeyError, NotImplementedError) as error:
        raise SettingsError(f"{where}: {error}") from error
    return Item(
        str(entry.get("id") or name),
        workload,
        entry["messages"],
        tools=entry.get("tools") or (),
        settings=entry.get("settings") or {},
        conversation=entry.get("conversation"),
    )


class TraceRecorder(BaseCallbackHandler):
    """Writes down the requests of chat models, for `langchain-ssr bench --trace`.

    Messages and tools are kept, and how tools and output formats were asked for;
    sampling settings are not, for the benchmark has its own. It takes what any chat
    model is asked that binds tools as OpenAI's API has them.

    Example:
        ```python
        from langchain_ssr.bench.trace import TraceRecorder

        recorder = TraceRecorder("requests.jsonl")
        llm.invoke("Hi", {"callbacks": [recorder]})  # so with chains and agents
        ```
    """

    def __init__(self, path: str | Path) -> None:
        """Begin; the file grows with every request.

        Args:
            path: The file. What is there stays.
        """
        super().__init__()
        self._path = Path(path)
        self._lock = threading.Lock()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,  # noqa: ARG002
        **kwargs: Any,
    ) -> None:
        """Write a request down. Called by LangChain."""
        called = kwargs.get("invocation_params") or {}
        settings = {name: called[name] for name in _CHOICES if called.get(name)}
        for conversation in messages:
            entry: dict[str, Any] = {"messages": messages_to_json(conversation)}
            if called.get("tools"):
                entry["tools"] = called["tools"]
            if settings:
                entry["settings"] = settings
            line = json.dumps(entry, ensure_ascii=False)
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
