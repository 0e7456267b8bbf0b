"""The tools that are declared when a class is to be written into a file."""

from __future__ import annotations

from typing import Any

from langchain_ssr.demo.corpus.example import Draw

_FOLDERS = ("", "", "", "src/", "app/", "lib/", "models/", "src/models/", "tools/")
_WRITE = (
    "Write a text file.",
    "Write content to a file and replace what was there.",
    "Create or overwrite a file.",
    "Save text in a file of the project.",
)
_PATHS = (
    "Where the file is.",
    "Path of the file.",
    "The file, relative to the project.",
)
_CONTENTS = ("The whole text.", "What the file shall contain.", "Text to write.")
_OTHERS = {
    "read_file": ("path", ("Read a text file.", "Return the text of a file.")),
    "list_files": ("directory", ("List a folder.", "List the files in a directory.")),
    "run_tests": ("path", ("Run the tests of a file.", "Run pytest on a path.")),
    "delete_file": ("path", ("Delete a file.", "Remove a file for good.")),
    "search_code": ("text", ("Search the project.", "Find a text in all files.")),
    "run_command": ("command", ("Run a shell command.", "Execute a command.")),
}


def draw_path(draw: Draw) -> str:
    """Draw the path of a Python file, for example `"src/bold_river.py"`."""
    return f"{draw.pick(*_FOLDERS)}{draw.words.snake()}.py"


def _tool(name: str, description: str, params: dict[str, str]) -> dict[str, Any]:
    properties = {
        key: {"type": "string", **({"description": text} if text else {})}
        for key, text in params.items()
    }
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(params),
            },
        },
    }


def draw_tools(draw: Draw) -> list[dict[str, Any]]:
    """Declare `write_file` and up to two other tools, in any order."""
    described = draw.chance(0.6)
    write = _tool(
        "write_file",
        draw.pick(*_WRITE),
        {
            "path": draw.pick(*_PATHS) if described else "",
            "content": draw.pick(*_CONTENTS) if described else "",
        },
    )
    others = draw.rng.sample(sorted(_OTHERS), draw.pick(0, 1, 1, 2))
    tools = [write]
    for name in others:
        param, descriptions = _OTHERS[name]
        tools.append(_tool(name, draw.pick(*descriptions), {param: ""}))
    draw.rng.shuffle(tools)
    return tools
