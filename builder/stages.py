"""The cache: a stage's result under a key made of everything that decides it.

A key is the hash of named ingredients: inputs, the source of the code that computes, the versions
of the tools it uses. Nothing is ever looked up by time. A result is one file that starts with the
digest of the rest, so that a damaged one is noticed when it is read, and computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from builder.errors import BuildError, Diagnostic

_HEADER = ("ingredients", "sizes", "facts")

KEPT_RESULTS = 4
"""Results kept for each stage; older ones are removed."""

Ingredients = Mapping[str, str]
"""Name -> digest or version of each thing that decides a result."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a computation makes: files by path, and facts that JSON can hold."""

    files: Mapping[str, bytes]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored(Result):
    """A result that is in the cache.

    `digest` identifies all of it, for use as an ingredient of later stages.
    """

    digest: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of `--explain`: what happened to a stage, and why."""

    stage: str
    is_rebuilt: bool
    reason: str


@dataclass
class Cache:
    """Finds results by key, or computes and stores them.

    Parameters
    ----------
    folder
        Where results live; made when first needed.
    is_enabled
        If False nothing is looked up; results are stored all the same.
    on_event
        Told about each stage.
    """

    folder: Path
    is_enabled: bool = True
    on_event: Callable[[Event], None] = lambda _event: None
    _listings: dict[Path, dict[str, list[Path]]] = field(default_factory=dict)

    def get(self, stage: str, ingredients: Ingredients, compute: Callable[[], Result]) -> Stored:
        """Return the stage's result for these ingredients.

        Parameters
        ----------
        stage
            Name of the stage, such as `train` or `pages/zh/index`; its results are called
            `pages/zh/index.KEY.result`.
        ingredients
            Everything that decides the result.
        compute
            Makes the result if it is not stored.
        """
        key = digest(orjson.dumps([stage, sorted(ingredients.items())]))
        path = self.folder / f"{stage}.{key[:24]}.result"
        stored = _read(path, ingredients) if self.is_enabled else None
        if stored is not None:
            with contextlib.suppress(FileNotFoundError):  # another build has just removed it
                os.utime(path)  # the newest is the one that was used last
            self.on_event(Event(stage, False, "unchanged"))
            return stored
        reason = self._reason(stage, path, ingredients)
        stored = _write(path, ingredients, compute())
        self._prune(stage, path)
        self.on_event(Event(stage, True, reason))
        return stored

    def prepare(self) -> None:
        """Make sure, before anything is computed, that results can be stored.

        Raises
        ------
        BuildError
            If something else has the name of the folder.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            message = "this is not a folder, and results are stored in one"
            hint = "move it away: the next build makes the folder"
            raise BuildError(Diagnostic(str(self.folder), 0, 0, "cache", message, hint)) from error
        with tempfile.TemporaryFile(dir=self.folder):
            pass

    def clear(self) -> None:
        """Delete every stored result and the folders that this leaves empty; other files stay."""
        folders = {self.folder}
        for path in self.folder.rglob("*.result"):
            if path.is_file():
                path.unlink()
                folders |= {parent for parent in path.parents if self.folder in parent.parents}
        for folder in sorted(folders, reverse=True):  # what is inside comes first
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _results(self, stage: str) -> list[Path]:
        """The stage's results; a folder is listed once, since there are hundreds of pages in it."""
        folder, name = (self.folder / stage).parent, stage.rpartition("/")[2]
        if folder not in self._listings:
            self._listings[folder] = _listing(folder)
        return self._listings[folder].setdefault(name, [])

    def _prune(self, stage: str, written: Path) -> None:
        results = self._results(stage)
        if written not in results:
            results.append(written)
        if len(results) > KEPT_RESULTS:
            results.sort(key=_age)
            for old in results[KEPT_RESULTS:]:
                old.unlink(missing_ok=True)
            del results[KEPT_RESULTS:]

    def _reason(self, stage: str, path: Path, ingredients: Ingredients) -> str:
        if not self.is_enabled:
            return "the cache is off"
        if path.exists():
            return "the stored result was damaged"
        before = _newest_ingredients(self._results(stage))
        if before is None:
            return "no result is stored"
        names = sorted(before.keys() | ingredients.keys())
        changed = [name for name in names if before.get(name) != ingredients.get(name)]
        more = f" and {len(changed) - 4} more" if changed[4:] else ""
        return f"changed: {', '.join(changed[:4])}{more}"


def digest(data: bytes | memoryview | str) -> str:
    """Return the SHA-256 of some bytes or text in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def _write(path: Path, ingredients: Ingredients, result: Result) -> Stored:
    """Store a result; one that is cut short does not have its digest, and counts as none."""
    header = {
        "ingredients": dict(ingredients),
        "sizes": {name: len(data) for name, data in result.files.items()},
        "facts": dict(result.facts),
    }
    body = b"\n".join([orjson.dumps(header), b"".join(result.files.values())])
    body_digest = digest(body)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)  # never in place: the old file may have other names
    path.write_bytes(body_digest.encode() + b"\n" + body)
    return Stored(result.files, result.facts, digest=body_digest)


def _read(path: Path, ingredients: Ingredients) -> Stored | None:
    """Read a stored result; None if there is none of these or it is not what was written."""
    intact = _intact(path)
    if intact is None or intact[1]["ingredients"] != ingredients:
        return None
    stored_digest, header, payload = intact
    files, start = {}, 0
    for name, size in header["sizes"].items():
        files[name] = bytes(payload[start : start + size])
        start += size
    return Stored(files, header["facts"], digest=stored_digest)


def _intact(path: Path) -> tuple[str, Mapping[str, Any], memoryview] | None:
    """Return the digest, the header and the files' bytes of a result that is not damaged."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    whole = memoryview(stored)  # slices of it copy nothing: a result can have 40 MB
    body_start = stored.find(b"\n") + 1
    if digest(whole[body_start:]).encode() + b"\n" != stored[:body_start]:
        return None
    payload_start = stored.find(b"\n", body_start) + 1
    try:
        header = orjson.loads(stored[body_start:payload_start])
    except ValueError:
        return None
    if not _is_header(header, len(stored) - payload_start):
        return None
    return stored[: body_start - 1].decode(), header, whole[payload_start:]


def _is_header(header: Any, n_bytes: int) -> bool:
    """Whether this is what `Cache` writes before files of so many bytes."""
    parts = [header.get(name) for name in _HEADER] if isinstance(header, dict) else []
    if not parts or not all(isinstance(part, dict) for part in parts):
        return False
    sizes = list(header["sizes"].values())
    return all(type(size) is int and size >= 0 for size in sizes) and sum(sizes) == n_bytes


def _listing(folder: Path) -> dict[str, list[Path]]:
    """The results in a folder by the names of their stages."""
    listing: dict[str, list[Path]] = {}
    for path in folder.glob("*.*.result"):
        listing.setdefault(path.name.rsplit(".", 2)[0], []).append(path)
    return listing


def _age(path: Path) -> int:
    try:
        return -path.stat().st_mtime_ns
    except FileNotFoundError:  # another build has just removed it
        return 0


def _newest_ingredients(results: list[Path]) -> Ingredients | None:
    for path in sorted(results, key=_age):
        intact = _intact(path)
        if intact is not None:
            ingredients: Ingredients = intact[1]["ingredients"]
            return ingredients
    return None
