"""All weights of a model as one short text: base64 of their float32 bytes, and back."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from model.config import ModelConfig
from model.tensors import Vocabulary


def packed(weights: Mapping[str, NDArray[np.float32]], config: ModelConfig) -> str:
    """Return the little-endian float32 bytes in base64, row-major, in vocabulary order."""
    ordered = (weights[key].astype("<f4").tobytes() for key in Vocabulary(config).weights)
    return base64.b64encode(b"".join(ordered)).decode("ascii")


def unpacked(text: str, config: ModelConfig) -> dict[str, NDArray[np.float32]]:
    """Return the weights that `packed` was given.

    Raises
    ------
    ValueError
        If the text is not base64, or holds another number of weights.
    """
    vocabulary = Vocabulary(config)
    shapes = {key: vocabulary[key].shape(config) for key in vocabulary.weights}
    flat = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    if flat.size != vocabulary.n_params:
        raise ValueError(f"{flat.size} weights instead of {vocabulary.n_params}")
    return parted(flat.astype(np.float32), shapes)


def parted(
    flat: NDArray[np.float32], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]:
    """Return weights that stand one after the other in a flat array, each in its shape."""
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    parts = zip(shapes.items(), np.split(flat, ends[:-1]), strict=True)
    return {key: part.reshape(shape) for (key, shape), part in parts}
