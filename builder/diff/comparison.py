"""Compare two snapshot folders: what differs, where, and what it means for the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from builder.diff import report
from builder.diff.files import SnapshotFolder, read, shallow
from builder.diff.meaning import (
    AnswerChange,
    AttentionChange,
    ClaimChange,
    ItemChange,
    Meaning,
    PredictionChange,
    claim_changes,
    item_changes,
    trace_changes,
)
from builder.diff.tensors import FieldChange, TensorComparison, TensorDifference
from builder.output.partial import MARKER
from builder.snapshot_files import MANIFEST
from model.task import NAME, Problem
from model.tasks import TASKS


@dataclass(frozen=True)
class Difference:
    """The result of a comparison; `provenance.json` has no part in it.

    Attributes
    ----------
    old, new
        The folders, as they were given.
    n_files
        Number of files that both have.
    added, removed, changed
        Paths of files that only `new` has, that only `old` has, and whose bytes differ.
    headline
        Figures of the manifest that differ.
    claims, answers, predictions, attention
        What changed in meaning, the trained model first.
    tensors
        What changed in numbers.
    fields
        What changed and is no number of a tensor.
    n_others
        Number of files besides the snapshots that differ; None unless both are site folders.
    warnings
        What is odd about the folders themselves, such as a file that is not what its manifest
        lists.
    """

    old: str
    new: str
    n_files: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    headline: tuple[ItemChange, ...]
    claims: tuple[ClaimChange, ...]
    answers: tuple[AnswerChange, ...]
    predictions: tuple[PredictionChange, ...]
    attention: tuple[AttentionChange, ...]
    tensors: tuple[TensorDifference, ...]
    fields: tuple[FieldChange, ...]
    n_others: int | None
    warnings: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether both folders hold the same snapshot, byte for byte."""
        return not (self.added or self.removed or self.changed)

    @property
    def exit_code(self) -> int:
        """0 if they are the same, 1 if they differ."""
        return 0 if self.is_same else 1

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name, for `--json`."""
        return {"same": self.is_same, **asdict(self)}

    def lines(self) -> list[str]:
        """Say it to a person, the most important first and long lists cut short."""
        return report.plain(report.sections(self))

    def markdown(self) -> str:
        """Say the same as Markdown that GitHub shows."""
        return report.markdown(report.sections(self))


@dataclass
class _Comparison:
    """Everything found so far."""

    old: SnapshotFolder
    new: SnapshotFolder
    tensors: TensorComparison
    changed: list[str] = field(default_factory=list)
    headline: tuple[ItemChange, ...] = ()
    claims: tuple[ClaimChange, ...] = ()
    meaning: list[Meaning] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def problems(self) -> Mapping[str, Problem]:
        """Those of the task that the older model has learned; products, if it does not say."""
        about = self.old.manifest.get("task")
        name = str(about.get("name")) if isinstance(about, dict) else ""
        return TASKS.get(name, TASKS[NAME])().by_name

    def compare_manifests(self) -> None:
        """Compare what the manifests say; the digests they list are those of other files."""
        old, new = ({**side.manifest, "files": None} for side in (self.old, self.new))
        self.headline = tuple(item_changes(old, new))
        if self.old.manifest != self.new.manifest:
            self.changed.append(MANIFEST)

    def compare(self, path: str) -> None:
        """Compare one file that both have."""
        data = [self._checked(side, path) for side in (self.old, self.new)]
        if data[0] == data[1]:
            return
        self.changed.append(path)
        old, new = self.old.document(path, data[0]), self.new.document(path, data[1])
        pair = ((self.old.root / path, old), (self.new.root / path, new))
        folder, _, name = path.removesuffix(".json").rpartition("/")
        if path == "claims.json":
            self.claims = claim_changes(*pair)
            return
        problem = self.problems.get(name)
        if problem and folder.startswith("traces/"):
            self.meaning.extend(trace_changes(*pair, folder.removeprefix("traces/"), problem))
        self.tensors.add(path, old, new)

    def check(self, side: SnapshotFolder, paths: Iterable[str]) -> None:
        """Look for damage in files that only one side has."""
        for path in paths:
            self._checked(side, path)

    def warn_of_missing(self, side: SnapshotFolder) -> None:
        """Mention files that the manifest lists and that are not there."""
        for path in side.digests:
            if path not in side.paths:
                self.warnings.append(f"{side.root / path}: listed in {MANIFEST}, but missing")

    def meant(self, kind: type[Any]) -> tuple[Any, ...]:
        """Return the findings of one kind, the trained model's first."""
        found = (item for item in self.meaning if isinstance(item, kind))
        return tuple(sorted(found, key=lambda item: item.stage != "trained"))

    def _checked(self, side: SnapshotFolder, path: str) -> bytes:
        data, listed = side.read(path)
        if not listed:
            self.warnings.append(f"{side.root / path}: not what {MANIFEST} lists")
        return data


def diff(old: Path, new: Path) -> Difference:
    """Compare two snapshot folders, or two folders that hold one as `snapshots/`.

    A file that is not what its manifest lists is compared all the same, with a warning, as long
    as it is whole.

    Raises
    ------
    UnreadableError
        If a folder is no snapshot folder or holds a damaged file; one diagnostic says which.
    """
    one, other = SnapshotFolder.open(old), SnapshotFolder.open(new)
    comparison = _Comparison(one, other, TensorComparison(one.vocabulary))
    common = sorted(set(one.paths) & set(other.paths))
    removed = tuple(path for path in one.paths if path not in common)
    added = tuple(path for path in other.paths if path not in common)
    with shallow(other.root / MANIFEST):
        comparison.compare_manifests()
    for path in common:
        with shallow(other.root / path):
            comparison.compare(path)
    comparison.check(one, removed)
    comparison.check(other, added)
    comparison.warn_of_missing(one)
    comparison.warn_of_missing(other)
    return Difference(
        old=str(old),
        new=str(new),
        n_files=len(common) + 1,
        added=added,
        removed=removed,
        changed=tuple(comparison.changed),
        headline=comparison.headline,
        claims=comparison.claims,
        answers=comparison.meant(AnswerChange),
        predictions=comparison.meant(PredictionChange),
        attention=comparison.meant(AttentionChange),
        tensors=comparison.tensors.results(),
        fields=tuple(comparison.tensors.fields),
        n_others=_other_differences(one, other) if old != one.root and new != other.root else None,
        warnings=tuple(comparison.warnings),
    )


def _other_differences(one: SnapshotFolder, other: SnapshotFolder) -> int:
    """Count the files of two sites, such as pages, that are not the same on both sides."""
    sites = [side.root.parent for side in (one, other)]
    names = {
        path.relative_to(site)
        for site, side in zip(sites, (one, other), strict=True)
        for path in site.rglob("*")
        if path.is_file() and side.root not in path.parents and path.name != MARKER
    }
    return sum(_bytes(sites[0] / name) != _bytes(sites[1] / name) for name in names)


def _bytes(path: Path) -> bytes | None:
    return read(path) if path.is_file() else None
