"""The toy of `::: plane`: attention among four tokens, with vectors of two numbers.

All its numbers are chosen. It is no part of the model: nothing was trained or measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from builder.numbers.matrix import Array
from model.encoding import rounded

Vectors = tuple[tuple[float, float], ...]

TOKENS = ("animal", "was", "tired", "it")
RECEIVER = 3
"""Who reads, until a reader chooses another."""
MOST, STEP = 4.0, 0.1
"""How far a number of a query goes either way, and in what steps."""


@dataclass(frozen=True, slots=True)
class Toy:
    """Query, key and value of each token [token 2]."""

    q: Vectors
    k: Vectors
    v: Vectors

    def with_query(self, x: float, y: float) -> Toy:
        """Return the same with another query of the receiver."""
        return replace(self, q=_put(self.q, RECEIVER, (x, y)))


@dataclass(frozen=True, slots=True)
class Reading:
    """What one position reads.

    Attributes
    ----------
    dots, scores, shares
        q · k, the same over √2, and their softmax: 0 for the tokens that are masked [token].
    brought, steps
        share × v [token 2], and the sum of it up to a token, from nothing on [token + 1, 2].
    """

    dots: Array
    scores: Array
    shares: Array
    brought: Array
    steps: Array

    @property
    def output(self) -> tuple[float, float]:
        """H: everything that is brought, added up."""
        x, y = self.steps[-1].tolist()
        return x, y


def read(toy: Toy, receiver: int = RECEIVER) -> Reading:
    """Compute what a position reads, under the causal mask and with the scale, to 7 digits."""
    dots = np.array(toy.k) @ np.array(toy.q[receiver])  # [token]
    scores = dots / np.sqrt(2)
    n_seen = receiver + 1
    powers = np.exp(scores[:n_seen] - scores[:n_seen].max())
    shares = np.zeros(len(TOKENS))
    shares[:n_seen] = powers / powers.sum()
    brought = shares[:, None] * np.array(toy.v)  # [token 2]
    steps = np.vstack([np.zeros(2), np.cumsum(brought, axis=0)])
    return Reading(*map(rounded, (dots, scores, shares, brought, steps)))


def presets() -> Mapping[str, Toy]:
    """Return the cases that a reader may choose, the start first.

    Rounded to three decimals their shares add up to 1, and what is brought to the output.
    """
    start = Toy(
        q=((1, 0.5), (0, 2), (2, -1), (1, 1)),
        k=((2, 1), (-2, -1.5), (-1.5, 2.5), (1, -2)),
        v=((3, 2), (-1, 2.5), (-2.5, 2), (0.5, -1)),
    )
    return {
        "start": start,
        "same": replace(start, k=_put(start.k, TOKENS.index("tired"), start.k[0])),
        "zero": start.with_query(0, 0),
        "long": start.with_query(4, 4),
        "value": replace(start, v=_put(start.v, 0, (-3, -2))),
    }


def _put(vectors: Vectors, index: int, vector: Sequence[float]) -> Vectors:
    x, y = vector
    return (*vectors[:index], (x, y), *vectors[index + 1 :])
