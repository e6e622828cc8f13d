"""`::: dot`: one cell of a product, every term written out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.figure import letter
from builder.blocks.multiplication import PRODUCT, look_up_product
from builder.blocks.operation import Equation
from builder.blocks.rows import head_row
from builder.blocks.table import n_decimals
from builder.blocks.worked import (
    decimals_that_add_up,
    number,
    place,
    source_head,
    worked_figure,
)
from builder.numbers.display import token_label

NAME = "dot"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**PRODUCT, "row": object, "column": object}


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each term and the sum below; terms of 0 are left out."""
    equation = look_up_product(directive, context)
    left, right, result = equation.left, equation.right, equation.result
    row, column = place(directive, "row", result.rows), place(directive, "column", result.columns)

    factors = np.stack([left.values[row], right.values[:, column]], axis=1)  # [term 2]
    terms = np.flatnonzero(factors.all(axis=1)).tolist()
    if not terms:
        message = "every term of the cell is 0: there is nothing to write out"
        raise BlockError("no-terms", message, "choose another cell", "row")
    total = float(result.values[row, column])
    wanted = n_decimals(directive.options, 4)
    total_of_terms = total / equation.factor
    products = factors[terms].prod(axis=1).tolist()
    decimals = decimals_that_add_up(products, total_of_terms, wanted)

    sources = (token_label(left.columns.labels[term]) for term in terms)
    lines = map(_line, sources, factors[terms].tolist(), [decimals] * len(terms))
    labels = result.rows.labels[row], result.columns.labels[column]
    cell = f"{letter(result)}[{', '.join(escape(token_label(label)) for label in labels)}]"
    table = (
        f'<caption class="visually-hidden">{cell}</caption>{_head(equation, context)}'
        f"<tbody>{''.join(lines)}</tbody>"
        f"<tfoot>{_foot(equation, cell, total, decimals, context)}</tfoot>"
    )
    matrices = {"left": left, "right": right, "result": result}
    data = {
        "row": row,
        "column": column,
        "factor": equation.factor if equation.scale else "",
        "turned": " ".join(name for name, m in matrices.items() if m.is_transposed),
        "decimals": wanted,
    }
    return worked_figure(NAME, directive, context, table, matrices, **data)


def _head(equation: Equation, context: Context) -> str:
    source, term = source_head(equation.left.columns, context), context.words("figure.dot_term")
    return head_row([source, letter(equation.left), "", letter(equation.right), "", escape(term)])


def _foot(equation: Equation, cell: str, total: float, decimals: int, context: Context) -> str:
    """The sum; and below it, where there is a factor, what it makes of the sum."""
    added = context.html("figure.dot_sum")
    if not equation.scale:
        return _total(f"{added} = {cell}", total, decimals)
    scaled = f"× {escape(equation.scale)} = {cell}"
    return _total(added, total / equation.factor, decimals) + _total(scaled, total, decimals)


def _total(name: str, total: float, decimals: int) -> str:
    return f'<tr><th scope="row" colspan="5">{name}</th>{number(total, decimals, "result")}</tr>'


def _line(source: str, factors: Sequence[float], decimals: int) -> str:
    left, right = factors
    return (
        f'<tr><th scope="row">{escape(source)}</th>{number(left, decimals, "left")}<td>×</td>'
        f"{number(right, decimals, 'right')}<td>=</td>"
        f"{number(left * right, decimals, 'result')}</tr>"
    )
