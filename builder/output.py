"""The only writer of a site folder: everything is gathered, then appears at once.

The new folder is written beside the old one and the two exchange names in one step of the file
system, so that whenever the process dies a whole site stands under the name. A list of what was
written, `.build.json`, says which files are ours; a folder that holds any other file is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from builder.errors import BuildError, Diagnostic, UsageError
from builder.stages import digest

MARKER = ".build.json"
"""Lists every file of the site with its digest."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@dataclass
class Output:
    """A site folder in the making.

    Parameters
    ----------
    folder
        Where the site will stand.

    Raises
    ------
    UsageError
        If the folder is a file, or holds files that no build has written.
    """

    folder: Path
    _files: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._listed = _listed_files(self.folder)
        self._refuse_foreign_files()

    def _refuse_foreign_files(self) -> None:
        foreign = next(iter(sorted(_present_files(self.folder) - self._listed.keys())), None)
        if foreign is not None:
            raise _refused(
                self.folder / foreign,
                "this file was not written by a build, and a build replaces its whole folder",
                "move it away, or choose another folder with --out",
            )

    def add(self, path: str, data: bytes) -> None:
        """Gather one file.

        Raises
        ------
        ValueError
            If the path has been given before.
        """
        if path in self._files:
            raise ValueError(f"`{path}` is written twice")
        self._files[path] = data

    def add_all(self, files: Mapping[str, bytes], prefix: str = "") -> None:
        """Gather several files under a common prefix."""
        for path, data in files.items():
            self.add(prefix + path, data)

    def publish(self) -> bool:
        """Put the gathered files in the folder's place.

        Returns
        -------
        bool
            False if the folder already held exactly these files.

        Raises
        ------
        BuildError
            If the new folder cannot be written; the old one is then untouched.
        """
        digests = {path: digest(data) for path, data in sorted(self._files.items())}
        intact = {path for path, wanted in digests.items() if self._holds(path, wanted)}
        if len(intact) == len(digests) and digests == self._listed:
            return False
        self._refuse_foreign_files()
        parent = self.folder.absolute().parent
        prefix = f".{self.folder.name}.partial-"
        with _write_errors(self.folder):
            parent.mkdir(parents=True, exist_ok=True)
            for abandoned in parent.glob(prefix + "*"):
                shutil.rmtree(abandoned)
            partial = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            with _write_errors(self.folder):
                _write_all(partial, self._files | {MARKER: _marker(digests)}, self.folder, intact)
                _swap(partial, self.folder.absolute())
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return True

    def _holds(self, path: str, wanted: str) -> bool:
        """Whether the folder has this file with this content already."""
        if self._listed.get(path) != wanted:
            return False
        try:
            return digest((self.folder / path).read_bytes()) == wanted
        except OSError:
            return False


def remove(folder: Path) -> int:
    """Delete the files that a build has written, and folders that this leaves empty.

    Returns
    -------
    int
        The number of files deleted; other files stay.

    Raises
    ------
    UsageError
        If the folder is a file.
    """
    listed = _listed_files(folder)
    present = [path for path in [*listed, MARKER] if (folder / path).is_file()]
    for path in present:
        (folder / path).unlink()
    for inner in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
        with contextlib.suppress(OSError):
            inner.rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()
    return len(present)


def _listed_files(folder: Path) -> dict[str, str]:
    """Digests of the files that the last build wrote, by path; empty if there was none."""
    if folder.exists() and not folder.is_dir():
        raise _refused(folder, "this is a file, not a folder", "choose another with --out")
    try:
        marker = json.loads((folder / MARKER).read_bytes())
        listed: dict[str, str] = marker["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return listed


def _present_files(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return found - {MARKER}


def _marker(digests: Mapping[str, str]) -> bytes:
    document = {"written_by": "python -m builder build", "files": digests}
    return (json.dumps(document, indent=0) + "\n").encode()


def _write_all(new: Path, files: Mapping[str, bytes], old: Path, intact: set[str]) -> None:
    """Write every file; those that the old folder holds unchanged are linked, not copied."""
    for parent in {(new / path).parent for path in files}:
        parent.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        if path in intact:
            try:
                (new / path).hardlink_to(old / path)
                continue
            except OSError:  # a file system without links
                pass
        (new / path).write_bytes(data)
    new.chmod(0o755)


def _swap(new: Path, current: Path) -> None:
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
    shutil.rmtree(old)


@contextlib.contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    """Report that the new site could not be written, and that the old one stands."""
    try:
        yield
    except OSError as error:
        message = f"the site cannot be written: {error.strerror or error}"
        hint = "nothing was replaced: the folder is as it was before"
        raise BuildError(Diagnostic(str(folder), 0, 0, "output", message, hint)) from error


def _refused(path: Path, message: str, hint: str) -> UsageError:
    return UsageError(Diagnostic(str(path), 0, 0, "output-folder", message, hint))
