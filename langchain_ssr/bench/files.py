"""Reads files of benchmarks, compressed or not; errors name the file and the line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from langchain_ssr.errors import SettingsError


class FormatError(SettingsError):
    """A file is of another form than its reader needs."""

    def __init__(self, path: Path, wanted: str, problem: str) -> None:
        """Say which file, what it should be and what it is."""
        super().__init__(f"{path} is not {wanted}: {problem}")


def read_text(path: Path) -> str:
    """Read a text file; one whose name ends in `.gz` is decompressed.

    Raises:
        SettingsError: If it cannot be read.
    """
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from error


def read_json(path: Path) -> Any:
    """Read a JSON file, perhaps compressed.

    Raises:
        SettingsError: If it cannot be read, or is no JSON.
    """
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise FormatError(path, "JSON", str(error)) from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON objects, one a line, perhaps compressed.

    Raises:
        SettingsError: If it cannot be read, or a line is no JSON object.
    """
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise SettingsError(f"{path}, line {number}: no JSON ({error})") from error
        if not isinstance(entry, dict):
            raise SettingsError(f"{path}, line {number}: not an object")
        found.append(entry)
    return found
