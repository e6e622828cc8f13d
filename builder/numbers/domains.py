"""Colour domains: one fixed scale for each kind of tensor, so that panels can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.snapshot import STAGES, Snapshot
from model.tensors import Range, Vocabulary


def domains(snapshot: Snapshot) -> dict[str, float]:
    """Return the colour domain of every tensor of a snapshot; reads every trace.

    Returns
    -------
    dict
        Key -> smallest of 1, 2 and 5 times a power of ten that no magnitude exceeds, over all
        problems, stages, layers and heads. 1 for probabilities.

    Raises
    ------
    SnapshotError
        If a file is missing or damaged.
    """
    return domains_of(snapshot.vocabulary, _tensors(snapshot))


def domains_of(
    vocabulary: Vocabulary, tensors: Iterable[Mapping[str, NDArray[Any]]]
) -> dict[str, float]:
    """Return the same from arrays in memory, of any leading axes; masked cells do not count."""
    largest = {spec.name: 0.0 for spec in vocabulary.values()}
    for values in tensors:
        for key, value in values.items():
            name = vocabulary[key].name
            sizes = np.abs(np.ma.filled(value, np.nan))
            largest[name] = max(largest[name], np.max(sizes, initial=0, where=np.isfinite(sizes)))
    return {
        key: 1.0 if spec.range is Range.PROBABILITY else covering(float(largest[spec.name]))
        for key, spec in vocabulary.items()
    }


def covering(size: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least `size`; 1 for 0."""
    if size <= 0:
        return 1.0
    exponent = math.floor(math.log10(size))
    steps = (float(f"{step}e{exponent}") for step in (1, 2, 5, 10, 20))
    return next(step for step in steps if step >= size)


def _tensors(snapshot: Snapshot) -> Iterator[Mapping[str, NDArray[Any]]]:
    for stage in STAGES:
        yield snapshot.weights(stage)
        for problem in snapshot.document("dataset.json")["problems"]:
            # A reader of its own for each file: keeping 200 parsed traces takes 300 MB.
            yield Snapshot(snapshot.folder, snapshot.files).trace(stage, problem["problem"]).values
