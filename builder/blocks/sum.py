"""`::: sum`: matrix + matrix = matrix, checked."""

from __future__ import annotations

import numpy as np

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.operation import (
    MATRICES,
    Equation,
    equation_figure,
    look_up_matrices,
    shape_error,
    verify,
)

NAME = "sum"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**MATRICES, "rows": list}


def render(directive: Directive, context: Context) -> str:
    """Return the figure of left + right = result."""
    left, right, result = look_up_matrices(directive, context)
    equation = Equation("sum", left, right, result)
    if not left.values.shape == right.values.shape == result.values.shape:
        raise shape_error(equation)
    computed = left.values + right.values
    verify(equation, computed, np.abs(left.values) + np.abs(right.values))
    return equation_figure(equation, directive, context)
