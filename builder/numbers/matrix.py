"""One matrix or one number of the snapshot, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.numbers.address import Axis
from model.tensors import Range, TensorSpec

TOKEN_AXES = ("pos", "query", "key")

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Target:
    """The one prediction whose loss is differentiated: after `position` should come `token`."""

    position: int
    token: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of the snapshot, head selected; a vector is a matrix of one row.

    Attributes
    ----------
    values
        The snapshot's own numbers [row column]; a masked cell is NaN.
    rows, columns
        The axes with their labels.
    spec
        The tensor's row of the vocabulary.
    head
        Index of the selected head, or None.
    stage, problem
        Where the numbers come from; `problem` is empty for weights.
    domain
        Magnitude that has the full colour.
    is_transposed
        Whether rows and columns were swapped.
    last
        Position up to which the matrix is cut, or None.
    target
        For a gradient: what the loss asks for. None for a value.
    found_by
        The claim that has found the head, if the address names it in place of the head.
    """

    values: Array
    rows: Axis
    columns: Axis
    spec: TensorSpec
    head: int | None
    stage: str
    problem: str
    domain: float
    is_transposed: bool = False
    last: int | None = None
    target: Target | None = None
    found_by: str = ""

    @property
    def is_gradient(self) -> bool:
        """Whether the numbers are derivatives of a loss."""
        return self.target is not None

    @property
    def range(self) -> Range:
        """What values it can have; gradients have either sign."""
        return Range.SIGNED if self.is_gradient else self.spec.range

    @property
    def address(self) -> str:
        """The address of the whole matrix."""
        key = "∂" * self.is_gradient + self.spec.key
        return key if self.head is None else f"{key}[{self.head}]"

    @property
    def transposed(self) -> Matrix:
        """The same numbers with rows and columns swapped."""
        return replace(
            self,
            values=self.values.T,
            rows=self.columns,
            columns=self.rows,
            is_transposed=not self.is_transposed,
        )

    def until(self, token: str) -> Matrix:
        """The part that the prefix ending with a token has: by causality, its own numbers.

        Raises
        ------
        AddressError
            If the sequence has no such token, or several.
        """
        rows, columns = (_up_to(axis, token) for axis in (self.rows, self.columns))
        values = self.values[: len(rows), : len(columns)]
        cut = min((len(a) for a in (rows, columns) if _is_positional(a)), default=None)
        last = None if cut is None else cut - 1
        return replace(self, values=values, rows=rows, columns=columns, last=last)


@dataclass(frozen=True, slots=True)
class Value:
    """One number and where it comes from; None where the cell is masked.

    `stage` and `problem` are empty where the number does not depend on them. `cell` is the place
    in its whole tensor by indices alone, such as `probs[3,5]`, and `matrix` the address of the
    matrix that has it; both are empty if there is none. `target` is a gradient's position to ask,
    and `found_by` the claim that has found the head, if the address names one.
    """

    number: float | None
    address: str
    stage: str = ""
    problem: str = ""
    cell: str = ""
    matrix: str = ""
    target: int | None = None
    found_by: str = ""

    @property
    def place(self) -> tuple[object, ...]:
        """What tells it from every other number, however it is addressed."""
        return self.cell or self.address, self.stage, self.problem, self.target


def _is_positional(axis: Axis) -> bool:
    return axis.name in TOKEN_AXES and axis.has_tokens


def _up_to(axis: Axis, token: str) -> Axis:
    if not _is_positional(axis):
        return axis
    return replace(axis, labels=axis.labels[: axis.index(token) + 1])
