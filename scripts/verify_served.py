"""Run every test of the served part, and say in JSON what came of it.

    python scripts/verify_served.py [--json FILE] [--only PART ...]

The parts follow one another, for two engines at a time slow each other down: the server
and its documents, two servers behind a router, transcripts with faults, predicted
outputs on an engine in this process, and, with `--backend remote`, LangChain's standard
tests, parity, and every test of a kind of input (which equality is among). Starting
servers takes most of the time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/integration_tests"
REMOTE = ("--backend", "remote")
PARTS: Mapping[str, tuple[str, ...]] = {
    "server": (
        f"{TESTS}/test_serve.py",
        f"{TESTS}/test_serve_plain_line.py",
        f"{TESTS}/test_serve_refusals.py",
        f"{TESTS}/test_isolation.py",
        f"{TESTS}/test_many_clients.py",
        f"{TESTS}/test_server_docs.py",
        f"{TESTS}/test_two_clients.py",
    ),
    "router": (f"{TESTS}/test_scaling.py",),
    "faults on the way": tuple(
        f"tests/unit_tests/test_remote{name}.py"
        for name in ("", "_broken_streams", "_faults", "_garbage", "_http", "_stops")
    ),
    "prediction, embedded": (f"{TESTS}/test_prediction.py",),
    "prediction, remote": (*REMOTE, f"{TESTS}/test_prediction.py"),
    "standard tests, remote": (*REMOTE, f"{TESTS}/test_standard.py"),
    "parity, remote": (*REMOTE, f"{TESTS}/test_parity.py"),
    "kinds of input, remote": (*REMOTE, "-m", "kind", "tests"),
}
"""Arguments of pytest by part."""
KINDS = "kinds of input, remote"
_BAD = ("failure", "error")
_SHOWN = 5


def read_junit(file: Path) -> dict[str, Any]:
    """Read a report of pytest.

    Args:
        file: What `--junit-xml` wrote.

    Returns:
        Numbers of tests by outcome, names of those that failed, reasons of skips with
        their number, and what tests recorded (`record_property`), which is JSON.
    """
    outcomes: Counter[str] = Counter()
    skips: Counter[str] = Counter()
    failed: list[str] = []
    recorded: dict[str, Any] = {}
    for case in ET.parse(file).iter("testcase"):  # noqa: S314 - pytest wrote it
        skipped = case.find("skipped")
        if any(case.find(name) is not None for name in _BAD):
            outcomes["failed"] += 1
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif skipped is not None:
            outcomes["skipped"] += 1
            skips[skipped.get("message") or ""] += 1
        else:
            outcomes["passed"] += 1
        for entry in case.iter("property"):
            recorded[str(entry.get("name"))] = json.loads(str(entry.get("value")))
    return {
        **{name: outcomes[name] for name in ("passed", "failed", "skipped")},
        "failures": failed,
        "skips": dict(skips),
        **recorded,
    }


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run one part.

    Args:
        name: One of `PARTS`.
        folder: Where pytest's reports are written.

    Returns:
        What `read_junit` does, with the command, its exit code and the seconds it took,
        and which kinds of input passed.
    """
    junit, kinds = folder / f"{name}.xml", folder / "kinds.json"
    arguments = ["-m", "pytest", "-q", *PARTS[name]]
    command = [sys.executable, *arguments, f"--junit-xml={junit}"]
    if name == KINDS:
        command += ["--kinds-report", str(kinds)]
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    told: dict[str, Any] = {
        "command": " ".join(["python", *arguments]),
        "exit_code": code,
        "seconds": round(time.monotonic() - start, 1),
    }
    if junit.is_file():
        told |= read_junit(junit)
    if name == KINDS and kinds.is_file():
        entries = json.loads(kinds.read_text(encoding="utf-8"))
        told["kinds"] = {
            "passed": sum(entry["ok"] for entry in entries),
            "of": len(entries),
            "not_passed": [entry["kind"] for entry in entries if not entry["ok"]],
        }
    return told


def report(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Sum the parts up.

    Args:
        parts: What `run` returned, by name.
    """
    return {
        "ok": all(
            not part["exit_code"] and part.get("passed") for part in parts.values()
        ),
        "passed": sum(part.get("passed", 0) for part in parts.values()),
        "failed": sum(part.get("failed", 0) for part in parts.values()),
        "skipped": sum(part.get("skipped", 0) for part in parts.values()),
        "seconds": round(sum(part["seconds"] for part in parts.values()), 1),
        "parts": dict(parts),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts; 1 if one did not pass."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it there, too")
    parser.add_argument(
        "--only", action="append", choices=list(PARTS), help="run this part only"
    )
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="verify-served-") as folder:
        names = arguments.only or list(PARTS)
        told = report({name: run(name, Path(folder)) for name in names})
    text = json.dumps(told, indent=1, ensure_ascii=False)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    print(text)
    for name, part in told["parts"].items():
        for failure in part.get("failures", [])[:_SHOWN]:
            print(f"{name}: failed: {failure}", file=sys.stderr)
    return 0 if told["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
