"""The snapshot folder, read back: JSON files to arrays, with every damage named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from model.config import ModelConfig
from model.tensors import Vocabulary

SCHEMA = 1
STAGES = ("initial", "trained")


class SnapshotError(ValueError):
    """A snapshot file that is missing, damaged or not under this contract."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(path, message)  # both: a process pool makes errors anew from these
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class TargetGradients:
    """Gradients of one target's loss: what followed `token` at `position` was `target`.

    `grads` maps activation keys to arrays with rows 0..`position`, and the attention matrices'
    keys to arrays of the weight's shape. `loss` is -ln P(target) in nats.
    """

    position: int
    token: str
    target: str
    loss: float
    grads: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Trace:
    """Every activation of one problem's whole sequence, by key."""

    problem: str
    tokens: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]


@dataclass
class Snapshot:
    """Reads a snapshot folder, one file at a time and each only once.

    Parameters
    ----------
    folder
        The folder that holds `manifest.json`.
    files
        Contents that are already in memory, by path; the others are read from the folder.

    Raises
    ------
    SnapshotError
        From every method, if the file it needs is missing, damaged or under another schema.
    """

    folder: Path
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    _documents: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What this build is."""
        manifest: Mapping[str, Any] = self.document("manifest.json")
        if manifest.get("schema") != SCHEMA:
            found = manifest.get("schema")
            raise SnapshotError(
                self.folder / "manifest.json", f"schema {found!r} instead of {SCHEMA}"
            )
        return manifest

    @property
    def config(self) -> ModelConfig:
        """The sizes of the network."""
        return sizes(self.folder / "manifest.json", self.manifest)

    @property
    def vocabulary(self) -> Vocabulary:
        """The tensors that this snapshot holds."""
        return Vocabulary(self.config)

    def weights(self, name: str) -> dict[str, NDArray[np.float32]]:
        """Return the weights of `initial`, `trained` or a checkpoint such as `step-0100`."""
        path = f"weights/{name}.json"
        tensors = self._part(path, "tensors")
        with _laid_out(self.folder / path):
            return {key: np.array(value, dtype=np.float32) for key, value in tensors.items()}

    def trace(self, stage: str, problem: str) -> Trace:
        """Return every activation of a problem at a stage; masked scores are NaN."""
        path = f"traces/{stage}/{problem}.json"
        values = self._part(path, "values")
        tokens = self._part(path, "tokens")
        with _laid_out(self.folder / path):
            arrays = {key: _array(value) for key, value in values.items()}
            return Trace(problem, tuple(tokens), arrays)

    def gradients(self, stage: str, problem: str) -> tuple[TargetGradients, ...]:
        """Return the gradients of each of a problem's targets at a stage."""
        path = f"gradients/{stage}/{problem}.json"
        targets = self._part(path, "targets")
        with _laid_out(self.folder / path):
            return tuple(
                TargetGradients(
                    t["position"],
                    t["token"],
                    t["target"],
                    t["loss"],
                    {key: _array(value) for key, value in t["grads"].items()},
                )
                for t in targets
            )

    def document(self, path: str) -> Any:
        """Return the parsed content of a file of the snapshot, such as `training.json`."""
        if path not in self._documents:
            file, data = self.folder / path, self.files.get(path)
            self._documents[path] = parse(file, read(file) if data is None else data)
        return self._documents[path]

    def _part(self, path: str, name: str) -> Any:
        document = self.document(path)
        if name not in document:
            raise SnapshotError(self.folder / path, f"`{name}` is missing")
        return document[name]


@contextmanager
def _laid_out(path: Path) -> Iterator[None]:
    """Turn what goes wrong in reading a parsed document into a `SnapshotError` of its file."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SnapshotError(path, f"not laid out as schema {SCHEMA} says ({error})") from error


def _array(nested: Sequence[Any]) -> NDArray[np.float64]:
    """Nested lists to an array, `null` to NaN."""
    return np.array(nested, dtype=np.float64)


def read(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    SnapshotError
        If they cannot be had.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise SnapshotError(path, error.strerror or "cannot be read") from error


def parse(path: Path, data: bytes) -> dict[str, Any]:
    """Return the JSON object that a file holds.

    Raises
    ------
    SnapshotError
        If it holds anything else.
    """
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SnapshotError(path, f"not valid JSON: {error.msg}, line {error.lineno}") from error
    if not isinstance(document, dict):
        raise SnapshotError(path, "not a JSON object")
    return document


def sizes(path: Path, manifest: Mapping[str, Any]) -> ModelConfig:
    """Return the sizes of the network that a manifest, read from a file, describes.

    Raises
    ------
    SnapshotError
        If it describes none.
    """
    try:
        given = manifest["model"]
        return ModelConfig(**{name: given[name] for name in ModelConfig.__dataclass_fields__})
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(path, f"`model` does not describe a model: {error}") from error
