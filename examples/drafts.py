"""A stream with early drafts: what the answer may be, while the model still thinks.

Run it with `python examples/drafts.py` (`--json` for machines, `--model` for another
model). A draft is a guess: only what comes as `content` is the answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TextIO

from langchain_ssr import ChatSSR, DraftText, SpeculationStats, get_speculation_callback

TASK = """\
Write a Python class `Playlist`. Make it a dataclass. Add docstrings.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `set_owner` to set `owner` to a new value"""


class Screen:
    """Writes thinking, drafts and the answer as they come, each under its name."""

    def __init__(self, out: TextIO) -> None:
        """Begin with nothing written."""
        self._out = out
        self._name = ""

    def write(self, name: str, text: str) -> None:
        """Go on with what `name` writes, under a new heading if it was not the last."""
        if not text:
            return
        if name != self._name:
            self._out.write(f"\n--- {name}\n")
            self._name = name
        self._out.write(text)
        self._out.flush()


def run(llm: ChatSSR, out: TextIO, task: str = TASK) -> dict[str, Any]:
    """Stream the answer to a task.

    Returns:
        The reasoning, the answer, the drafts' texts, how many of them began before the
        answer did, and the statistics.
    """
    screen, drafts = Screen(out), defaultdict[int, str](str)
    said, early = None, 0

    def see(draft: DraftText) -> None:
        drafts[draft.index] += draft.text
        screen.write(f"draft {draft.index + 1}", draft.text)

    with get_speculation_callback(on_draft=see):
        for chunk in llm.stream(task):
            if chunk.content and not (said and said.content):
                early = len(drafts)
            said = chunk if said is None else said + chunk
            thought = chunk.additional_kwargs.get("reasoning_content", "")
            screen.write("thinking", thought)
            screen.write("answer", chunk.text)
    if said is None:
        raise RuntimeError("the stream was empty")
    return {
        "reasoning": said.additional_kwargs.get("reasoning_content", ""),
        "answer": said.text,
        "drafts": [drafts[index] for index in sorted(drafts)],
        "num_early_drafts": early,
        "statistics": SpeculationStats.from_message(said).to_dict(),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and stream."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--json", action="store_true", help="JSON on stdout")
    arguments = parser.parse_args(argv)
    out = sys.stderr if arguments.json else sys.stdout
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1500) as llm:
        told = {"model": arguments.model, **run(llm, out)}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        print(f"\n\n{SpeculationStats.model_validate(told['statistics'])}")


if __name__ == "__main__":
    main()
