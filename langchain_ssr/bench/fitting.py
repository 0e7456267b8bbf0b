"""Which prompts fit a model's context, counted with its tokenizer before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import convert_to_messages

from langchain_ssr.bench.items import Item, Misfit
from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.profile import model_profile

OUTPUT_TOKENS = 2048
"""Room for an answer whose length nobody has limited: that of LongProc's 2K tasks."""


def misfit_of(
    model: str, engine_kwargs: Mapping[str, Any], settings: Mapping[str, Any]
) -> Misfit:
    """Return what tells the requests that are too long.

    Args:
        model: The model.
        engine_kwargs: Arguments of `vllm serve`.
        settings: Settings of every call: the room that the output needs is
            `max_tokens`, or else `thinking_budget` and `OUTPUT_TOKENS`.

    Returns:
        Its check. Where the model's context is not known without an engine, or the
        model is a hub id, every request fits: the engine will say.
    """
    context = model_profile(model, engine_kwargs).get("max_input_tokens")
    if context is None:
        return lambda _: None
    room = settings.get("max_tokens")
    if room is None:
        room = (settings.get("thinking_budget") or 0) + OUTPUT_TOKENS
    llm = ChatSSR(model=model, engine_kwargs=dict(engine_kwargs))

    def misfit(item: Item) -> str | None:
        messages = convert_to_messages([dict(message) for message in item.messages])
        count = llm.get_num_tokens_from_messages(messages)
        if count + room <= context:
            return None
        return (
            f"{count} tokens of prompt and {room} of output do not fit into the "
            f"context of {context}"
        )

    return misfit
