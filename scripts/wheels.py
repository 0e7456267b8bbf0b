"""This checkout as a wheel, installed alone into a new environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build_wheel(folder: Path) -> Path:
    """Build the wheel into an empty folder; return its path.

    Raises:
        subprocess.CalledProcessError: If the build fails.
    """
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_wheel(wheel: Path, venv: Path, extras: str) -> Path:
    """Install a wheel into an environment that scripts/bootstrap.py makes.

    Args:
        wheel: The file.
        venv: Where the environment is made.
        extras: The package's extras, with commas between them.

    Returns:
        The environment's Python. Run it from elsewhere than the checkout, or that is
        imported and not the wheel.

    Raises:
        subprocess.CalledProcessError: If it fails; bootstrap.py has said why.
    """
    subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bootstrap.py")],
        check=True,
        env={**os.environ, "VENV": str(venv), "WHEEL": str(wheel), "EXTRAS": extras},
    )
    return venv / "bin" / "python"
