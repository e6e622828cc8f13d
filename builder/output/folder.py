"""The only writer of a site folder: everything is gathered, then appears at once.

The new folder is written beside the old one and the two exchange names in one step of the file
system, so that whenever the process dies a whole site stands under the name. A list of what was
written, `.build.json`, says which files are ours; a folder that holds any other file is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from builder.errors import BuildError, Diagnostic
from builder.output import partial
from builder.output.ours import listed_files, present, refuse_foreign_files, stays_inside
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
        self._listed = listed_files(self.folder, self._real)
        refuse_foreign_files(self.folder, self._real, self._listed)

    @property
    def files(self) -> Mapping[str, bytes]:
        """What has been gathered, by path."""
        return self._files

    def add(self, path: str, data: bytes) -> None:
        """Gather one file.

        Raises
        ------
        ValueError
            If the path has been given before, or leads out of the folder.
        """
        if path in self._files:
            raise ValueError(f"`{path}` is written twice")
        if not stays_inside(path):
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
            refuse_foreign_files(self.folder, self._real, self._listed)
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
    ours = sorted(present(folder, real), reverse=True)  # what is inside comes first
    files = [path for path in ours if not path.endswith("/")]
    if (real / MARKER).is_file():
        files.append(MARKER)
    for path in files:
        (real / path).unlink()
    partial.remove_abandoned(real)
    for emptied in [*(path for path in ours if path.endswith("/")), ""]:
        with contextlib.suppress(OSError):
            (real / emptied).rmdir()
    return len(files)


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
def _write_errors(folder: Path) -> Iterator[None]:
    """Report that the new site could not be written, and that the old one stands."""
    try:
        yield
    except OSError as error:
        message = f"the site cannot be written: {error.strerror or error}"
        hint = "nothing was replaced: the folder is as it was before"
        raise BuildError(Diagnostic(str(folder), 0, 0, "output", message, hint)) from error
