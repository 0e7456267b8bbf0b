"""The folder of a run: a line for each answer, appended as it comes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from langchain_ssr.bench.files import read_json, read_text
from langchain_ssr.bench.items import Item
from langchain_ssr.bench.modes import Mode
from langchain_ssr.bench.record import Key, Record
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import describe


class Store:
    """The folder of a run: `settings.json`, and `records*.jsonl`.

    Several processes may write, each to a file of its own.
    """

    def __init__(self, folder: Path, part: str = "") -> None:
        """Open a folder; it is made if need be.

        Args:
            folder: The folder.
            part: Names the file of records that this process writes.

        Raises:
            SettingsError: If what is there cannot be read.
        """
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"records{part}.jsonl"
        self._engines = folder / f"engines{part}.json"
        self._records: dict[Key, Record] = {}
        if self._file.exists():
            _mend(self._file)
        for file in sorted(folder.glob("records*.jsonl")):
            self._read(file)

    def _read(self, file: Path) -> None:
        """Read a file's whole lines; another process may be writing the last."""
        *lines, _ = read_text(file).split("\n")
        for number, line in enumerate(lines, 1):
            try:
                record = Record.model_validate_json(line)
            except ValidationError as error:
                problem = describe(error)
                raise SettingsError(f"{file}, line {number}: {problem}") from None
            self._records[record.key] = record

    @property
    def records(self) -> list[Record]:
        """All records, in the order in which they came."""
        return list(self._records.values())

    def has(self, mode: Mode, item: Item, number: int) -> bool:
        """Whether an answer is there already.

        Raises:
            SettingsError: If it answers another request of the same name.
        """
        record = self._records.get((mode.name, item.id, number))
        if record is None:
            return False
        if record.digest != item.digest:
            raise SettingsError(
                f"{self.folder} has answers to another request {item.id!r}: delete it, "
                "or name another folder"
            )
        return True

    def add(self, record: Record) -> None:
        """Write a record at once."""
        line = record.model_dump_json(exclude_defaults=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())
        self._records[record.key] = record

    def settle(self, settings: Mapping[str, Any], modes: Iterable[Mode]) -> None:
        """Write the run's settings, or compare them with those of before.

        Args:
            settings: What every answer depends on; JSON data.
            modes: The modes; later runs may have others, but not other ones of the
                same name.

        Raises:
            SettingsError: If the folder is of a run with other settings.
        """
        file = self.folder / "settings.json"
        before = read_json(file) if file.exists() else {"modes": {}}
        told = json.loads(json.dumps({mode.name: mode.to_dict() for mode in modes}))
        now = {**json.loads(json.dumps(settings)), "modes": {**before["modes"], **told}}
        changed = [
            name for name, mode in before["modes"].items() if now["modes"][name] != mode
        ]
        changed += [
            name
            for name in sorted((before.keys() | now.keys()) - {"modes"})
            if len(before) > 1 and before.get(name) != now.get(name)
        ]
        if changed:
            raise SettingsError(
                f"{self.folder} was made with other settings ({', '.join(changed)}): "
                "delete it, or name another folder"
            )
        if now != before:
            file.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")

    def describe(self, engines: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep what engines say of themselves, by mode."""
        before = read_json(self._engines) if self._engines.exists() else {}
        text = json.dumps({**before, **engines}, indent=2) + "\n"
        self._engines.write_text(text, encoding="utf-8")

    @property
    def engines(self) -> dict[str, dict[str, Any]]:
        """What engines said of themselves, by mode; of several workers one's."""
        found: dict[str, dict[str, Any]] = {}
        for file in sorted(self.folder.glob("engines*.json")):
            found.update(read_json(file))
        return found

    @property
    def date(self) -> str | None:
        """When the last answer was written, in ISO 8601 (UTC); None without any."""
        times = [file.stat().st_mtime for file in self.folder.glob("records*.jsonl")]
        if not times:
            return None
        return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run, with its modes."""
        found: dict[str, Any] = read_json(self.folder / "settings.json")
        return found


def num_records(folder: Path) -> int:
    """Count the answers in a folder while others write there."""
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("records*.jsonl"))


def _mend(file: Path) -> None:
    """Cut off a last line that was not written to its end."""
    data = file.read_bytes()
    if data and not data.endswith(b"\n"):
        file.write_bytes(data[: data.rfind(b"\n") + 1])
