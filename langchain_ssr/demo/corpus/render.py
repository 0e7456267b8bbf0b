"""Tables and configurations as text: JSON, YAML, CSV, Markdown and lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from langchain_ssr.demo.corpus.tables import Kind, Table

Format = Literal["json", "yaml", "csv", "markdown"]
FORMAT_NAMES: dict[Format, str] = {
    "json": "JSON",
    "yaml": "YAML",
    "csv": "CSV",
    "markdown": "Markdown",
}


def literal(text: str, kind: Kind, target: Format) -> str:
    """Spell a value as the target does.

    Args:
        text: The value as the request spells it.
        kind: Its type.
        target: The format.

    Returns:
        For example `"kite"` with quotes in JSON and without them in YAML.
    """
    if target in {"csv", "markdown"}:
        return text
    if kind == "bool":
        return "true" if text in {"yes", "true"} else "false"
    quoted = kind in {"name", "str"} and target == "json"
    return f'"{text}"' if quoted else text


def literals(table: Table, row: tuple[str, ...], target: Format) -> list[str]:
    """Spell the cells of a row as the target does."""
    return [
        literal(cell, column.kind, target)
        for column, cell in zip(table.columns, row, strict=True)
    ]


def csv(table: Table) -> str:
    """Write a table as CSV."""
    return "\n".join(",".join(row) for row in table.grid())


def markdown(table: Table) -> str:
    """Write a table as a Markdown table."""
    header, *rows = table.grid()
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bullets(table: Table, mark: str) -> str:
    """Write a table as a list, one row an item; `mark` separates the values."""
    return "\n".join(
        "- "
        + mark.join(f"{key}: {cell}" for key, cell in zip(table.keys, row, strict=True))
        for row in table.rows
    )


def _json_objects(table: Table, *, one_line: bool, indent: str) -> str:
    objects = []
    for row in table.rows:
        values = literals(table, row, "json")
        pairs = [f'"{k}": {v}' for k, v in zip(table.keys, values, strict=True)]
        if one_line:
            objects.append(f"{indent}  {{{', '.join(pairs)}}}")
        else:
            inner = ",\n".join(f"{indent}    {pair}" for pair in pairs)
            objects.append(f"{indent}  {{\n{inner}\n{indent}  }}")
    return "[\n" + ",\n".join(objects) + f"\n{indent}]"


def json(table: Table, *, one_line: bool) -> str:
    """Write a table as a JSON array of objects, or as an object that holds it.

    Args:
        table: The table.
        one_line: Whether each object is on one line instead of one line a key.
    """
    if not table.root:
        return _json_objects(table, one_line=one_line, indent="")
    objects = _json_objects(table, one_line=one_line, indent="  ")
    return f'{{\n  "{table.root}": {objects}\n}}'


def yaml(table: Table) -> str:
    """Write a table as a YAML list of mappings, or as a mapping that holds it."""
    lines = [f"{table.root}:"] if table.root else []
    indent = "  " if table.root else ""
    for row in table.rows:
        values = literals(table, row, "yaml")
        for index, (key, text) in enumerate(zip(table.keys, values, strict=True)):
            lines.append(f"{indent}{'  ' if index else '- '}{key}: {text}")
    return "\n".join(lines)


def table_text(table: Table, target: Format, *, one_line: bool) -> str:
    """Write a table in the target format."""
    if target == "json":
        return json(table, one_line=one_line)
    if target == "yaml":
        return yaml(table)
    return csv(table) if target == "csv" else markdown(table)


Entry = tuple[str, str | list[str]]
"""A key of a configuration with its literal, or the literals of its list."""


def _json_entry(entry: Entry, indent: str) -> str:
    key, text = entry
    if isinstance(text, str):
        return f'{indent}"{key}": {text}'
    items = ",\n".join(f"{indent}  {item}" for item in text)
    return f'{indent}"{key}": [\n{items}\n{indent}]'


def json_config(top: Iterable[Entry], sections: dict[str, list[Entry]]) -> str:
    """Write a configuration as JSON: entries at the top, then sections."""
    parts = [_json_entry(entry, "  ") for entry in top]
    for name, entries in sections.items():
        inner = ",\n".join(_json_entry(entry, "    ") for entry in entries)
        parts.append(f'  "{name}": {{\n{inner}\n  }}')
    return "{\n" + ",\n".join(parts) + "\n}"


def _yaml_entries(entries: Iterable[Entry], indent: str) -> Sequence[str]:
    lines = []
    for key, text in entries:
        if isinstance(text, str):
            lines.append(f"{indent}{key}: {text}")
        else:
            lines.append(f"{indent}{key}:")
            lines += [f"{indent}  - {item}" for item in text]
    return lines


def yaml_config(top: Iterable[Entry], sections: dict[str, list[Entry]]) -> str:
    """Write a configuration as YAML: entries at the top, then sections."""
    lines = [*_yaml_entries(top, "")]
    for name, entries in sections.items():
        lines += [f"{name}:", *_yaml_entries(entries, "  ")]
    return "\n".join(lines)
