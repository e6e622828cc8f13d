"""`::: softmax_gradient`: what a row of scores is told, from what its shares are told."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import (
    NUMBERS,
    Argument,
    BlockError,
    Body,
    Context,
    Directive,
    Options,
)
from builder.blocks.figure import letter, look_up
from builder.blocks.rows import head_row
from builder.blocks.table import n_decimals
from builder.blocks.worked import decimals_that_add_up, number, place, worked_figure
from builder.numbers.display import token_label
from builder.numbers.matrix import Array

NAME = "softmax_gradient"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**NUMBERS, "shares": str, "gradients": str, "result": str, "row": object}

_ROUNDING = 1e-6


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each source: A, u, A u, u less its mean, and the gradient."""
    gradients, result = (look_up(directive, context, option) for option in ("gradients", "result"))
    shares = look_up(directive, context, "shares")
    if not _is_gradient(result.values, shares.values, gradients.values):
        message = f"`{result.address}` is not what softmax makes of `{gradients.address}`"
        raise BlockError("false-figure", message, "", "result")

    row = place(directive, "row", result.rows)
    sources = range(row + 1)
    a, u = shares.values[row, sources], gradients.values[row, sources]
    mean, d_scores = float(a @ u), result.values[row, sources]
    wanted = n_decimals(directive.options, 4)
    differences = [((value - mean, mean), value) for value in u.tolist()]
    of_products = decimals_that_add_up((a * u).tolist(), mean, wanted, *differences)
    of_result = decimals_that_add_up(d_scores.tolist(), 0.0, wanted)
    lines = "".join(
        f'<tr><th scope="row">{escape(token_label(result.columns.labels[source]))}</th>'
        f"{number(float(a[source]), wanted, 'shares')}"
        f"{number(float(u[source]), of_products, 'gradients')}"
        f"{number(float(a[source] * u[source]), of_products, 'result')}"
        f"{number(float(u[source]) - mean, of_products, 'result')}"
        f"{number(float(d_scores[source]), of_result, 'result')}</tr>"
        for source in sources
    )
    source, added = (context.html(f"figure.dot_{name}") for name in ("source", "sum"))
    heads = [letter(shares), "<i>u</i>", f"{letter(shares)} × <i>u</i>", "<i>u</i> − Σ"]
    table = (
        f"{head_row([source, *heads, letter(result)])}"
        f'<tbody>{lines}</tbody><tfoot><tr><th scope="row" colspan="3">{added}</th>'
        f"{number(mean, of_products, 'result')}<td></td>{number(0.0, of_result)}</tr></tfoot>"
    )
    matrices = {"shares": shares, "gradients": gradients, "result": result}
    return worked_figure(NAME, directive, context, table, matrices, row=row, decimals=wanted)


def _is_gradient(d_scores: Array, shares: Array, u: Array) -> bool:
    """Whether it is in every row; shares may go on after the position that the loss asks for."""
    rows, columns = d_scores.shape
    a = shares[:rows, :columns]
    if not d_scores.shape == u.shape == a.shape or rows != columns:
        return False
    computed = a * (u - (a * u).sum(axis=1, keepdims=True))
    return float(abs(computed - d_scores).max()) <= _ROUNDING
