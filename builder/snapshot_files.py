"""Files of the snapshot as results of stages, and stages read back as a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.claims.result import ClaimResult
from builder.errors import Diagnostic
from builder.stages import Result, Stored

if TYPE_CHECKING:
    from model.documents import File
    from model.snapshot import Snapshot

SNAPSHOTS = "snapshots/"
"""Where a site has them."""

MANIFEST = "manifest.json"
PROVENANCE = "provenance.json"
"""Says on what a build was made; it is in no manifest and never compared."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The snapshot of a build.

    Attributes
    ----------
    files
        Path in the snapshot folder -> content; all but `PROVENANCE`.
    claims
        What came of every claim.
    digest
        Identifies all of it.
    warnings
        What is to be said of stored tables of evidence.
    seeds
        What pages need of each seed that readers can choose, from `ChosenSeeds`.
    """

    files: Mapping[str, bytes]
    claims: tuple[ClaimResult, ...]
    digest: str
    warnings: tuple[Diagnostic, ...] = ()
    seeds: Mapping[str, Any] = field(default_factory=dict)


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
