"""Numbers that differ between two documents, gathered tensor by tensor over all files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from builder.diff.cells import Cell, KeyPath, dotted, is_evidence, locate
from builder.diff.files import Document
from model.tensors import Vocabulary

Array = NDArray[np.float64] | NDArray[np.int64]

_GROUPS = ("weights/trained", "weights/initial", "traces", "gradients", "training", "weights")
"""Kinds of file, those that explain the others first."""

EXACT = 2**53
"""Whole numbers below it are the same as float64."""

_ABSENT = "(absent)"
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """What changed in one tensor, over all the files of one kind.

    Attributes
    ----------
    group
        Kind of file, such as `traces/trained`; the checkpoints together are `weights/step-*`. A
        table of evidence is one by itself.
    key
        The tensor; in a table of evidence the way to it.
    n_files
        Number of files in which it differs.
    n_changed, n_compared
        Numbers that differ, out of how many in those files.
    largest
        Largest absolute difference; None if a cell is masked on one side only.
    mean
        Mean absolute difference over `n_compared`.
    cell
        Where the largest is.
    """

    group: str
    key: str
    n_files: int
    n_changed: int
    n_compared: int
    largest: float | None
    mean: float
    cell: Cell


@dataclass(frozen=True, slots=True)
class FieldChange:
    """What differs and is no number of a tensor: text, a shape, a key that only one side has."""

    file: str
    name: str
    old: str
    new: str


@dataclass(slots=True)
class _Tally:
    cell: Cell | None = None
    largest: float = -1.0
    total: float = 0.0
    n_changed: int = 0
    n_compared: int = 0
    files: set[str] = field(default_factory=set)


@dataclass
class TensorComparison:
    """Collects what differs in pairs of documents.

    Parameters
    ----------
    vocabulary
        Names the axes of the tensors.
    """

    vocabulary: Vocabulary
    fields: list[FieldChange] = field(default_factory=list)
    _tallies: dict[tuple[str, str], _Tally] = field(default_factory=dict)

    def add(self, file: str, old: Document, new: Document) -> None:
        """Compare two versions of a file."""
        tokens = _tokens(old)
        for path, one, other in _leaves(old, new, ()):
            if isinstance(one, np.ndarray):
                self._count(file, path, one, other, tokens)
            else:
                self.fields.append(FieldChange(file, dotted(path), one, other))

    def results(self) -> tuple[TensorDifference, ...]:
        """Return every tensor that differs, the largest difference of each group first."""
        found = [
            _result(group, key, tally, tally.cell)
            for (group, key), tally in self._tallies.items()
            if tally.cell is not None
        ]
        return tuple(sorted(found, key=_importance))

    def _count(
        self, file: str, path: KeyPath, old: Array, new: Array, tokens: tuple[str, ...]
    ) -> None:
        size = np.atleast_1d(np.abs(new - old)).astype(np.float64)
        masked_once = np.atleast_1d(np.isnan(old) ^ np.isnan(new))
        size[np.isnan(size)] = 0.0
        tally = self._tallies.setdefault(_group(file, path), _Tally())
        tally.files.add(file)
        tally.total += float(size.sum())
        size[masked_once] = np.inf
        tally.n_compared += size.size
        tally.n_changed += int(np.count_nonzero(size))
        largest = float(size.max())
        if largest > tally.largest:
            index = tuple(map(int, np.unravel_index(size.argmax(), old.shape)))
            address, place = locate(file, path, index, tokens, self.vocabulary)
            tally.largest = largest
            tally.cell = Cell(file, address, place, _number(old[index]), _number(new[index]))


def _leaves(old: Any, new: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any, Any]]:
    """Walk two documents side by side, down to pairs of arrays, or of words on what differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in old or key not in new:
                yield (*path, key), _words(old.get(key, _ABSENT)), _words(new.get(key, _ABSENT))
            elif old[key] != new[key]:
                yield from _leaves(old[key], new[key], (*path, key))
        return
    one, other = _array(old), _array(new)
    if one is not None and other is not None and one.shape == other.shape:
        yield path, one, other
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and one is None:
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                yield from _leaves(before, after, (*path, index))
    else:
        yield path, _words(old), _words(new)


def _array(value: Any) -> Array | None:
    """Return nested lists of numbers as an array, `null` as NaN; None if they are no tensor.

    A whole number by itself stays one.
    """
    if type(value) is int and abs(value) < EXACT:
        return np.array(value, dtype=np.int64)
    first = value
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, (str, bool, dict, list)) or value is None:
        return None
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, TypeError):
        return None


def _number(value: np.float64 | np.int64) -> float | int | None:
    if isinstance(value, np.int64):
        return int(value)
    return None if np.isnan(value) else float(value)


def _words(value: Any) -> str:
    array = _array(value)
    if array is not None and array.ndim:
        return f"{' × '.join(map(str, array.shape))} numbers"
    if isinstance(value, (dict, list)):
        return f"{len(value)} entries"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _tokens(document: Document) -> tuple[str, ...]:
    """Return what stands at the positions of a trace or gradient file."""
    tokens, targets = document.get("tokens"), document.get("targets")
    if isinstance(targets, list):
        tokens = [target.get("token") for target in targets if isinstance(target, dict)]
    return tuple(map(str, tokens)) if isinstance(tokens, list) else ()


def _group(file: str, path: KeyPath) -> tuple[str, str]:
    """Name the kind of file that a tensor is in, and the tensor."""
    if is_evidence(file):
        return file.removesuffix(".json"), dotted(path)
    folder, _, name = file.rpartition("/")
    stem = name.removesuffix(".json")
    if folder == "weights":
        group = "weights/" + re.sub(r"^step-\d+$", "step-*", stem)
    elif not folder or stem == "batch":
        group = file
    else:
        group = f"{folder} sum" if path[0] == "sum" else folder
    return group, str(path[-1])


def _importance(difference: TensorDifference) -> tuple[int, bool, str, float, str]:
    group = difference.group
    rank = next((i for i, kind in enumerate(_GROUPS) if group.startswith(kind)), len(_GROUPS))
    size = np.inf if difference.largest is None else difference.largest
    if is_evidence(group):
        return len(_GROUPS), True, group, 0.0, ""  # in the order of the table
    return rank, "trained" not in group, group, -float(size), difference.key


def _result(group: str, key: str, tally: _Tally, cell: Cell) -> TensorDifference:
    return TensorDifference(
        group=group,
        key=key,
        n_files=len(tally.files),
        n_changed=tally.n_changed,
        n_compared=tally.n_compared,
        largest=tally.largest if np.isfinite(tally.largest) else None,
        mean=tally.total / tally.n_compared,
        cell=cell,
    )
