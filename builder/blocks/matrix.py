"""`::: matrix ADDRESS`: one matrix of the snapshot."""

from __future__ import annotations

from builder.blocks.directive import NUMBERS, Argument, Body, Context, Directive, Options
from builder.blocks.figure import look_up, matrix_figure, require_gradient
from builder.blocks.follow import following
from builder.blocks.table import Part

NAME = "matrix"
ARGUMENT = Argument.REQUIRED
BODY = Body.OPTIONS
OPTIONS: Options = {
    **NUMBERS,
    "rows": list,
    "columns": list,
    "transpose": bool,
    "highlight_rows": list,
}


def render(directive: Directive, context: Context) -> str:
    """Return the figure; `rows` and `columns` are those of the matrix as shown."""
    matrix = look_up(directive, context)
    require_gradient(directive.options["target"], matrix)
    if directive.options["transpose"]:
        matrix = matrix.transposed
    part = Part.of(matrix, directive.options)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    wanted = directive.options["follow"] or ()
    follows = following(directive.options, wanted, matrix, n_rows=len(part.rows))
    return matrix_figure(
        matrix, part, context, figure_id, caption=directive.caption, follows=follows
    )
