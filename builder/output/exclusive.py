"""One command at a time in a folder: two builds would take each other's files for foreign ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from builder.progress import Progress


@contextlib.contextmanager
def exclusively(progress: Progress, *paths: Path) -> Iterator[None]:
    """Hold the project's folder and that of the site; wait while another command holds one.

    For a path that does not exist yet, the nearest folder above it is held. The system releases
    the locks whenever their process ends, and no file is left behind. Where there can be no lock,
    nothing is held.
    """
    with contextlib.ExitStack() as held:
        held_already: list[os.stat_result] = []
        for path in paths:
            with contextlib.suppress(OSError):
                held_already.append(_hold(path, held_already, held, progress))
        yield


def _hold(
    path: Path, already: Sequence[os.stat_result], held: contextlib.ExitStack, progress: Progress
) -> os.stat_result:
    """Lock what stands under a name, which another build may replace until we have the lock."""
    while True:
        with contextlib.ExitStack() as attempt:
            folder = os.open(_existing(path), os.O_RDONLY)
            attempt.callback(os.close, folder)
            found = os.fstat(folder)
            if any(os.path.samestat(found, other) for other in already):
                return found
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.say(f"waiting for another build in {path.absolute()}")
                fcntl.flock(folder, fcntl.LOCK_EX)
            if os.path.samestat(found, _existing(path).stat()):
                held.push(attempt.pop_all())
                return found


def _existing(path: Path) -> Path:
    """Return the path or the nearest folder above it that exists."""
    real = Path(os.path.realpath(path))
    return next(p for p in (real, *real.parents) if os.path.exists(p))  # noqa: PTH110 - never raises
