"""The only writer of a site folder: everything is gathered, then appears at once.

The new folder is written beside the old one and the two exchange names in one step of the file
system, so that whenever the process dies a whole site stands under the name. A list of what was
written, `.build.json`, says which files are ours; a folder that holds any other file is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from builder.errors import BuildError, Diagnostic, UsageError
from builder.output import partial
from builder.output.partial import MARKER
from builder.output.swap import swap
from builder.stages import digest


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
        self._listed = _listed_files(self.folder, self._real)
        self._refuse_foreign_files()

    @property
    def files(self) -> Mapping[str, bytes]:
        """What has been gathered, by path."""
        return self._files

    def _refuse_foreign_files(self) -> None:
        ours = _ours(self._listed)
        with _read_errors(self.folder):
            foreign = next((name for name in _present(self._real, ours) if name not in ours), None)
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
        with _write_errors(self.folder):
            partial.remove_abandoned(self._real)
            intact = {path for path, wanted in digests.items() if self._holds(path, wanted)}
            if len(intact) == len(digests) and digests == self._listed:
                return False
            self._refuse_foreign_files()
            self._real.parent.mkdir(parents=True, exist_ok=True)
            new = partial.make(self._real)
            try:
                _write_all(new, _marker(digests), self._files, self._real, intact)
                swap(new, self._real)
            finally:
                partial.delete(new)
        return True

    def _holds(self, path: str, wanted: str) -> bool:
        """Whether the folder has this file with this content already."""
        file = self._real / path
        if self._listed.get(path) != wanted or file.is_symlink() or not file.is_file():
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
    ours = _ours(_listed_files(folder, real))
    with _read_errors(folder):
        present = [name for name in _present(real, ours) if name in ours]
    ours_present = sorted(present, reverse=True)  # what is inside comes first
    files = [path for path in ours_present if not path.endswith("/")]
    if (real / MARKER).is_file():
        files.append(MARKER)
    for path in files:
        (real / path).unlink()
    partial.remove_abandoned(real)
    for emptied in [*(path for path in ours_present if path.endswith("/")), ""]:
        with contextlib.suppress(OSError):
            (real / emptied).rmdir()
    return len(files)


def _listed_files(folder: Path, real: Path) -> dict[str, str]:
    """Digests of the files that the last build wrote, by path; empty if there was none."""
    _require_place(folder, real)
    marker_file = real / MARKER
    try:
        marker = json.loads(marker_file.read_bytes()) if marker_file.is_file() else {}
        return {p: d for p, d in marker["files"].items() if _stays_inside(p)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


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


def _present(folder: Path, ours: Collection[str], above: str = "") -> Iterator[str]:
    """Everything in the folder but the list of files; a `/` ends the name of a real folder.

    What is in a folder that is not ours is of no interest.
    """
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        is_folder = path.is_dir() and not path.is_symlink()
        name = above + path.name + "/" * is_folder
        if name != MARKER:
            yield name
        if is_folder and name in ours:
            yield from _present(path, ours, name)


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


def _write_all(
    new: Path, marker: bytes, files: Mapping[str, bytes], old: Path, intact: set[str]
) -> None:
    """Write every file; those that the old folder holds unchanged are linked, not copied."""
    (new / MARKER).write_bytes(marker)
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


@contextlib.contextmanager
def _read_errors(folder: Path) -> Iterator[None]:
    """Refuse a folder that may hold what we cannot see."""
    try:
        yield
    except OSError as error:
        message = f"this folder cannot be read: {error.strerror or error}"
        raise _refused(folder, message, "choose another with --out") from error


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
