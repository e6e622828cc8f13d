"""The base face of a matrix figure: a table, one cell a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from builder.blocks.directive import BlockError, Context
from builder.numbers.address import AddressError, Axis
from builder.numbers.display import MAX_DECIMALS, display, token_label
from builder.numbers.matrix import Matrix

DEFAULT_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Part:
    """What of a matrix is shown: indices of rows and columns, and how many decimals."""

    rows: Sequence[int]
    columns: Sequence[int]
    highlighted: frozenset[int] = frozenset()
    decimals: int = DEFAULT_DECIMALS

    @classmethod
    def of(cls, matrix: Matrix, options: Mapping[str, Any]) -> Part:
        """Read `rows`, `columns`, `highlight_rows` and `decimals`."""
        decimals = n_decimals(options, DEFAULT_DECIMALS)
        rows = indices(matrix.rows, options, "rows")
        highlighted = options.get("highlight_rows") and indices(
            matrix.rows, options, "highlight_rows"
        )
        unseen = set(highlighted or ()) - set(rows)
        if unseen:
            label = matrix.rows.labels[min(unseen)]
            message = f"`{label}` is highlighted but not shown"
            raise BlockError("unknown-label", message, "", "highlight_rows")
        columns = indices(matrix.columns, options, "columns")
        return cls(rows, columns, frozenset(highlighted or ()), decimals)


def n_decimals(options: Mapping[str, Any], default: int) -> int:
    """Return how many decimals are asked for."""
    decimals = options.get("decimals")
    if decimals is None:
        return default
    if not 0 <= decimals <= MAX_DECIMALS:
        message = f"`decimals` = {decimals} must be 0 to {MAX_DECIMALS}"
        raise BlockError("bad-decimals", message, "", "decimals")
    return int(decimals)


def indices(axis: Axis, options: Mapping[str, Any], option: str) -> Sequence[int]:
    """Return the places on an axis that a list of labels and indices asks for; default all."""
    wanted = options.get(option)
    if wanted is None:
        return range(len(axis))
    if not wanted:
        raise BlockError("empty-part", f"`{option}` is empty", "leave it out to show all", option)
    try:
        return [axis.index(str(label)) for label in wanted]
    except AddressError as error:
        raise BlockError(error.rule, error.message, error.hint, option) from error


def table(matrix: Matrix, part: Part, context: Context, caption: str) -> str:
    """Return the `<table>`; `caption` is for those who cannot see it."""
    body = "".join(_row(matrix, part, row) for row in part.rows)
    return (
        f'<table class="matrix-table"><caption class="visually-hidden">{escape(caption)}</caption>'
        f"<thead><tr>{_corner(matrix, context)}{_heads(matrix, part)}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def axis_word(axis: Axis, context: Context) -> str:
    """Return what the places on an axis are, in the page's language."""
    return context.words(f"figure.axis_{axis.name}")


def number_cell(value: float, domain: float, decimals: int, more: str = "") -> str:
    """Return the cell of a number, coloured by its share of the domain, marked if beyond it.

    `more` are further attributes, each after a space.
    """
    sign = "positive" if value > 0 else "negative" if value < 0 else "zero"
    share = abs(value) / domain
    clipped = " clipped" if share > 1 else ""
    return (
        f'<td{more} data-value="{value!r}" style="--v:{display(min(share, 1))}"'
        f' class="{sign}{clipped}">{display(value, decimals)}</td>'
    )


def _corner(matrix: Matrix, context: Context) -> str:
    rows, columns = (escape(axis_word(axis, context)) for axis in (matrix.rows, matrix.columns))
    return f'<td class="matrix-corner"><span>{rows} ↓</span> <span>{columns} →</span></td>'


def _heads(matrix: Matrix, part: Part) -> str:
    labels = (escape(token_label(matrix.columns.labels[column])) for column in part.columns)
    return "".join(f'<th scope="col">{label}</th>' for label in labels)


def _row(matrix: Matrix, part: Part, row: int) -> str:
    label = escape(token_label(matrix.rows.labels[row]))
    mark = ' class="highlighted"' if row in part.highlighted else ""
    cells = "".join(_cell(matrix, part, row, column) for column in part.columns)
    return f'<tr data-row="{row}"{mark}><th scope="row">{label}</th>{cells}</tr>'


def _cell(matrix: Matrix, part: Part, row: int, column: int) -> str:
    value = float(matrix.values[row, column])
    if np.isnan(value):
        return f'<td class="masked">{display(None)}</td>'
    return number_cell(value, matrix.domain, part.decimals)
