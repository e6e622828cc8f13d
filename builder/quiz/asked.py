"""The number that an item asks for, and the matrices around it, from which mistakes make theirs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from builder.numbers.lookup import Numbers
from builder.numbers.matrix import Array, Value

_CELL = re.compile(r"(?:blocks\.(\d+)\.)?(.+)\[([\d,]+)\]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A number and its place.

    Attributes
    ----------
    numbers
        Where it comes from.
    value
        The number itself.
    stage, problem, target
        What it was looked up with.
    name
        The tensor's key without its block, such as `attn.pattern`; with `∂` for a gradient. Of a
        number that is no tensor's, the address.
    layer, head
        Its block and head, or None.
    row, column
        Its place, in the whole tensor; a vector has row 0.
    n_positions
        How many positions of the problem the question is about. What follows is the answer's, and
        a reader who makes a mistake does not know it yet.
    """

    numbers: Numbers
    value: Value
    stage: str
    problem: str
    target: str
    name: str
    layer: int | None = None
    head: int | None = None
    row: int = 0
    column: int = 0
    n_positions: int = 0

    @classmethod
    def at(
        cls,
        address: str,
        numbers: Numbers,
        stage: str,
        problem: str,
        target: str,
        until: str = "",
    ) -> Asked:
        """Look up an address.

        What is asked is about the problem up to the token `until`, or to where its question ends.

        Raises
        ------
        AddressError
            If there is no such number.
        """
        value = numbers.value(address, stage, problem, target)
        match = _CELL.fullmatch(value.cell)
        if match is None:
            return cls(numbers, value, stage, problem, target, value.address)
        layer = None if match[1] is None else int(match[1])
        indices = [int(index) for index in match[3].split(",")]
        head = indices[0] if len(indices) == 3 else None
        row, column = [0, *indices][-2:]
        name = "∂" * (value.target is not None) + match[2]
        n_positions = 1 + max(row, numbers.position(until, problem))
        return cls(
            numbers, value, stage, problem, target, name, layer, head, row, column, n_positions
        )

    def of(self, name: str, head: int | None = None, layer: int | None = None) -> Array:
        """Return a matrix of the same block, of the same head if it is one of `attn.`."""
        is_block = self.layer is not None
        prefix = f"blocks.{self.layer if layer is None else layer}." if is_block else ""
        mark, plain = ("∂", name[1:]) if name.startswith("∂") else ("", name)
        own = self.head if head is None else head
        index = "" if own is None or not plain.startswith("attn.") else f"[{own}]"
        return self.whole(f"{mark}{prefix}{plain}{index}")

    def whole(self, address: str, stage: str = "") -> Array:
        """Return any matrix of the same problem."""
        wanted = stage or self.stage
        return self.numbers.matrix(address, wanted, self.problem, self.target).values

    @property
    def other_head(self) -> int:
        """Another head than its own, or than the first."""
        return ((self.head or 0) + 1) % self.numbers.config.n_heads

    @property
    def root(self) -> float:
        """What scores are divided by: √d_head."""
        return math.sqrt(self.numbers.config.d_head)

    def listed(self, address: str) -> float:
        """Return a number of the snapshot's documents."""
        found = self.numbers.value(address, self.stage, self.problem).number
        if found is None:
            raise ValueError(f"{address} is masked")
        return found


def softmax(scores: Array) -> Array:
    """Return the shares of a row of scores."""
    powers = np.exp(scores - scores.max())
    shares: Array = powers / powers.sum()
    return shares


Made = Callable[[Asked], float]
"""A mistake: from what is asked for, the number that it leads to; NaN where that is masked."""
