"""Which part of a stored tensor a matrix is: its axes, its head, and where its cells are."""

from __future__ import annotations

from collections.abc import Sequence

from builder.numbers.address import Axis
from builder.numbers.matrix import TOKEN_AXES, Array, Matrix
from model.config import ModelConfig
from model.task import VOCAB
from model.tensors import TensorSpec


def place_of(matrix: Matrix, row: int, column: str, config: ModelConfig) -> str:
    """Return a cell by its indices in the whole tensor, heads of weights included."""
    spec, first = matrix.spec, 0 if matrix.head is None else matrix.head * config.d_head
    indices = [str(row), column]
    if spec.head_axis is not None and matrix.head is not None:
        at = indices[spec.head_axis]
        indices[spec.head_axis] = str(int(at) + first)
    head = [str(matrix.head)] if "head" in spec.axes else []
    return f"{spec.key}[{','.join([*head, *indices[-len(spec.axes) :]])}]"


def axis_of(name: str, tokens: Sequence[str], size: int) -> Axis:
    """Return an axis, labelled by tokens where it has them, else by indices."""
    if name in TOKEN_AXES and tokens:
        return Axis(name, tuple(tokens), has_tokens=True)
    if name == "d_vocab" and size == len(VOCAB):
        return Axis(name, VOCAB, has_tokens=True)
    return Axis(name, tuple(map(str, range(size))), has_tokens=False)


def of_head(
    values: Array, axes: list[Axis], spec: TensorSpec, head: int, d_head: int
) -> tuple[Array, list[Axis]]:
    """Return one head of a tensor that has heads, or the part of a weight that belongs to it."""
    if "head" in spec.axes:
        return values[head], axes[1:]
    part = slice(head * d_head, (head + 1) * d_head)
    own = axis_of("d_head", (), d_head)
    if spec.head_axis == 1:
        return values[:, part], [axes[0], own]
    return values[part], [own, axes[1]]
