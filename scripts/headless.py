"""Chromium without a window: found, run for one page, and ended in time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Commands that are looked for, the first that is there is taken."""
SECONDS = 60.0
"""Longest run for one picture."""
Scheme = Literal["dark", "light"]
_BLINK: Mapping[Scheme, int] = {"dark": 0, "light": 1}
"""Blink's numbers of what `prefers-color-scheme` asks for."""
_QUIET = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_TOLD = 500


class BrowserError(RuntimeError):
    """There is no browser, or it did not do what it was asked for."""


def find_browser(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of a Chromium.

    Args:
        environment: Variables: `CHROME` names a browser, `PATH` is searched for others.

    Raises:
        BrowserError: If there is none; it says how to get one.
    """
    path = environment.get("PATH", "")
    if chosen := environment.get("CHROME"):
        if found := shutil.which(chosen, path=path):
            return found
        raise BrowserError(f"CHROME is {chosen!r}, which is no command")
    for name in NAMES:
        if found := shutil.which(name, path=path):
            return found
    raise BrowserError(
        f"no browser: none of {', '.join(NAMES)} is installed. On Debian and Ubuntu "
        "`apt-get install chromium` gets one; CHROME=PATH names one elsewhere"
    )


def command(
    browser: str,
    profile: Path,
    url: str,
    *options: str,
    scheme: Scheme = "light",
    size: tuple[int, int] = (1100, 1400),
    as_root: bool | None = None,
) -> list[str]:
    """Return the command line for one page.

    Args:
        browser: Path of a Chromium.
        profile: A folder of its own for what the browser keeps.
        url: The page.
        *options: What to do with it, e.g. `"--dump-dom"`.
        scheme: What the page is told of the reader's colours.
        size: Width and height of the window in pixels.
        as_root: Whether it runs as root, under whom Chromium refuses its sandbox;
            `None` asks the system.
    """
    root = os.geteuid() == 0 if as_root is None else as_root
    return [
        browser,
        *_QUIET,
        *(["--no-sandbox"] if root else []),
        f"--user-data-dir={profile}",
        f"--window-size={size[0]},{size[1]}",
        f"--blink-settings=preferredColorScheme={_BLINK[scheme]}",
        *options,
        url,
    ]


def run(arguments: Sequence[str], seconds: float = SECONDS) -> str:
    """Run a command and all that it starts; return what it printed.

    Args:
        arguments: The command line.
        seconds: How long it may take.

    Raises:
        BrowserError: If it fails or takes longer; nothing of it is left then.
    """
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a browser is many processes
    )
    try:
        out, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise BrowserError(
            f"{arguments[0]} was ended after {seconds:g} seconds"
        ) from None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        raise BrowserError(
            f"{arguments[0]} ended with {process.returncode}: {told[-_TOLD:].strip()}"
        )
    return out


def open_page(
    browser: str,
    page: Path,
    *options: str,
    scheme: Scheme = "light",
    size: tuple[int, int] = (1100, 1400),
) -> str:
    """Open a file in a profile that is removed afterwards; return what was printed.

    Args:
        browser: Path of a Chromium.
        page: The file.
        *options: What to do with it.
        scheme: What the page is told of the reader's colours.
        size: Width and height of the window in pixels.

    Raises:
        BrowserError: If the browser fails or takes too long.
    """
    with tempfile.TemporaryDirectory(
        prefix="screenshots-", ignore_cleanup_errors=True
    ) as profile:
        url = page.resolve().as_uri()
        return run(
            command(browser, Path(profile), url, *options, scheme=scheme, size=size)
        )
