"""A tiny model that is served, and how tests ask it by the openai client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.integration_tests.served import Server

FLAGS = ["--dtype", "float32", "--max-model-len", "1024", "--served-model-name", "tiny"]
SMALL = ["--kv-cache-memory-bytes", str(128 << 20), "--max-num-seqs", "8"]
OPERATOR = [
    *("--ssr-defaults", '{"draft_budget": 8}'),
    *("--ssr-limits", '{"max_drafts": 2}'),
]
ASK: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 60,
    "temperature": 0,
}
THINK = {
    "chat_template_kwargs": {"enable_thinking": True},
    "thinking_token_budget": 40,  # the random model ends its thinking no other way
}
"""vLLM's own fields, nothing of SSR."""


def ask(
    server: Server,
    key: str = "none",
    ssr: Any = None,
    extra: Mapping[str, Any] = THINK,
    **fields: Any,
) -> Any:
    """Ask with vLLM's extra fields; with `ssr`, ours."""
    extra = dict(extra)
    if ssr is not None:
        extra["vllm_xargs"] = {"ssr": ssr if isinstance(ssr, str) else json.dumps(ssr)}
    chat = server.client(key).chat.completions
    return chat.create(**{**ASK, **fields}, extra_body=extra)


def report(response: Any) -> dict[str, Any]:
    """Return what the server said of speculation."""
    told: dict[str, Any] = response.model_extra["metrics"]["ssr"]
    return told
