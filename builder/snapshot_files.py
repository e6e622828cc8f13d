"""Files of the snapshot as results of stages, and stages read back as a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.stages import Result, Stored

if TYPE_CHECKING:
    from model.documents import File
    from model.snapshot import Snapshot

SNAPSHOTS = "snapshots/"


def snapshot_of(parts: Iterable[Stored]) -> Snapshot:
    """Read numbers back from their files: what is built on is exactly what is stored."""
    from model.snapshot import Snapshot

    files = {path: data for part in parts for path, data in part.files.items()}
    return Snapshot(Path(SNAPSHOTS), files)


def result_of(files: Iterable[File], facts: Mapping[str, Any] | None = None) -> Result:
    """Return files as a result; its facts say how many numbers each of them holds."""
    made = list(files)
    numbers = {file.path: file.numbers for file in made}
    return Result({file.path: file.data for file in made}, {**(facts or {}), "numbers": numbers})
