"""A file is written again after a change, with the old one as the prediction.

The model is told what the class must be like; the file that it has become too old for
is not in the prompt, but in `prediction`. It is asked twice, without and with it: in
float32 both answers are the same, and the second takes fewer steps. Run it with
`python examples/edit_file.py` (`--json` for machines, `--model` for another model).
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
from collections.abc import Sequence
from typing import Any

from langchain_ssr import ChatSSR, SpeculationTotals

TASK = """\
Write a Python class `Playlist`. Make it a dataclass. No docstrings.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
- `play_count`: int = 0
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `set_owner` to set `owner` to a new value"""
OLD = """\
from dataclasses import dataclass, field


@dataclass
class Playlist:
    owner: str
    song_titles: list[str] = field(default_factory=list)

    def remove_song(self, song: str) -> None:
        if song not in self.song_titles:
            raise KeyError("unknown song")
        self.song_titles.remove(song)

    def set_owner(self, value: str) -> None:
        self.owner = value
"""
_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)


def run(llm: ChatSSR, task: str = TASK, old: str = OLD) -> dict[str, Any]:
    """Ask without and with the prediction.

    Returns:
        The new file, the changes as a unified diff, whether both answers are the same,
        and the counts of both calls.
    """
    plain = llm.invoke(task)
    predicted = llm.invoke(task, prediction=old)
    fenced = _FENCED.search(predicted.text)
    new = fenced[1] if fenced else predicted.text
    diff = difflib.unified_diff(
        old.splitlines(), new.splitlines(), "old", "new", lineterm=""
    )
    return {
        "new": new,
        "diff": list(diff),
        "same": predicted.text == plain.text,
        "without": SpeculationTotals.of_messages([plain]).to_dict(),
        "with": SpeculationTotals.of_messages([predicted]).to_dict(),
    }


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    print("\n".join(told["diff"]) or "no change")
    print("\nboth answers are " + ("the same" if told["same"] else "different"))
    for name in ("without", "with"):
        totals = SpeculationTotals.model_validate(told[name])
        accepted = totals.sources["prediction"].num_accepted_draft_tokens
        print(f"{name} the prediction: {totals}; {accepted} tokens of the prediction")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and ask."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1500) as llm:
        told = {"model": arguments.model, **run(llm)}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
