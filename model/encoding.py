"""Numbers to JSON text: the one rule by which every number of a snapshot is written.

Weights are float32, as the shortest decimal that reads back exactly. Everything computed has 7
significant digits, with magnitudes under 1e-12 as 0: coarser than the noise of summation, finer
than anything shown. Keys keep their order, a matrix has one row per line, a masked cell is
`null`, and NaN and infinity cannot be written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from model.config import ModelConfig
from model.tensors import TensorSpec, Vocabulary

SIGNIFICANT_DIGITS = 7
SMALLEST = 1e-12
"""Computed magnitudes under this are written as 0."""

_DECADES = 10.0 ** np.arange(-12, 7)
_POWERS = 10.0 ** np.arange(20)
"""Powers of ten that float64 holds exactly, so that dividing by one rounds only once."""


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


def plain(value: float) -> float:
    """Round one number as `rounded` does; a whole number where it is one."""
    found = float(rounded(np.array(value)))
    return int(found) if found == int(found) else found


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
    n_masked = 0
    if isinstance(array, np.ma.MaskedArray):
        n_masked = int(np.ma.getmaskarray(array).sum())
        array = array.filled(np.nan)
    plain = array + 0.0 if array.dtype.kind == "f" else array  # turns -0.0 into 0.0
    text = orjson.dumps(np.ascontiguousarray(plain), option=orjson.OPT_SERIALIZE_NUMPY)
    if text.count(b"null") != n_masked:
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
