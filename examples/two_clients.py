"""One server, two clients: ChatSSR with drafts, and a plain OpenAI client.

    langchain-ssr serve demo --port 8000
    python examples/two_clients.py [--json]

Both ask the same question. ChatSSR hears drafts while the model still thinks, and is
told what speculation did. The other client knows nothing of it, and gets the same
answer in the same few steps.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from openai import OpenAI

from langchain_ssr import ChatSSR, SpeculationStats, get_speculation_callback

QUESTION = """\
Write a Python class `Playlist`. Make it a dataclass. Add docstrings.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `set_owner` to set `owner` to a new value"""
MAX_TOKENS = 1500


def ask_chat_ssr(url: str, model: str, key: str) -> dict[str, Any]:
    """Ask as ChatSSR, and listen to the drafts.

    Returns:
        The answer, what was heard of each draft, and one line of statistics.
    """
    llm = ChatSSR(
        model=model,
        base_url=url,
        api_key=key,
        temperature=0,
        max_tokens=MAX_TOKENS,
        enable_thinking=True,
        draft_budget=64,
    )
    drafts: dict[int, str] = {}
    with get_speculation_callback(
        on_draft=lambda draft: drafts.update(
            {draft.index: drafts.get(draft.index, "") + draft.text}
        )
    ):
        answer = llm.invoke(QUESTION)
    return {
        "answer": answer.text,
        "reasoning": answer.additional_kwargs.get("reasoning_content", ""),
        "drafts": [drafts[index] for index in sorted(drafts)],
        "speculation": str(SpeculationStats.from_message(answer)),
    }


def ask_openai(url: str, model: str, key: str) -> dict[str, Any]:
    """Ask as a client that knows OpenAI's API, and vLLM's field for thinking.

    Returns:
        The answer, and vLLM's own count of steps that proposed tokens.
    """
    response = OpenAI(base_url=url, api_key=key).chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": QUESTION}],
        temperature=0,
        max_completion_tokens=MAX_TOKENS,
        extra_body={"chat_template_kwargs": {"enable_thinking": True}},
    )
    metrics = (response.model_extra or {}).get("metrics") or {}
    return {
        "answer": response.choices[0].message.content or "",
        "speculative_decoding": metrics.get("speculative_decoding"),
    }


def run(url: str, model: str | None, key: str) -> dict[str, Any]:
    """Let both clients ask.

    Args:
        url: The server's OpenAI API.
        model: The served model's name; None for the first that the server has.
        key: The server's key; anything if it wants none.
    """
    if model is None:
        model = OpenAI(base_url=url, api_key=key).models.list().data[0].id
    told = {
        "model": model,
        "chat_ssr": ask_chat_ssr(url, model, key),
        "openai": ask_openai(url, model, key),
    }
    told["same_answer"] = told["chat_ssr"]["answer"] == told["openai"]["answer"]
    return told


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    for number, draft in enumerate(told["chat_ssr"]["drafts"], 1):
        print(f"--- draft {number}\n{draft.strip()}")
    print(f"--- answer\n{told['chat_ssr']['answer'].strip()}")
    print(f"--- ChatSSR: {told['chat_ssr']['speculation']}")
    block = told["openai"]["speculative_decoding"] or {}
    print(
        f"--- the other client: {block.get('num_accepted_draft_tokens', 0)} tokens "
        f"accepted; the same answer: {'yes' if told['same_answer'] else 'no'}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://localhost:8000/v1")
    parser.add_argument("--model", help="default: the first that the server has")
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    told = run(arguments.url, arguments.model, arguments.api_key)
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
