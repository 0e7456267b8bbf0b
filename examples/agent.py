"""An agent with two tools, and what speculation did in each of its model calls.

The model writes a Python class with one tool and has it tested with the other. Run it
with `python examples/agent.py` (`--json` for machines, `--model` for another model).
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from langchain_ssr import (
    ChatSSR,
    SpeculationStats,
    SpeculationTotals,
    get_speculation_callback,
)

TASK = """\
Write a Python class `Playlist`. Make it a dataclass. No docstrings.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `set_owner` to set `owner` to a new value
Write it to playlist.py and run the tests."""
WANTED = {"Playlist", "remove_song", "set_owner"}


def make_tools(files: dict[str, str]) -> list[BaseTool]:
    """Make the agent's tools, which work on files in memory.

    The test tool looks for names only: code of a model is run in a sandbox, or not at
    all.
    """

    @tool
    def write_file(path: str, content: str) -> str:
        """Write the file to a path."""
        files[path] = content
        return f"Wrote {path}."

    @tool
    def run_tests(path: str) -> str:
        """Run the tests of a file."""
        if path not in files:
            return f"Error: there is no file '{path}'."
        try:
            nodes = list(ast.walk(ast.parse(files[path])))
        except SyntaxError as error:
            return f"FAILED: {error.msg} in line {error.lineno}"
        found = {
            n.name for n in nodes if isinstance(n, (ast.ClassDef, ast.FunctionDef))
        }
        if missing := sorted(WANTED - found):
            return f"FAILED: there is no `{missing[0]}`"
        return f"{len(WANTED)} passed"

    return [write_file, run_tests]


def run(llm: ChatSSR, task: str = TASK) -> dict[str, Any]:
    """Let an agent do the task.

    Returns:
        The answer, the tools called, the files written, the cached input tokens of each
        of the model's calls, and what speculation did: in each call, and in total. The
        counts of the calls sum to those of the total.
    """
    files: dict[str, str] = {}
    calls: list[SpeculationStats] = []
    agent = create_agent(llm, make_tools(files))
    with get_speculation_callback(on_verify=calls.append) as callback:
        state = agent.invoke(
            {"messages": [{"role": "user", "content": task}]}, {"recursion_limit": 20}
        )
    messages: list[BaseMessage] = state["messages"]
    said = [message for message in messages if isinstance(message, AIMessage)]
    return {
        "answer": said[-1].text,
        "tools": [call["name"] for message in said for call in message.tool_calls],
        "files": files,
        "calls": [SpeculationTotals.of(stats).to_dict() for stats in calls],
        "cached_tokens": [cached_tokens(message) for message in said],
        "total": callback.total.to_dict(),
    }


def cached_tokens(message: AIMessage) -> int:
    """Return how many of a call's input tokens came from the prefix cache."""
    usage = message.usage_metadata or {}
    return usage.get("input_token_details", {}).get("cache_read", 0)


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    for path, content in told["files"].items():
        print(f"--- {path}\n{content}")
    for number, (name, call) in enumerate(
        zip([*told["tools"], "(answer)"], told["calls"], strict=False), 1
    ):
        print(f"call {number}, {name}: {SpeculationTotals.model_validate(call)}")
    print(f"total: {SpeculationTotals.model_validate(told['total'])}")
    print(told["answer"])


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and run the agent."""
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
