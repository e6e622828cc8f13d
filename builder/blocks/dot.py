"""`::: dot`: one cell of a product, every term written out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain

import numpy as np

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.figure import letter
from builder.blocks.operation import MATRICES, Equation, look_up_matrices, verify_product
from builder.blocks.table import indices, n_decimals
from builder.numbers.address import Axis
from builder.numbers.display import MAX_DECIMALS, adds_up, display, token_label

NAME = "dot"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**MATRICES, "row": object, "column": object}

FEWEST_DECIMALS = 2
"""With fewer, nearly anything adds up."""


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each term and the sum below; terms of 0 are left out."""
    left, right, result = look_up_matrices(directive, context)
    equation = Equation("product", "×", left, right, result)
    verify_product(equation)
    row = _index(directive, "row", result.rows)
    column = _index(directive, "column", result.columns)

    factors = np.stack([left.values[row], right.values[:, column]], axis=1)  # [term 2]
    terms = np.flatnonzero(factors.all(axis=1)).tolist()
    total = float(result.values[row, column])
    wanted = n_decimals(directive.options, 4)
    decimals = _decimals_that_add_up(factors[terms].prod(axis=1).tolist(), total, wanted)

    sources = (token_label(left.columns.labels[term]) for term in terms)
    lines = map(_line, sources, factors[terms].tolist(), [decimals] * len(terms))
    labels = result.rows.labels[row], result.columns.labels[column]
    cell = f"{letter(result)}[{', '.join(escape(token_label(label)) for label in labels)}]"
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    caption = f"<figcaption>{directive.caption}</figcaption>" if directive.caption else ""
    return (
        f'<figure class="dot" id="{figure_id}"><table class="dot-table">'
        f'<caption class="visually-hidden">{cell}</caption>{_head(equation, context)}'
        f'<tbody>{"".join(lines)}</tbody><tfoot><tr><th scope="row" colspan="5">'
        f"{escape(context.words('figure.dot_sum'))} = {cell}</th>"
        f"{_number(total, decimals)}</tr></tfoot></table>{caption}</figure>\n"
    )


def _head(equation: Equation, context: Context) -> str:
    source, term = (escape(context.words(f"figure.dot_{name}")) for name in ("source", "term"))
    return (
        f'<thead><tr><th scope="col">{source}</th><th scope="col">{letter(equation.left)}</th>'
        f'<td></td><th scope="col">{letter(equation.right)}</th><td></td>'
        f'<th scope="col">{term}</th></tr></thead>'
    )


def _line(source: str, factors: Sequence[float], decimals: int) -> str:
    left, right = factors
    return (
        f'<tr><th scope="row">{escape(source)}</th>{_number(left, decimals)}<td>×</td>'
        f"{_number(right, decimals)}<td>=</td>{_number(left * right, decimals)}</tr>"
    )


def _number(value: float, decimals: int) -> str:
    return f'<td data-value="{value!r}">{display(value, decimals)}</td>'


def _decimals_that_add_up(terms: Sequence[float], total: float, wanted: int) -> int:
    """Return how many decimals make the shown terms add up to the shown total.

    They are as many as wanted, or else the fewest beyond, or else the most below.
    """
    more, fewer = range(wanted, MAX_DECIMALS + 1), range(wanted - 1, FEWEST_DECIMALS - 1, -1)
    for decimals in chain(more, fewer):
        if adds_up(terms, total, decimals):
            return decimals
    message = f"rounded to {FEWEST_DECIMALS} decimals or more, the terms never add up exactly"
    raise BlockError("does-not-add-up", message, "choose another cell", "decimals")


def _index(directive: Directive, option: str, axis: Axis) -> int:
    return indices(axis, {option: [directive.required(option)]}, option)[0]
