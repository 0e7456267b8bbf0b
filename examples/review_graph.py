"""A LangGraph graph in which code is written, reviewed and written again.

The review is a program, so that it can be trusted. The next try gets the last one as
its `prediction`, since most of it will stay. Run it with
`python examples/review_graph.py` (`--json` for machines, `--model` for another model).
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langchain_ssr import ChatSSR, SpeculationTotals, get_speculation_callback

TASK = """\
Write a Python class `Playlist`. Make it a dataclass.
The fields are:
- `owner`: str
- `song_titles`: list[str], empty by default
- `play_count`: int = 0
It needs these methods:
- `remove_song` to remove a song from `song_titles` (`KeyError` if it is not there)
- `set_owner` to set `owner` to a new value"""
WANTED = ("Playlist", "remove_song", "set_owner")
_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)


class State(MessagesState):
    """The conversation, and what the last review found."""

    problem: str


def code_of(answer: str) -> str:
    """Return the code in an answer: what is fenced, or else all of it."""
    fenced = _FENCED.search(answer)
    return (fenced[1] if fenced else answer).strip()


def problem_of(code: str) -> str:
    """Say what is wrong with the code; nothing if it is right. It is not run.

    The review is stricter than the task: it wants docstrings, too.
    """
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError as error:
        return f"There is a syntax error in line {error.lineno}: {error.msg}."
    named = [n for n in nodes if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
    found = {node.name for node in named}
    if missing := [name for name in WANTED if name not in found]:
        return f"There is no `{missing[0]}`."
    if bare := [node.name for node in named if not ast.get_docstring(node)]:
        return f"There is no docstring in `{bare[0]}`. Add docstrings."
    return ""


def make_graph(llm: ChatSSR, max_tries: int = 3) -> CompiledStateGraph:
    """Make the graph: write, review, and back until it is right or tries are spent."""

    def write(state: State) -> dict[str, Any]:
        before = [message for message in state["messages"] if message.type == "ai"]
        last = before[-1].text if before else None
        return {"messages": [llm.invoke(state["messages"], prediction=last)]}

    def review(state: State) -> dict[str, Any]:
        problem = problem_of(code_of(state["messages"][-1].text))
        if not problem:
            return {"problem": ""}
        again = HumanMessage(f"{problem} Write the whole class again.")
        return {"problem": problem, "messages": [again]}

    def next_step(state: State) -> Literal["write", "__end__"]:
        tries = sum(message.type == "ai" for message in state["messages"])
        return "write" if state["problem"] and tries < max_tries else END

    graph = StateGraph(State)
    graph.add_node("write", write)
    graph.add_node("review", review)
    graph.add_edge(START, "write")
    graph.add_edge("write", "review")
    graph.add_conditional_edges("review", next_step)
    return graph.compile()


def run(llm: ChatSSR, task: str = TASK, max_tries: int = 3) -> dict[str, Any]:
    """Have code written until the review finds nothing.

    Returns:
        The code, what is still wrong with it, the number of tries, the statistics of
        each and their total.
    """
    calls = []
    with get_speculation_callback(on_verify=calls.append) as callback:
        graph = make_graph(llm, max_tries)
        state = graph.invoke({"messages": [HumanMessage(task)], "problem": ""})
    said = [message for message in state["messages"] if message.type == "ai"]
    return {
        "code": code_of(said[-1].text),
        "problem": state["problem"],
        "num_tries": len(said),
        "calls": [SpeculationTotals.of(stats).to_dict() for stats in calls],
        "total": callback.total.to_dict(),
    }


def show(told: dict[str, Any]) -> None:
    """Print it for people."""
    print(told["code"])
    print(f"\nreview after try {told['num_tries']}: {told['problem'] or 'all right'}")
    for number, call in enumerate(told["calls"], 1):
        print(f"try {number}: {SpeculationTotals.model_validate(call)}")
    print(f"total: {SpeculationTotals.model_validate(told['total'])}")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, and run the graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="demo", help="as in ChatSSR(model=...)")
    parser.add_argument("--max-tries", type=int, default=3, help="most tries")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args(argv)
    with ChatSSR(model=arguments.model, temperature=0, max_tokens=1500) as llm:
        told = run(llm, max_tries=arguments.max_tries)
        told = {"model": arguments.model, **told}
    if arguments.json:
        print(json.dumps(told, indent=2))
    else:
        show(told)


if __name__ == "__main__":
    main()
