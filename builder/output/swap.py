"""Exchanges two folders in one step of the file system, where it can."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from builder.output import partial

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def swap(new: Path, current: Path) -> None:
    """Give `new` the name `current` in one step; what stood there takes the other name."""
    if not current.exists():
        new.rename(current)
        return
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is not None:
        names = os.fsencode(new), os.fsencode(current)
        if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.ENOSYS, errno.EINVAL):
            raise OSError(number, os.strerror(number), str(current))
    _swap_in_two_steps(new, current)


def _swap_in_two_steps(new: Path, current: Path) -> None:
    """Exchange two folders where the file system cannot do it at once."""
    old = new.with_name(f"{new.name}.old")
    current.rename(old)
    new.rename(current)
    partial.delete(old)
