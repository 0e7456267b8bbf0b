"""Builds the documentation site in an environment of its own. Run by the Makefile.

    python scripts/docs.py          build site/, fail on a warning or a broken link
    python scripts/docs.py serve    show it at http://127.0.0.1:8000 as it is written

The environment is `.venv-docs` (`DOCS_VENV` says another), with the dependency group
`docs` of pyproject.toml. It needs neither vLLM nor this package installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = Path(os.environ.get("DOCS_VENV", ROOT / ".venv-docs"))
STAMP = VENV / ".langchain-ssr-docs"


def requirements(project: Path = ROOT / "pyproject.toml") -> list[str]:
    """Read the dependency group `docs`; pip itself can only since version 25.1."""
    groups = tomllib.loads(project.read_text(encoding="utf-8"))["dependency-groups"]
    return [str(requirement) for requirement in groups["docs"]]


def set_up() -> None:
    """Make the environment, unless it is there with the same requirements."""
    wanted = "\n".join(requirements())
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    print(f"docs: making {VENV}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", *requirements()], check=True)
    STAMP.write_text(wanted, encoding="utf-8")


def main() -> int:
    """Build or serve; return MkDocs' exit code."""
    arguments = sys.argv[1:] or ["build", "--strict", "--clean"]
    set_up()
    command = [str(VENV / "bin" / "python"), "-m", "mkdocs", *arguments]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
