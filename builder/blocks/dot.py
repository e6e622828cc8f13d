"""`::: dot`: one cell of a product, every term written out."""

from __future__ import annotations

from html import escape

import numpy as np

from builder.address import AddressError, Axis
from builder.blocks.directive import (
    FIGURE,
    WHERE,
    Argument,
    BlockError,
    Body,
    Context,
    Directive,
    Options,
)
from builder.blocks.figure import letter, look_up
from builder.blocks.operation import Equation, shape_error, verify
from builder.display import MAX_DECIMALS, display, token_label
from builder.matrix import Array

NAME = "dot"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {
    **WHERE,
    **FIGURE,
    "left": str,
    "right": str,
    "result": str,
    "row": object,
    "column": object,
}


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each term and the sum below; terms of 0 are left out."""
    left, right, result = (look_up(directive, context, o) for o in ("left", "right", "result"))
    equation = Equation("product", "×", left, right, result)
    if left.values.shape[1] != right.values.shape[0]:
        raise shape_error(equation)
    computed = left.values @ right.values
    verify(equation, computed, np.abs(left.values) @ np.abs(right.values))
    row = _index(directive, "row", left.rows)
    column = _index(directive, "column", right.columns)

    factors = np.stack([left.values[row], right.values[:, column]], axis=1)  # [term 2]
    terms = [index for index in range(len(factors)) if factors[index].all()]
    shown = directive.options["decimals"]
    decimals = _decimals_that_add_up(factors[terms].prod(1), 4 if shown is None else shown)
    lines = "".join(
        _line(token_label(left.columns.labels[term]), factors[term], decimals) for term in terms
    )
    place = f"[{token_label(result.rows.labels[row])}, {result.columns.labels[column]}]"
    total = display(float(result.values[row, column]), decimals)
    words = context.words
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    caption = f"<figcaption>{directive.caption}</figcaption>" if directive.caption else ""
    return (
        f'<figure class="dot" id="{figure_id}"><table class="dot-table"><thead><tr>'
        f'<th scope="col">{escape(words("figure.dot_source"))}</th>'
        f'<th scope="col">{letter(left)}</th><td></td><th scope="col">{letter(right)}</th>'
        f'<td></td><th scope="col">{escape(words("figure.dot_term"))}</th></tr></thead>'
        f'<tbody>{lines}</tbody><tfoot><tr><th scope="row" colspan="5">'
        f"{escape(words('figure.dot_sum'))} = {letter(result)}{escape(place)}</th>"
        f'<td data-value="{float(result.values[row, column])!r}">{total}</td></tr></tfoot></table>'
        f"{caption}</figure>\n"
    )


def _line(source: str, factors: Array, decimals: int) -> str:
    share, content = map(float, factors)
    term = display(share * content, decimals)
    return (
        f'<tr><th scope="row">{escape(source)}</th>'
        f'<td data-value="{share!r}">{display(share, decimals)}</td><td>×</td>'
        f'<td data-value="{content!r}">{display(content, decimals)}</td><td>=</td>'
        f'<td data-value="{share * content!r}">{term}</td></tr>'
    )


def _decimals_that_add_up(terms: Array, decimals: int) -> int:
    """Return the fewest decimals, from those asked for, with which the shown terms add up."""
    for enough in range(decimals, MAX_DECIMALS):
        shown = sum(round(float(term), enough) for term in terms)
        if abs(shown - round(float(terms.sum()), enough)) < 0.5 * 10.0**-enough:
            return enough
    return MAX_DECIMALS


def _index(directive: Directive, option: str, axis: Axis) -> int:
    selector = str(directive.required(option))
    try:
        return axis.index(selector)
    except AddressError as error:
        raise BlockError(error.rule, error.message, error.hint, option) from error
