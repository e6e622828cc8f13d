"""`::: mixture`: one row that is read, source by source: share, content, and what it brings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import count, repeat

import numpy as np

from builder.blocks.directive import NUMBERS, Argument, Body, Context, Directive, Options
from builder.blocks.figure import letter, look_up
from builder.blocks.operation import Equation, verify_product
from builder.blocks.table import n_decimals
from builder.blocks.worked import decimals_that_add_up, number, place, worked_figure
from builder.numbers.display import token_label

NAME = "mixture"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**NUMBERS, "shares": str, "contents": str, "result": str, "row": object}


def render(directive: Directive, context: Context) -> str:
    """Return a table with a line for each source that is read, and their sum."""
    shares, contents, result = (
        look_up(directive, context, option) for option in ("shares", "contents", "result")
    )
    verify_product(Equation("product", shares, contents, result))
    row = place(directive, "row", result.rows)
    sources = np.flatnonzero(shares.values[row]).tolist()
    brought = shares.values[row][sources][:, None] * contents.values[sources]  # [source d_head]
    wanted = n_decimals(directive.options, 3)
    totals = result.values[row].tolist()
    own = [
        decimals_that_add_up(column.tolist(), total, wanted)
        for column, total in zip(brought.T, totals, strict=True)
    ]
    lines = "".join(
        f'<tr><th scope="row">{escape(token_label(contents.rows.labels[source]))}</th>'
        f"{number(float(shares.values[row, source]), wanted, 'shares')}<td>×</td>"
        f"{_numbers(contents.values[source].tolist(), repeat(wanted), 'contents')}<td>=</td>"
        f"{_numbers(part.tolist(), own, 'result')}</tr>"
        for source, part in zip(sources, brought, strict=True)
    )
    width = len(totals)
    source, added = (context.html(f"figure.dot_{name}") for name in ("source", "sum"))
    heads = (
        f'<thead><tr><th scope="col">{source}</th><th scope="col">{letter(shares)}</th><td></td>'
        f'<th scope="colgroup" colspan="{width}">{letter(contents)}</th><td></td>'
        f'<th scope="colgroup" colspan="{width}">{letter(shares)} × {letter(contents)}</th>'
        "</tr></thead>"
    )
    table = (
        f'{heads}<tbody>{lines}</tbody><tfoot><tr><th scope="row" colspan="{width + 4}">'
        f"{added} = {letter(result)}</th>{_numbers(totals, own, 'result')}</tr></tfoot>"
    )
    matrices = {"shares": shares, "contents": contents, "result": result}
    return worked_figure(NAME, directive, context, table, matrices, row=row, decimals=wanted)


def _numbers(values: Sequence[float], decimals: Iterable[int], of: str) -> str:
    return "".join(map(number, values, decimals, repeat(of), count()))
