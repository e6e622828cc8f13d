"""How receivers read sources, for many seeds at once and with the way back, by hand.

Axes are [seed head d_head pos ...]: what follows are problems, which share nothing. `d_x` is
∂loss/∂x and has the shape of x.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Reading(Protocol):
    """How shares come about; q and k are [seed head d_head pos ...]."""

    def shares(self, q: Tensor, k: Tensor) -> Tensor:
        """Return A [seed head query key ...]."""

    def slopes(self, d_a: Tensor, a: Tensor, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return d_q and d_k."""


class ByContent:
    """The real mechanism: A = softmax(S), S = Q Kᵀ / √d_head."""

    def shares(self, q: Tensor, k: Tensor) -> Tensor:
        """Return A, 0 where the source is later than the receiver."""
        scores = _dot(q[:, :, :, :, None], k[:, :, :, None]) / q.shape[2] ** 0.5
        scores = scores.masked_fill(~_visible(q, k), -torch.inf)  # [seed head query key ...]
        e = (scores - scores.amax(3, keepdim=True)).exp_()
        a: Tensor = e / e.sum(3, keepdim=True)  # [seed head query key ...]
        return a

    def slopes(self, d_a: Tensor, a: Tensor, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Go back through softmax, d_s = a (d_a - Σ a d_a), then through the product."""
        d_s = a * (d_a - (a * d_a).sum(3, keepdim=True)) / q.shape[2] ** 0.5
        d_q = (d_s[:, :, None] * k[:, :, :, None]).sum(4)  # [seed head d_head query ...]
        d_k = (d_s[:, :, None] * q[:, :, :, :, None]).sum(3)  # [seed head d_head key ...]
        return d_q, d_k


class PlainAverage:
    """A control: every visible source gets the same share, whatever Q and K are."""

    def shares(self, q: Tensor, k: Tensor) -> Tensor:
        """Return 1 / (number of visible sources)."""
        a = _visible(q, k).double()  # [query key ...]
        return (a / a.sum(1, keepdim=True)).expand(*q.shape[:2], *a.shape[:2], *q.shape[4:])

    def slopes(self, _d_a: Tensor, _a: Tensor, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return zeros: A does not depend on them."""
        return torch.zeros_like(q), torch.zeros_like(k)


class Reader:
    """Receivers q read sources k, v: z = A v. All are [seed head d_head pos ...]."""

    def __init__(self, reading: Reading, q: Tensor, k: Tensor, v: Tensor) -> None:
        self.reading, self.q, self.k, self.v = reading, q, k, v
        self.a = reading.shares(q, k)  # [seed head query key ...]
        self.z = (self.a[:, :, None] * v[:, :, :, None]).sum(4)  # [seed head d_head query ...]

    def backward(self, d_z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return d_q, d_k, d_v."""
        d_v = (self.a[:, :, None] * d_z[:, :, :, :, None]).sum(3)
        d_a = _dot(d_z[:, :, :, :, None], self.v[:, :, :, None])  # [seed head query key ...]
        return (*self.reading.slopes(d_a, self.a, self.q, self.k), d_v)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    """Sum of products over axis 2, d_head, without room for all the products at once."""
    total = x[:, :, 0] * y[:, :, 0]
    for i in range(1, x.shape[2]):
        total.addcmul_(x[:, :, i], y[:, :, i])
    return total


def _visible(q: Tensor, k: Tensor) -> Tensor:
    """Which sources a receiver may read [query key ...]: the last receiver is the last source."""
    n_query, n_key = q.shape[3], k.shape[3]
    visible = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    return visible.view(n_query, n_key, *(1 for _ in q.shape[4:]))
