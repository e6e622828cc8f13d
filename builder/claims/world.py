"""What a claim is about, and what its predicate says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import task
from model.config import ModelConfig
from model.encoding import rounded
from model.snapshot import Snapshot, Trace

Array = NDArray[np.float64]

INTERVENTIONS = "evidence/interventions.json"

STORED_PRECISION = 1e-6
"""Numbers stored with 7 digits agree to this when they were equal before rounding."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a predicate returns."""

    holds: bool
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """What predicates look at.

    Attributes
    ----------
    snapshot
        Weights, traces and interventions; its manifest is not needed.
    config
        Sizes of the model.
    training
        The manifest's account of the training.
    evidence
        The counts of `model.evidence`.
    """

    snapshot: Snapshot
    config: ModelConfig
    training: Mapping[str, Any]
    evidence: Mapping[str, Any]

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """What the trained model computes for each problem."""
        return {p.name: self.snapshot.trace("trained", p.name) for p in task.PROBLEMS}

    @property
    def interventions(self) -> Mapping[str, Any]:
        """What overwriting single things does to the trained model."""
        table: Mapping[str, Any] = self.snapshot.document(INTERVENTIONS)
        return table

    def value(self, problem: str, key: str) -> Array:
        """One activation of one problem."""
        return self.traces[problem].values[key]

    def equals_rows(self, key: str) -> Array:
        """The row of `=` in every problem [problem d_model]."""
        rows = [self.value(problem.name, key)[task.EQUALS_POSITION] for problem in task.PROBLEMS]
        return np.array(rows)

    def heads(self, key: str) -> Iterator[tuple[int, int, str]]:
        """Layer, head and full key of a per-head activation such as `attn.pattern`."""
        for layer in range(self.config.n_layers):
            for head in range(self.config.n_heads):
                yield layer, head, f"blocks.{layer}.{key}"


def significant(value: float) -> float:
    """Seven significant digits, as everything computed has in the snapshot."""
    return float(rounded(np.array(value)))
