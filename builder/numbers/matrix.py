"""One matrix or one number of the snapshot, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.numbers.address import Axis
from model.tensors import TensorSpec

TOKEN_AXES = ("pos", "query", "key")

Array = NDArray[np.float64]


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

    @property
    def address(self) -> str:
        """The address of the whole matrix."""
        return self.spec.key if self.head is None else f"{self.spec.key}[{self.head}]"

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
        return replace(self, values=values, rows=rows, columns=columns)


@dataclass(frozen=True, slots=True)
class Value:
    """One number and where it comes from; None where the cell is masked.

    `stage` and `problem` are empty where the number does not depend on them.
    """

    number: float | None
    address: str
    stage: str = ""
    problem: str = ""


def _up_to(axis: Axis, token: str) -> Axis:
    if axis.name not in TOKEN_AXES or not axis.has_tokens:
        return axis
    return replace(axis, labels=axis.labels[: axis.index(token) + 1])
