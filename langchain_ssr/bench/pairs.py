"""Writes drafts and final answers of a user's model, for `benchmarks.replay`.

One case a line: token ids of the prompt, of each draft and of the answer, and of the
reasoning beside them. Drafts and answers are tokenized again from their texts, so a
token here may be two there. Answers with tool calls are left out: how the model wrote
the call is not known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import convert_to_messages

from langchain_ssr.bench.files import read_lines
from langchain_ssr.bench.items import Item
from langchain_ssr.callbacks import DraftText, get_speculation_callback
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.content_blocks import REASONING_KEY
from langchain_ssr.errors import ContextLengthError


def record_pairs(
    llm: ChatSSR,
    items: Sequence[Item],
    settings: Mapping[str, Any],
    path: Path,
    progress: Callable[[str], None],
) -> None:
    """Answer requests with drafts, and append a case for each.

    Args:
        llm: A model with SSR.
        items: The requests; those that the file has already are left out.
        settings: Settings of every call.
        path: The file.
        progress: Called after each request with a word on it.
    """
    done = {case.get("item") for case in read_lines(path)} if path.exists() else set()
    for item in items:
        if item.id in done:
            progress(f"{item.id}: was there")
            continue
        try:
            case = _case(llm, item, settings)
        except ContextLengthError as error:
            progress(f"{item.id}: skipped, {error}")
            continue
        if case is None:
            progress(f"{item.id}: skipped, the answer is a call, or none")
            continue
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(case) + "\n")
        progress(f"{item.id}: {len(case['drafts_ids'])} drafts")


def _case(
    llm: ChatSSR, item: Item, settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    drafts: dict[int, str] = {}

    def collect(draft: DraftText) -> None:
        drafts[draft.index] = drafts.get(draft.index, "") + draft.text

    messages = convert_to_messages([dict(message) for message in item.messages])
    call = {**settings, **item.settings}
    if item.tools:
        call["tools"] = [dict(tool) for tool in item.tools]
    with get_speculation_callback(on_draft=collect):
        answer = llm.invoke(messages, **call)
    text = answer.text.lstrip("\n")
    if answer.tool_calls or answer.invalid_tool_calls or not text:
        return None
    return {
        "item": item.id,
        "prompt_ids": llm.get_prompt_token_ids(messages, **call),
        "reasoning_ids": llm.get_token_ids(
            answer.additional_kwargs.get(REASONING_KEY, "")
        ),
        "drafts_ids": [
            llm.get_token_ids(drafts[index].lstrip("\n")) for index in sorted(drafts)
        ],
        "final_ids": llm.get_token_ids(text),
    }
