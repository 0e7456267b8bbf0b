"""Notices that another process runs an engine of the same model.

Workers of a web server (`uvicorn --workers 4`, gunicorn) that each build a chat model
have an engine each: as many copies of the weights, and cores that are fought over. The
second one to start says so. What tells is a lock on a file that lasts as long as the
engine: the kernel takes it back from a process that is gone, however it went.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import tempfile
from pathlib import Path

logger = logging.getLogger(__name__)


class Presence:
    """The mark of an engine that runs in this process; `end` takes it away.

    Args:
        model: Path or id of the model.
    """

    def __init__(self, model: str) -> None:
        """Set the mark, or warn that a process has set it already.

        Nothing here is worth an engine: where files cannot be written, nothing is
        noticed.
        """
        self._file: int | None = None
        with contextlib.suppress(OSError):
            file = _file_of(model)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                other = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                os.close(descriptor)
                if other != str(os.getpid()):  # here, other settings made another one
                    _warn(model, other)
                return
            self._file = descriptor
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)

    def end(self) -> None:
        """Take the mark away."""
        descriptor, self._file = self._file, None
        if descriptor is not None:
            os.close(descriptor)


def _file_of(model: str) -> Path:
    """Return the file of a model, in a folder of this user's own.

    Raises:
        OSError: If there cannot be such a folder.
    """
    folder = Path(tempfile.gettempdir()) / f"langchain-ssr-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
        raise PermissionError(f"{folder} belongs to somebody else")
    where = str(Path(model).resolve()) if Path(model).exists() else model
    return folder / hashlib.sha256(where.encode()).hexdigest()[:16]


def _warn(model: str, process: str) -> None:
    logger.warning(
        "Another process (%s) runs an engine for %s already, and this one starts its "
        "own: twice the memory, and the same cores for both. Several workers are "
        "better served by one server: `langchain-ssr serve`, and its address as "
        "ChatSSR(base_url=...).",
        process or "of this user",
        model,
    )
