"""Arrays to JSON files and back: the contract that reviewers diff and pages read.

Every number is written once, by one rule. Weights are float32, as the shortest decimal that reads
back exactly. Everything computed has 7 significant digits, with magnitudes under 1e-12 as 0:
coarser than the noise of summation, finer than anything shown. Keys keep their order, a matrix
has one row per line, a masked cell is `null`, and NaN and infinity cannot be written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from model.config import ModelConfig
from model.tensors import TensorSpec, Vocabulary

SCHEMA = 1
STAGES = ("initial", "trained")
SIGNIFICANT_DIGITS = 7
SMALLEST = 1e-12
"""Computed magnitudes under this are written as 0."""

_DECADES = 10.0 ** np.arange(-12, 7)
_POWERS = 10.0 ** np.arange(20)
"""Powers of ten that float64 holds exactly, so that dividing by one rounds only once."""


class SnapshotError(ValueError):
    """A snapshot file that is missing, damaged or not under this contract."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to 7 significant digits; magnitudes under 1e-12 become 0, and 0 has no sign.

    Minus infinity, the score of a masked cell, comes back masked.

    Raises
    ------
    ValueError
        If a value is NaN or plus infinity, or is 1e7 or more.
    """
    values = np.asarray(values, dtype=np.float64)
    masked = np.isneginf(values)
    if masked.any():
        return np.ma.MaskedArray(rounded(np.where(masked, 0.0, values)), masked)
    size = np.abs(values)
    if not (size < 10.0**SIGNIFICANT_DIGITS).all():
        raise ValueError("a value is not a finite number of ordinary size")
    exponent = np.searchsorted(_DECADES, size, side="right") - 13  # floor(log10(size))
    scale = _POWERS[SIGNIFICANT_DIGITS - 1 - exponent]  # makes 7 digits a whole number
    result = np.where(size < SMALLEST, 0.0, np.rint(values * scale) / scale)
    return result + 0.0  # turns -0.0 into 0.0


def encode(value: Any) -> bytes:
    """Write a document: a key or a matrix row per line, in the order given, with a final newline.

    Parameters
    ----------
    value
        Nested dicts and lists of text, numbers and NumPy arrays. Numbers are written as they
        are (`rounded` comes before), but 0 without a sign and masked cells as `null`.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.
    """
    return _encoded(value) + b"\n"


def _encoded(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return _encoded_array(value)
    if isinstance(value, Mapping):
        items = [orjson.dumps(key) + b": " + _encoded(item) for key, item in value.items()]
        return b"{\n" + b",\n".join(items) + b"\n}" if items else b"{}"
    if isinstance(value, (list, tuple)):
        nested = any(isinstance(item, (Mapping, list, tuple, np.ndarray)) for item in value)
        start, between, end = (b"[\n", b",\n", b"\n]") if nested else (b"[", b",", b"]")
        return start + between.join(map(_encoded, value)) + end
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value} cannot be written")
        value += 0.0  # turns -0.0 into 0.0
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def _encoded_array(array: NDArray[Any]) -> bytes:
    masked = np.ma.isMaskedArray(array)
    plain = np.ma.filled(array, np.nan) if masked else np.ascontiguousarray(array)
    if plain.dtype.kind == "f":
        plain = plain + 0.0  # turns -0.0 into 0.0
    text = orjson.dumps(plain, option=orjson.OPT_SERIALIZE_NUMPY)
    if text.count(b"null") != int(np.ma.getmaskarray(array).sum()):
        raise ValueError("an array holds NaN or infinity")
    return text.replace(b"],[", b"],\n[")


def sha256(data: bytes) -> str:
    """Return the digest of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def weights_sha256(weights: Mapping[str, NDArray[np.float32]], config: ModelConfig) -> str:
    """Digest of the little-endian float32 bytes of all weights, row-major, in vocabulary order."""
    ordered = (weights[key].astype("<f4").tobytes() for key in Vocabulary(config).weights)
    return sha256(b"".join(ordered))


def rows_up_to(spec: TensorSpec, value: NDArray[Any], n_pos: int) -> NDArray[Any]:
    """Cut every position axis of an unbatched tensor to its first `n_pos` entries.

    By causality these are the values that the shorter sequence has on its own.
    """
    cut = tuple(slice(n_pos) if a in ("pos", "query", "key") else slice(None) for a in spec.axes)
    return value[cut]


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
        manifest = self.manifest
        with _laid_out(self.folder / "manifest.json"):
            sizes = manifest["model"]
            return ModelConfig(**{name: sizes[name] for name in ModelConfig.__dataclass_fields__})

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
            self._documents[path] = _parse(self.folder / path, self.files.get(path))
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


def _parse(path: Path, data: bytes | None) -> Any:
    try:
        document = orjson.loads(path.read_bytes() if data is None else data)
    except OSError as error:
        raise SnapshotError(path, error.strerror or "cannot be read") from error
    except orjson.JSONDecodeError as error:
        raise SnapshotError(path, f"not valid JSON: {error.msg}, line {error.lineno}") from error
    if not isinstance(document, dict):
        raise SnapshotError(path, "not a JSON object")
    return document
