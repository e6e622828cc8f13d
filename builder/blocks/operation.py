"""Matrix equations, read, verified and drawn: shared by `product`, `sum`, `dot` and `mixture`."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from builder.blocks.directive import NUMBERS, BlockError, Context, Directive, Options
from builder.blocks.figure import letter, look_up, matrix_figure, require_gradient
from builder.blocks.follow import following
from builder.blocks.table import Part
from builder.numbers.display import adds_up
from builder.numbers.matrix import Array, Matrix

MATRICES: Options = {**NUMBERS, "left": str, "right": str, "result": str}
"""Of a block about an equation of matrices."""

_RELATIVE_ROUNDING = 6e-7
"""A little over half a unit in the seventh digit, relative to a number that starts with 1."""

_ABSOLUTE_ROUNDING = 1e-11

_WIDE_SUM = 6
"""Columns from which on the three matrices of a sum do not stand side by side."""


@dataclass(frozen=True, slots=True)
class Equation:
    """left (operator) right = result, with a factor that is shown beside the right side.

    `scale` is the factor as the author wrote it; empty for 1.
    """

    operation: Literal["product", "sum"]
    left: Matrix
    right: Matrix
    result: Matrix
    scale: str = ""
    factor: float = 1.0

    @property
    def operator(self) -> str:
        """The sign between left and right."""
        return "×" if self.operation == "product" else "+"


def look_up_matrices(directive: Directive, context: Context) -> tuple[Matrix, Matrix, Matrix]:
    """Return the matrices that the options `left`, `right` and `result` name."""
    left, right, result = (look_up(directive, context, o) for o in ("left", "right", "result"))
    return left, right, result


def verify(equation: Equation, computed: Array, magnitude: Array) -> None:
    """Check that the result is what the operands give, within the rounding of stored numbers.

    Parameters
    ----------
    equation
        The operands and the result.
    computed
        What the operands give.
    magnitude
        The same with the absolute values of all terms: bounds what their rounding can change.

    Raises
    ------
    BlockError
        If the equation is false. Masked cells of the result are not compared.
    """
    result = equation.result.values
    bound = _RELATIVE_ROUNDING * (2 * magnitude + np.abs(result)) + _ABSOLUTE_ROUNDING
    wrong = ~np.isnan(result) & ~(np.abs(computed - result) <= bound)
    if not wrong.any():
        return
    row, column = map(int, np.argwhere(wrong)[0])
    labels = equation.result.rows.labels[row], equation.result.columns.labels[column]
    found = f"`{equation.result.address}` has {result[row, column]:.7g}"
    message = (
        f"this {equation.operation} is false: row `{labels[0]}`, column `{labels[1]}` is "
        f"{computed[row, column]:.7g}, but {found}"
    )
    raise BlockError("false-figure", message, f"{int(wrong.sum())} cells differ")


def sizes_fit(equation: Equation) -> bool:
    """Whether left × right has the shape of the result."""
    left, right, result = (matrix.values.shape for matrix in _matrices(equation))
    return left[1] == right[0] and result == (left[0], right[1])


def verify_product(equation: Equation) -> None:
    """Check that left × right × factor is the result."""
    if not sizes_fit(equation):
        raise shape_error(equation)
    left, right = equation.left.values, equation.right.values
    computed = left @ right * equation.factor
    verify(equation, computed, np.abs(left) @ np.abs(right) * abs(equation.factor))


def shape_error(equation: Equation) -> BlockError:
    """Return the error for operands whose sizes do not fit."""
    sizes = (f"{m.values.shape[0]} × {m.values.shape[1]}" for m in _matrices(equation))
    message = "the sizes do not fit: left is {}, right is {}, result is {}".format(*sizes)
    is_sum = equation.operation == "sum"
    return BlockError("shape", message, "a sum takes three equal sizes" if is_sum else "")


def equation_figure(equation: Equation, directive: Directive, context: Context) -> str:
    """Return the three matrices in a row; `rows` restricts those whose rows are the result's."""
    whole = Part.of(equation.result, {**directive.options, "columns": None})
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    roles = ("left", "right", "result")
    wanted = directive.options["follow"] or ()
    matrices = _matrices(equation)
    require_gradient(directive.options["target"], *matrices)
    follows = following(directive.options, wanted, *matrices, n_rows=len(whole.rows))
    shown = []
    for role, matrix in zip(roles, matrices, strict=True):
        columns = range(len(matrix.columns))
        is_whole = role == "right" and equation.operation == "product"
        rows = range(len(matrix.rows)) if is_whole else whole.rows
        part = Part(rows, columns, decimals=whole.decimals)
        inner_id = context.ids.part(figure_id, role)
        shown.append(matrix_figure(matrix, part, context, inner_id, role=role, follows=follows))
    data_scale = f' data-scale="{equation.factor!r}"' if equation.scale else ""
    is_stacked = equation.operation == "sum" and len(equation.result.columns) >= _WIDE_SUM
    stacked = " stacked" if is_stacked else ""
    return (
        f'<figure class="product{stacked}" id="{figure_id}"'
        f' data-operation="{equation.operation}"{data_scale}>'
        f'<div class="product-row">{shown[0]}{_operator(equation.operator)}{shown[1]}'
        f"{_scale(equation)}{_operator('=')}{shown[2]}</div>"
        f"<figcaption>{_formula(equation)}{_note(equation, whole, directive, context)}"
        "</figcaption></figure>\n"
    )


def _matrices(equation: Equation) -> tuple[Matrix, Matrix, Matrix]:
    return equation.left, equation.right, equation.result


def _operator(sign: str) -> str:
    return f'<span class="product-operator">{sign}</span>'


def _scale(equation: Equation) -> str:
    if not equation.scale:
        return ""
    return f'<span class="product-operator product-scale">× {escape(equation.scale)}</span>'


def _formula(equation: Equation) -> str:
    left, right, result = map(letter, _matrices(equation))
    if left == right and None not in (equation.left.head, equation.right.head):
        left, right = _of_head(equation.left), _of_head(equation.right)
    scale = f" × {escape(equation.scale)}" if equation.scale else ""
    return (
        f'<span class="product-formula">{result} = {left} {equation.operator} {right}{scale}</span>'
    )


def _of_head(matrix: Matrix) -> str:
    """Return the letter of one of several heads, counted from 1 as for readers."""
    return f"{letter(matrix)}<sup>({(matrix.head or 0) + 1})</sup>"


def _note(equation: Equation, part: Part, directive: Directive, context: Context) -> str:
    """Return the caption; readers who add up a sum are told where the last digits part."""
    notes = [directive.caption] if directive.caption else []
    if equation.operation == "sum" and not _adds_up(equation, part):
        notes.append(escape(context.words("figure.sum_rounded", decimals=str(part.decimals))))
    return f' <span class="product-caption">{" ".join(notes)}</span>' if notes else ""


def _adds_up(equation: Equation, part: Part) -> bool:
    """Whether left and right, as they are shown, add up to the result in every cell."""
    rows = part.rows
    left, right, result = (m.values[rows].ravel().tolist() for m in _matrices(equation))
    cells = zip(left, right, result, strict=True)
    return all(adds_up((one, other), total, part.decimals) for one, other, total in cells)
