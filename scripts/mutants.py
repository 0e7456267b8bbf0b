"""Apply each breakage in tests/mutants and fail if nothing notices it.

    python scripts/mutants.py [NAME ...]

A mutant is a patch whose first lines say what must notice it, each by itself:

    # tests: tests/unit_tests/engine/test_limits.py   (arguments of pytest)
    # run: benchmarks.distribution --case seeded      (a module and its arguments)

Both exit with 0 if all is well and with 1 if not. They run on a copy of the project, so
the working tree stays as it is: first without any mutant, for what fails or hangs by
itself notices nothing. A mutant is killed if what passed then fails now. A hang is told
apart, and is no kill: it may be a slow machine.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tests" / "mutants"
COPIED = ("langchain_ssr", "tests", "benchmarks", "scripts", "pyproject.toml")
MOST_SECONDS = 3600.0
"""Longest run without a mutant, in seconds."""
PATIENCE, LEAST_SECONDS = 3.0, 120.0
"""A mutant may take so many times as long as no mutant, or so many seconds."""
GREEN, RED, HUNG, UNTRIED = "green", "red", "hung", "could not run"
# Limits of single tests are off: they would show a hang as a failure.
PYTEST = ("pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=0")
Check = tuple[str, ...]
"""A module of Python and its arguments."""


@dataclasses.dataclass(frozen=True)
class Ran:
    """How a check went.

    Attributes:
        how: `GREEN`, `RED`, `HUNG` or `UNTRIED`.
        seconds: How long it took.
        output: The end of what it said.
    """

    how: str
    seconds: float
    output: str = ""


def checks_of(patch: Path) -> list[Check]:
    """Read what must notice a mutant."""
    checks: list[Check] = []
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("# tests:"):
            checks.append((*PYTEST, *shlex.split(line.removeprefix("# tests:"))))
        if line.startswith("# run:"):
            checks.append(tuple(shlex.split(line.removeprefix("# run:"))))
    if not checks:
        sys.exit(f"{patch.name} says neither `# tests: ...` nor `# run: ...`")
    return checks


@contextmanager
def project_copy() -> Iterator[Path]:
    """Copy what the checks need into a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        target = Path(folder)
        for name in COPIED:
            if (source := ROOT / name).is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target / name, ignore=ignore)
            else:
                shutil.copy(source, target / name)
        yield target


def run(check: Check, folder: Path, seconds: float) -> Ran:
    """Run a check on a copy of the project.

    Args:
        check: What to run.
        folder: The copy.
        seconds: After so long it hangs, and is ended with all that it started.
    """
    start = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            # `-m` puts the copy in front of the installed package.
            [sys.executable, "-m", *check],
            cwd=folder,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
            how = {0: GREEN, 1: RED}.get(code, UNTRIED)
        except subprocess.TimeoutExpired:
            how = HUNG
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        output = said.read().decode(errors="replace")[-2000:]
    return Ran(how, time.monotonic() - start, output)


def apply(patch: Path, folder: Path) -> str:
    """Break the copy; return why it does not work, or ""."""
    done = subprocess.run(
        ["patch", "-p1", "--batch", "-i", str(patch)],  # noqa: S607
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"does not apply: {done.stdout.strip()}" if done.returncode else ""


def baseline(checks: Sequence[Check]) -> dict[Check, Ran]:
    """Run each check once without any mutant."""
    known: dict[Check, Ran] = {}
    for check in dict.fromkeys(checks):
        with project_copy() as folder:
            known[check] = run(check, folder, MOST_SECONDS)
        tell("no mutant", check, known[check], known[check].how)
        if known[check].how != GREEN:
            print(known[check].output, flush=True)
    return known


def attempt(patch: Path, check: Check, before: Ran) -> Ran:
    """Run a check on a mutant; `before` is how it went without one."""
    if before.how != GREEN:
        return Ran(UNTRIED, 0.0, "not green without the mutant either")
    with project_copy() as folder:
        if why := apply(patch, folder):
            return Ran(UNTRIED, 0.0, why)
        limit = max(LEAST_SECONDS, PATIENCE * before.seconds)
        return run(check, folder, limit)


def tell(name: str, check: Check, ran: Ran, outcome: str) -> None:
    """Print how a check went."""
    shown = " ".join(check[len(PYTEST) :] if check[0] == PYTEST[0] else check)
    print(f"{name:32} {outcome:13} {ran.seconds:5.0f} s  {shown}", flush=True)


def main(names: Sequence[str]) -> int:
    """Try all mutants, or those that are named; return the exit code."""
    patches = sorted(MUTANTS.glob("*.patch"))
    if unknown := set(names) - {patch.stem for patch in patches}:
        sys.exit(f"there is no such mutant: {', '.join(sorted(unknown))}")
    chosen = [patch for patch in patches if not names or patch.stem in names]
    pairs = [(patch, check) for patch in chosen for check in checks_of(patch)]
    before = baseline([check for _, check in pairs])
    outcomes: dict[str, list[str]] = {}
    for patch, check in pairs:
        ran = attempt(patch, check, before[check])
        outcome = {RED: "killed", GREEN: "survived"}.get(ran.how, ran.how)
        tell(patch.stem, check, ran, outcome)
        if ran.how == UNTRIED:
            print(ran.output, flush=True)
        outcomes.setdefault(outcome, []).append(patch.stem)
    print(", ".join(f"{len(each)} {name}" for name, each in outcomes.items()))
    return 0 if set(outcomes) == {"killed"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
