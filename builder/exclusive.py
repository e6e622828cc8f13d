"""One command at a time: two builds would sweep away each other's half-written files."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from builder.progress import Progress


@contextlib.contextmanager
def exclusively(root: Path, progress: Progress) -> Iterator[None]:
    """Hold the project's folder; wait while another command holds it.

    The system releases the lock whenever its process ends, and no file is left behind. Where the
    file system has no locks, nothing is held.
    """
    folder = os.open(root, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.say("waiting for another build of this project")
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
