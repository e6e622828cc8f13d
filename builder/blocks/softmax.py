"""`::: softmax`: one row of scores made into shares, written out."""

from __future__ import annotations

from html import escape

import numpy as np

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
from builder.blocks.worked import (
    decimals_that_add_up,
    number,
    place,
    source_head,
    worked_figure,
)
from builder.numbers.display import token_label
from builder.numbers.matrix import Array

NAME = "softmax"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**NUMBERS, "scores": str, "result": str, "row": object}

_ROUNDING = 1e-6


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each source: score, power of e, share."""
    scores, result = (look_up(directive, context, option) for option in ("scores", "result"))
    if not _is_softmax(result.values, scores.values):
        message = f"`{result.address}` is not the softmax of `{scores.address}`"
        raise BlockError("false-figure", message, "", "result")

    row = place(directive, "row", scores.rows)
    given, shares = scores.values[row], result.values[row]
    seen = np.flatnonzero(~np.isnan(given)).tolist()
    powers = np.exp(given[seen] - given[seen].max())
    wanted = n_decimals(directive.options, 4)
    own = [
        decimals_that_add_up(column.tolist(), total, wanted)
        for column, total in ((powers, float(powers.sum())), (shares[seen], 1.0))
    ]
    lines = "".join(
        f'<tr><th scope="row">{escape(token_label(scores.columns.labels[source]))}</th>'
        f"{number(float(given[source]), wanted, 'scores')}"
        f"{number(float(power), own[0], 'result')}"
        f"{number(float(shares[source]), own[1], 'result')}</tr>"
        for source, power in zip(seen, powers, strict=True)
    )
    source, added = source_head(scores.columns, context), context.html("figure.dot_sum")
    score = letter(scores)
    table = (
        f"{head_row([source, score, f'e<sup>{score} − max</sup>', letter(result)])}"
        f'<tbody>{lines}</tbody><tfoot><tr><th scope="row">{added}</th><td></td>'
        f"{number(float(powers.sum()), own[0], 'result')}{number(1.0, own[1])}</tr></tfoot>"
    )
    matrices = {"scores": scores, "result": result}
    return worked_figure(NAME, directive, context, table, matrices, row=row, decimals=wanted)


def _is_softmax(shares: Array, scores: Array) -> bool:
    """Whether it is in every row, since the figure can follow to any; masked scores count as 0."""
    if shares.shape != scores.shape:
        return False
    powers = np.exp(scores - np.nanmax(scores, axis=1, keepdims=True))
    powers = np.nan_to_num(powers)
    computed = powers / powers.sum(axis=1, keepdims=True)
    return float(abs(computed - shares).max()) <= _ROUNDING
