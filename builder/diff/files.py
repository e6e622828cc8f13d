"""A snapshot folder as `diff` reads it: file by file, damage told from difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from builder.errors import Diagnostic, UnreadableError
from builder.snapshot_files import MANIFEST, PROVENANCE, SNAPSHOTS
from model import snapshot
from model.encoding import sha256
from model.snapshot import SCHEMA, SnapshotError
from model.tensors import Vocabulary

Document = Mapping[str, Any]


def unreadable(path: Path, message: str, hint: str = "") -> NoReturn:
    """Say in one line that a file or folder cannot be compared.

    Raises
    ------
    UnreadableError
        Always.
    """
    raise UnreadableError(Diagnostic(str(path), 0, 0, "unreadable-snapshot", message, hint))


@contextmanager
def shallow(path: Path) -> Iterator[None]:
    """Say of a document that is nested so deeply that walking it fails that it is no snapshot."""
    try:
        yield
    except RecursionError:
        unreadable(path, "nested too deeply for a snapshot")


@dataclass(frozen=True)
class SnapshotFolder:
    """One side of a comparison.

    Attributes
    ----------
    root
        The folder that holds `manifest.json`.
    manifest
        Its content, without what it says about `provenance.json`.
    digests
        SHA-256 by path, as the manifest has them.
    vocabulary
        The tensors of the manifest's model.
    paths
        Every JSON file that is there, sorted, but the manifest and `provenance.json`.
    """

    root: Path
    manifest: Document
    digests: Mapping[str, str]
    vocabulary: Vocabulary
    paths: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path) -> SnapshotFolder:
        """Find the snapshots in `folder` or in its `snapshots/`, and read the manifest.

        Raises
        ------
        UnreadableError
            If there are none, or if they are damaged or under another schema.
        """
        root = _root(folder)
        path = root / MANIFEST
        manifest = dict(parse(path, read(path)))
        if manifest.get("schema") != SCHEMA:
            found = manifest.get("schema")
            unreadable(path, f"`schema` is {found!r} instead of {SCHEMA}: not a snapshot folder")
        files = [entry for entry in _entries(path, manifest) if entry["path"] != PROVENANCE]
        return cls(
            root,
            manifest | {"files": files},
            {entry["path"]: entry["sha256"] for entry in files},
            _vocabulary(path, manifest),
            _paths(root),
        )

    def document(self, path: str, data: bytes) -> Document:
        """Parse the bytes of a file of this folder."""
        return parse(self.root / path, data)

    def read(self, path: str) -> tuple[bytes, bool]:
        """Return the bytes of a file and whether they are what the manifest lists.

        Raises
        ------
        UnreadableError
            If they are not and are no JSON either: then the file is damaged, not only changed.
        """
        data = read(self.root / path)
        is_listed = self.digests.get(path) == sha256(data)
        if not is_listed:
            self.document(path, data)
        return data, is_listed


def read(path: Path) -> bytes:
    """Return the bytes of a file, or say why they cannot be had."""
    with _legible():
        return snapshot.read(path)


def parse(path: Path, data: bytes) -> Document:
    """Return the JSON object that a file holds, or say what is wrong with it."""
    with _legible():
        return snapshot.parse(path, data)


@contextmanager
def _legible() -> Iterator[None]:
    """Say of a snapshot's file what is wrong with it, as `diff` does."""
    try:
        yield
    except SnapshotError as error:
        unreadable(error.path, error.message)


def _root(folder: Path) -> Path:
    if not folder.is_dir():
        reason = "not a folder" if folder.exists() else "there is no such folder"
        unreadable(folder, reason)
    for root in (folder, folder / SNAPSHOTS):
        if (root / MANIFEST).is_file():
            return root
    unreadable(
        folder,
        f"no `{MANIFEST}` here or in `{SNAPSHOTS}`: not a snapshot folder",
        "`python -m builder build --out FOLDER` makes one",
    )


def _paths(root: Path) -> tuple[str, ...]:
    paths = (p.relative_to(root).as_posix() for p in root.rglob("*.json") if p.is_file())
    return tuple(sorted(path for path in paths if path not in (MANIFEST, PROVENANCE)))


def _entries(path: Path, manifest: Document) -> list[Mapping[str, str]]:
    entries = manifest.get("files")
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        unreadable(path, "`files` is not a list of files with `path` and `sha256`")
    return entries


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name), str) for name in ("path", "sha256")
    )


def _vocabulary(path: Path, manifest: Document) -> Vocabulary:
    with _legible():
        return Vocabulary(snapshot.sizes(path, manifest))
