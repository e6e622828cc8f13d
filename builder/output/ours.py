"""What of a site folder builds have written: its list of files says so, and all else is refused."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from builder.errors import Diagnostic, UsageError
from builder.output.partial import MARKER


def listed_files(folder: Path, real: Path) -> dict[str, str]:
    """Digests of the files that the last build wrote, by path; empty if there was none."""
    _require_place(folder, real)
    marker_file = real / MARKER
    try:
        marker = json.loads(marker_file.read_bytes()) if marker_file.is_file() else {}
        return {p: d for p, d in marker["files"].items() if stays_inside(p)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def present(folder: Path, real: Path) -> list[str]:
    """What builds have written and is still there; a `/` ends the name of a folder."""
    ours = _of_builds(listed_files(folder, real))
    with _read_errors(folder):
        return [name for name in _everything(real, ours) if name in ours]


def refuse_foreign_files(folder: Path, real: Path, listed: Iterable[str]) -> None:
    """Refuse a folder that holds files which no build has written, or which cannot be seen."""
    ours = _of_builds(listed)
    with _read_errors(folder):
        foreign = next((name for name in _everything(real, ours) if name not in ours), None)
    if foreign is not None:
        raise _refused(
            folder / foreign,
            "this file was not written by a build, and a build replaces its whole folder",
            "move it away, or choose another folder with --out",
        )


def stays_inside(path: str) -> bool:
    """Whether a path names a file of the site itself, in its plain form."""
    pure = PurePosixPath(path)
    is_plain = str(pure) == path and path not in (".", MARKER)
    return is_plain and not pure.is_absolute() and ".." not in pure.parts


def _everything(folder: Path, ours: Collection[str], above: str = "") -> Iterator[str]:
    """Everything in the folder but the list of files; a `/` ends the name of a real folder.

    What is in a folder that is not ours is of no interest.
    """
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        is_folder = path.is_dir() and not path.is_symlink()
        name = above + path.name + "/" * is_folder
        if name != MARKER:
            yield name
        if is_folder and name in ours:
            yield from _everything(path, ours, name)


def _of_builds(listed: Iterable[str]) -> set[str]:
    """What a build made, named as in `_everything`: the files and the folders that hold them."""
    folders = {f"{parent}/" for path in listed for parent in PurePosixPath(path).parents}
    return folders | set(listed)


def _require_place(folder: Path, real: Path) -> None:
    """Refuse a name under which no folder can stand, and one inside another site."""
    hint = "choose another with --out"
    try:
        above = next(path for path in (real, *real.parents) if path.exists() or path.is_symlink())
    except OSError as error:
        raise _refused(folder, f"this cannot be a folder: {error.strerror}", hint) from error
    if not above.is_dir():
        raise _refused(folder if above == real else above, "this is not a folder", hint)
    site = next((path for path in real.parents if os.path.isfile(path / MARKER)), None)  # noqa: PTH113
    if site is not None:
        raise _refused(folder, f"this is inside another site, `{site}`", hint)


@contextlib.contextmanager
def _read_errors(folder: Path) -> Iterator[None]:
    """Refuse a folder that may hold what we cannot see."""
    try:
        yield
    except OSError as error:
        message = f"this folder cannot be read: {error.strerror or error}"
        raise _refused(folder, message, "choose another with --out") from error


def _refused(path: Path, message: str, hint: str) -> UsageError:
    return UsageError(Diagnostic(str(path), 0, 0, "output-folder", message, hint))
