"""A table of one number of each of the hundred problems, a cell a problem."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from builder.blocks.directive import Context
from builder.blocks.figure import faces, named, note, spoken
from builder.blocks.legend import legend
from builder.blocks.table import DEFAULT_DECIMALS, Part, table
from builder.numbers.address import Axis
from builder.numbers.matrix import Array, Matrix
from model import task
from model.tensors import TensorSpec


def of_problems(values: Array, spec: TensorSpec, head: int | None, domain: float) -> Matrix:
    """Return numbers of the trained model, in the order of the problems, by their operands."""
    rows, columns = (Axis(name, task.DIGITS, has_tokens=False) for name in "ab")
    square = values.reshape(len(rows), len(columns))
    return Matrix(square, rows, columns, spec, head, "trained", "", domain)


def hundred_figure(
    matrix: Matrix,
    meaning: str,
    figure_id: str,
    data: Mapping[str, object],
    context: Context,
    *,
    decimals: int = DEFAULT_DECIMALS,
    controls: str = "",
    caption: str = "",
) -> str:
    """Return the `<figure>`.

    Parameters
    ----------
    matrix, meaning
        The numbers, from `of_problems`, and what they are.
    figure_id, data
        The element's id, and what scripts need to know besides.
    decimals
        Of every number.
    controls, caption
        What stands above the table, and the author's caption below it, as HTML.
    """
    name_id = context.ids.part(figure_id, "name")
    part = Part(range(len(matrix.rows)), range(len(matrix.columns)), decimals=decimals)
    cells = table(matrix, part, context, spoken(matrix, meaning, context))
    known = {**data, "range": matrix.range.value, "domain": f"{matrix.domain:g}"}
    attributes = "".join(f' data-{name}="{value}"' for name, value in known.items())
    return (
        f'<figure class="matrix atlas" id="{figure_id}"{attributes}>'
        f"<figcaption>{named(matrix, context, name_id)}"
        f'<span class="matrix-meaning">{escape(meaning)}</span></figcaption>'
        f"{controls}{faces(cells, name_id)}{legend(matrix)}{note(caption)}</figure>"
    )
