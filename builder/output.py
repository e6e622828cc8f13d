"""The only writer of a site folder: everything is gathered, then appears at once.

The new folder is written beside the old one and the two exchange names in one step of the file
system, so that whenever the process dies a whole site stands under the name. A list of what was
written, `.build.json`, says which files are ours; a folder that holds any other file is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from builder.errors import BuildError, Diagnostic, UsageError
from builder.stages import digest
from builder.swap import swap

MARKER = ".build.json"
"""Lists every file of the site with its digest."""


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
        self._real = Path(os.path.realpath(self.folder))  # a link to a folder stays a link
        self._listed = _listed_files(self.folder)
        self._refuse_foreign_files()

    def _refuse_foreign_files(self) -> None:
        for foreign in sorted(_present(self._real) - _ours(self._listed)):
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
            If the path has been given before, or leads out of the folder.
        """
        if path in self._files:
            raise ValueError(f"`{path}` is written twice")
        if not _stays_inside(path):
            raise ValueError(f"`{path}` is not a path inside the site")
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
        prefix = _prefix(self._real)
        with _write_errors(self.folder):
            _remove_abandoned(self._real)
            intact = {path for path, wanted in digests.items() if self._holds(path, wanted)}
            if len(intact) == len(digests) and digests == self._listed:
                return False
            self._refuse_foreign_files()
            self._real.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=prefix, dir=self._real.parent))
            try:
                _write_all(partial, self._files | {MARKER: _marker(digests)}, self._real, intact)
                swap(partial, self._real)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        return True

    def _holds(self, path: str, wanted: str) -> bool:
        """Whether the folder has this file with this content already."""
        file = self._real / path
        if self._listed.get(path) != wanted or file.is_symlink():
            return False
        try:
            return digest(file.read_bytes()) == wanted
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
    real = Path(os.path.realpath(folder))
    listed = _listed_files(folder)
    ours = sorted(_present(real) & _ours(listed), reverse=True)  # what is inside comes first
    files = [path for path in ours if not path.endswith("/")]
    if (real / MARKER).is_file():
        files.append(MARKER)
    for path in files:
        (real / path).unlink()
    _remove_abandoned(real)
    for emptied in [*(path for path in ours if path.endswith("/")), ""]:
        with contextlib.suppress(OSError):
            (real / emptied).rmdir()
    return len(files)


def _listed_files(folder: Path) -> dict[str, str]:
    """Digests of the files that the last build wrote, by path; empty if there was none."""
    try:
        if folder.exists() and not folder.is_dir():
            raise _refused(folder, "this is a file, not a folder", "choose another with --out")
    except OSError as error:
        message = f"this cannot be a folder: {error.strerror}"
        raise _refused(folder, message, "choose another with --out") from error
    try:
        marker = json.loads((folder / MARKER).read_bytes())
        return {p: d for p, d in marker["files"].items() if _stays_inside(p)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _present(folder: Path) -> set[str]:
    """Everything in the folder but the list of files; a `/` ends the name of a real folder."""
    found = {
        path.relative_to(folder).as_posix()
        + ("/" if path.is_dir() and not path.is_symlink() else "")
        for path in folder.rglob("*")
    }
    return found - {MARKER}


def _ours(listed: Iterable[str]) -> set[str]:
    """What a build made, named as in `_present`: the files and the folders that hold them."""
    folders = {f"{parent}/" for path in listed for parent in PurePosixPath(path).parents}
    return folders | set(listed)


def _stays_inside(path: str) -> bool:
    """Whether a path names a file of the site itself, in its plain form."""
    pure = PurePosixPath(path)
    is_plain = str(pure) == path and path not in (".", MARKER)
    return is_plain and not pure.is_absolute() and ".." not in pure.parts


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


def _prefix(folder: Path) -> str:
    """How the names of folders begin in which a site is made before it takes its place."""
    return f".{folder.name}.partial-"


def _remove_abandoned(folder: Path) -> None:
    """Delete what builds that were killed have left beside the site."""
    for path in folder.parent.iterdir() if folder.parent.is_dir() else ():
        if path.name.startswith(_prefix(folder)) and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)


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
