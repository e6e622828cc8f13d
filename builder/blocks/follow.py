"""What a figure or a number follows: the problem, layer, head and position that a reader chooses.

Without an option `problem` it follows the page's problem. `follow` lists what else: `layer` and
`head`, where the tensor has them, and `position`, the one row that is shown. What the author wrote
is what is shown until the reader chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builder.blocks.directive import BlockError
from builder.errors import did_you_mean
from builder.numbers.matrix import TOKEN_AXES, Matrix

CHOICES = ("layer", "head", "position")


def following(
    options: Mapping[str, Any], wanted: Sequence[str], *matrices: Matrix, n_rows: int = 0
) -> tuple[str, ...]:
    """Return what some matrices follow.

    Parameters
    ----------
    options
        Those of the block or role; of them only `problem` is read.
    wanted
        What the option `follow` lists.
    matrices
        The matrices of the block; it is enough that one of them can follow.
    n_rows
        How many rows of the last are shown: 1 if it can follow a position.

    Raises
    ------
    BlockError
        If something else is listed, or something that none of the matrices has.
    """
    names = [str(name) for name in wanted]
    for name in names:
        if name not in CHOICES:
            message = f"`{name}` is nothing that can be followed"
            hint = did_you_mean(name, CHOICES)
            raise BlockError("unknown-follow", message, hint, "follow")
        if not any(_has(name, matrix, n_rows) for matrix in matrices):
            what = "single row of a token" if name == "position" else f"{name} to choose"
            message = f"`{matrices[-1].address}` shows no {what}"
            raise BlockError("cannot-follow", message, "", "follow")
        if names.count(name) > 1:
            message = f"`{name}` is listed twice"
            raise BlockError("cannot-follow", message, "once is enough", "follow")
        if len({_own(name, matrix) for matrix in matrices} - {None}) > 1:
            message = f"the matrices are of several {name}s, so that no one {name} can be followed"
            raise BlockError("cannot-follow", message, f"leave `{name}` out", "follow")
    problem = [] if options.get("problem") or not any(m.problem for m in matrices) else ["problem"]
    return (*problem, *names)


def of_matrix(follows: Sequence[str], matrix: Matrix) -> tuple[str, ...]:
    """Return what one matrix of a block follows of what the block does."""
    can = {
        "problem": bool(matrix.problem),
        "layer": matrix.spec.layer is not None,
        "head": matrix.head is not None,
        "position": bool(matrix.problem),
    }
    return tuple(name for name in follows if can[name])


def _has(name: str, matrix: Matrix, n_rows: int) -> bool:
    if name == "position":
        return n_rows == 1 and bool(matrix.problem) and matrix.rows.name in TOKEN_AXES
    return _own(name, matrix) is not None


def _own(name: str, matrix: Matrix) -> int | None:
    """The layer or head that a matrix is of."""
    return {"layer": matrix.spec.layer, "head": matrix.head}.get(name)
