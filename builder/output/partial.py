"""The folder in which a site is made before it takes its place, and those that killed builds left.

Whatever such a folder holds, the list of files is written first and deleted last, so that a folder
of somebody else that happens to have such a name is known to be none of ours.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from pathlib import Path

MARKER = ".build.json"
"""Lists every file of a site with its digest."""


def make(site: Path) -> Path:
    """Return a new folder beside the site."""
    return Path(tempfile.mkdtemp(prefix=_prefix(site), dir=site.parent))


def delete(folder: Path) -> None:
    """Delete a folder of ours as far as possible, the list of files last."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != MARKER:
                path.unlink()
        shutil.rmtree(folder)


def remove_abandoned(site: Path) -> None:
    """Delete what builds that were killed have left beside the site."""
    name = re.compile(re.escape(_prefix(site)) + r"[a-z0-9_]{8}(\.old)?")
    for path in site.parent.iterdir() if site.parent.is_dir() else ():
        if name.fullmatch(path.name) and path.is_dir() and not path.is_symlink() and _is_ours(path):
            delete(path)


def _is_ours(folder: Path) -> bool:
    """Whether it is empty, as a build leaves it that is killed at once, or has our list."""
    with contextlib.suppress(OSError):
        return (folder / MARKER).is_file() or not any(folder.iterdir())
    return False


def _prefix(site: Path) -> str:
    return f".{site.name}.partial-"
