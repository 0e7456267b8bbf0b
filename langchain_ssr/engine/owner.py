"""Ends an embedded engine's process when the process that started it is gone.

vLLM's process notices nothing when its owner is killed: it would keep its memory for
ever.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

OWNER_VARIABLE = "LANGCHAIN_SSR_OWNER"
"""Environment variable that names the owner's process to the engine's."""
LOOK_SECONDS = 1.0
"""Time between two looks at the owner."""


def follow_owner() -> None:
    """End this process with its owner, if it was started as an embedded engine."""
    owner = os.environ.get(OWNER_VARIABLE)
    if owner is None or owner != str(_parent()):
        return
    threading.Thread(
        target=_follow, args=(int(owner),), name="ssr-owner", daemon=True
    ).start()


def _parent() -> int:
    """Return the process that started this one, also if it is gone by now."""
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


def _follow(owner: int) -> None:
    while os.getppid() == owner:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
