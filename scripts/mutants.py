"""Apply each breakage in tests/mutants and fail if the tests stay green.

    python scripts/mutants.py [NAME ...]

A mutant is a patch whose first line says `# tests: ...`: what must notice it. The tests
run on a copy of the project, so the working tree stays as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tests" / "mutants"
SECONDS = 1200
COPIED = ("langchain_ssr", "tests", "benchmarks", "scripts", "pyproject.toml")


def copy_project(target: Path) -> None:
    """Copy what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target / name, ignore=ignore)
        else:
            shutil.copy(source, target / name)


def tests_of(patch: Path) -> list[str]:
    """Read which tests must notice a mutant."""
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("# tests:"):
            return line.removeprefix("# tests:").split()
    sys.exit(f"{patch.name} does not say `# tests: ...`")


def run(patch: Path) -> str:
    """Run one mutant; return "killed", "survived" or why it could not be tried."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        copy_project(copy)
        applied = subprocess.run(
            ["patch", "-p1", "--batch", "-i", str(patch)],  # noqa: S607
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
        )
        if applied.returncode:
            return f"does not apply: {applied.stdout.strip()}"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        try:
            # `-m` puts the copy in front of the installed package.
            done = subprocess.run(
                [*command, *tests_of(patch)],
                cwd=copy,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "killed (hung)"
        tests_failed = 1
        if done.returncode == tests_failed:
            return "killed"
        if done.returncode == 0:
            return "survived"
        return f"pytest could not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def main() -> None:
    """Run all mutants, or those that are named."""
    names = sys.argv[1:]
    patches = sorted(MUTANTS.glob("*.patch"))
    if names:
        patches = [patch for patch in patches if patch.stem in names]
    if not patches:
        sys.exit("there is no such mutant")
    bad = 0
    for patch in patches:
        start = time.monotonic()
        outcome = run(patch)
        seconds = time.monotonic() - start
        print(f"{patch.stem:32} {outcome} ({seconds:.0f} s)", flush=True)
        bad += not outcome.startswith("killed")
    if bad:
        sys.exit(f"{bad} of {len(patches)} mutants were not killed")


if __name__ == "__main__":
    main()
